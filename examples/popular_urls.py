"""Which pages are popular, although nobody listed them and nobody says which one they visit.

python examples/popular_urls.py [people] [picture.png]
"""

import sys
from collections import Counter

import sottovoce as sv
from sottovoce.lab.populations.discoveries import visits

people = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
picture = sys.argv[2] if len(sys.argv) > 2 else "popular-urls.png"

task = sv.Task("pages", sv.HeavyHitters(sv.Strings(20), top=10), epsilon=2.0)
visited = visits(people, seed=1)

answer = sv.simulate(task, visited, seed=1)
truth = Counter(visited)

print(answer)
print(
    f"\nBelow a share of about {100 * answer.details['sensitivity']:.1f} % a page can not be told "
    "from noise."
)
print("\nreally    estimated  page")
for row in answer.findings():  # without what noise alone could have raised
    print(f"{truth[row['value']]:>9,} {row['estimate']:>9,.0f}  {row['value']}")

answer.plot(picture, truth={label: truth[label] for label in answer.labels})
print(f"\nDrawn to {picture}")

"""Charts that somebody poisons: what the false reports do, and what the correction undoes.

python examples/poisoned_charts.py [people] [picture.png]
"""

import sys

import numpy as np

import sottovoce as sv
from sottovoce.lab.attacks.maximal_gain import MaximalGain
from sottovoce.lab.crowd import false_messages, messages
from sottovoce.lab.seeded import SeededRng

people = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
picture = sys.argv[2] if len(sys.argv) > 2 else "poisoned-charts.png"

songs = [f"song {number}" for number in range(1, 1017)]
promoted = [f"Zap! part {number}" for number in range(1, 9)]
task = sv.Task("charts", sv.Histogram([*songs, *promoted], "affine"), epsilon=2.0)

# Nobody listens to the promoted songs.  One report in twenty is false.
heard = np.minimum(np.random.default_rng(1).zipf(1.5, people) - 1, len(songs) - 1)
attack = MaximalGain(task.plan.domain, tuple(promoted), tries=1000)
sent = messages(task, [songs[index] for index in heard], rng=SeededRng(1))
sent += false_messages(task, attack.crafted, SeededRng(2), count=people // 19)

before = sv.answer(task, sent)
after = sv.answer(task, sent, defence="auto")

print("What was done:")
for step in after.estimate.steps:
    print(f"  {step}")
print("\nreally     before      after  song")
truth = dict(zip(songs, np.bincount(heard, minlength=len(songs)).tolist(), strict=True))
rows = list(zip(before.rows(), after.rows(), strict=True))
for raw, corrected in sorted(rows, key=lambda pair: -pair[0]["estimate"])[:12]:
    name = raw["value"]
    numbers = f"{raw['estimate']:>10,.0f} {corrected['estimate']:>10,.0f}"
    print(f"{truth.get(name, 0):>6,} {numbers}  {name}")

after.plot(picture, truth={label: truth.get(label, 0) for label in after.labels})
print(f"\nDrawn to {picture}")

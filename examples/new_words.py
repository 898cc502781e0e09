"""Which new words people type, found letter by letter; typing slips, each its own word, stay
private and unseen.

python examples/new_words.py [people] [picture.png]
"""

import sys
from collections import Counter

import sottovoce as sv
from sottovoce.lab.populations.discoveries import NEW_WORDS, typed_words

people = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
picture = sys.argv[2] if len(sys.argv) > 2 else "new-words.png"

# Everything that more than three people in a hundred type.
task = sv.Task("new words", sv.HeavyHitters(sv.Strings(12), threshold=0.03), epsilon=2.0)
typed = typed_words(people, seed=2)

answer = sv.simulate(task, typed, seed=2)
truth = Counter(word[:12] for word in typed)

print(answer)
known = {word[:12] for word in NEW_WORDS}
wanted = {word for word, count in truth.items() if count > 0.03 * people}
print(f"\n{len(wanted & set(answer.labels))} of the {len(wanted)} words above 3 % were found,")
print(f"{len(set(answer.labels) - known)} of {len(answer.labels)} found words are no new words.")

answer.plot(picture, truth={label: truth[label] for label in answer.labels})
print(f"\nDrawn to {picture}")

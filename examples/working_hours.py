"""How long people work, although a quarter of the reports is false.

python examples/working_hours.py [people] [picture.png]
"""

import sys

import numpy as np

import sottovoce as sv
from sottovoce.lab.attacks.biased_numbers import BiasedNumbers

people = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
picture = sys.argv[2] if len(sys.argv) > 2 else "working_hours.png"

hours = np.random.default_rng(7).beta(2, 5, people) * 24
plan = sv.Distribution(0, 24, 48, defence="graded")
task = sv.Task("working hours", plan, epsilon=2.0, collection=sv.Collection(enrolment=True))
liars = BiasedNumbers(segments=8, poisoned=2, chosen=(1, 6))

answer = sv.simulate(task, hours, seed=7, attack=liars, share=0.25)
print(answer)
print(f"\nHonest people: {hours.mean():.2f} hours on the average")
print(f"Undefended:    {answer.raw.mean().total:.2f} hours")
print(f"Defended:      {answer.mean().total:.2f} hours\n")
for group in answer.details["graded_groups"]:
    parts = ", ".join(f"{low:.0%} to {high:.0%}" for low, high in group["poisoned"]) or "none"
    weight = f"epsilon {group['epsilon']:<7g} weight {group['weight']:.2f}"
    print(f"{weight}  suspected outputs: {parts}")

answer.plot(picture, truth=plan.truth(hours, answer)[answer.name])
print(f"\nDrawn to {picture}")

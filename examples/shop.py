"""Ordinary SQL over two services of a shop, none of which has ever seen a true value.

python examples/shop.py [people] [picture.png]
"""

import sys

import numpy as np

import sottovoce as sv
from sottovoce.lab.populations.shop import CATEGORIES, schema, shop

people = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
picture = sys.argv[2] if len(sys.argv) > 2 else "shop.png"

tables = shop(people, seed=3)
customers, purchases = tables["customers"], tables["purchases"]
task = sv.Task("shop", schema(), epsilon=6.0)
db = sv.simulate(task, tables, seed=3)

print(db.sql("SELECT AVG(income), STDDEV(income) FROM customers WHERE age >= 40"))
old = customers["income"][customers["age"] >= 40]
print(f"really {old.mean():,.0f} and {old.std():,.0f}\n")

age = customers["age"][purchases["uid"]]
sporty = (purchases["category"] == "sports") & (age >= 20) & (age <= 40)
question = """
    SELECT AVG(amount) FROM purchases JOIN customers USING (uid)
    WHERE category = 'sports' AND age BETWEEN 20 AND 40
"""
print(db.sql(f"EXPLAIN {question}"), "\n")
print(db.sql(question))
print(f"really {purchases['amount'][sporty].mean():.2f}\n")

young = """
    SELECT category, COUNT(*) AS sold
    FROM purchases JOIN customers USING (uid)
    WHERE age < 35
    GROUP BY category
"""
answer = db.sql(young)
print(answer)
truth = {one: float(np.sum((purchases["category"] == one) & (age < 35))) for one in CATEGORIES}
print("really ", ", ".join(f"{one} {count:,.0f}" for one, count in truth.items()))
answer.plot(picture, truth=truth)
print(f"\nDrawn to {picture}")

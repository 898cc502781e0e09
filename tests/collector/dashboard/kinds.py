"""A task of every kind, and what people say to it."""

import sottovoce as sv
from sottovoce.plans.frequencies.tracking import Tracking
from sottovoce.tasks.collection import Collection

FEW = Collection(minimum=10, grace=0)

EMPTY = sv.Task(
    "empty",
    sv.Histogram(["a", "b"]),
    epsilon=1.0,
    collection=Collection(quota=100, seconds=7200, enrolment=True),
)
PETS = sv.Task(
    "pets",
    sv.Histogram(["cat", "dog", "newt", "eel"]),
    epsilon=10.0,
    description="Which animal lives with you?",
    collection=Collection(minimum=10, grace=0, crowd=8),
)
LONG = sv.Task(
    "long list", sv.Histogram([f"item {n:02}" for n in range(40)]), epsilon=10.0, collection=FEW
)
HOSTILE = sv.Task(
    "<script>alert(1)<script>\"'&?#%",
    sv.Histogram(["<script>alert(2)</script>", "<img src=x onerror=alert(3)>", "\"quoted' & co"]),
    epsilon=10.0,
    description="<script>alert(4)</script>",
    collection=Collection(minimum=10, grace=0, quota=30),
)
SURVEY = sv.Task(
    "survey",
    sv.Survey({"place": ["home", "office"], "days": range(1, 8)}),
    epsilon=9.0,
    collection=FEW,
)
MEAN = sv.Task("mean", sv.Mean(0, 100), epsilon=8.0, collection=FEW)
BELOW = sv.Task("below zero", sv.Mean(-100, 0), epsilon=8.0, collection=FEW)
SHAPE = sv.Task("shape", sv.Distribution(0, 60, 30), epsilon=6.0, collection=FEW)
AGES = sv.Task("ages", sv.Histogram(range(18, 100)), epsilon=10.0, collection=FEW)
SMALL = sv.Task("small", sv.Histogram(["a", "b"]), epsilon=1.0, collection=FEW)
EPOCHS = sv.Task(
    "epochs", Tracking(["well", "ill"], epochs=3), epsilon=8.0, distinct=2, collection=FEW
)
REHEARSAL = sv.Task(
    "rehearsal",
    sv.Histogram(["a", "b"]),
    epsilon=1.0,
    collection=Collection(minimum=10, grace=0, sandbox=True),
)
BROKEN = sv.Task("broken", sv.Survey({"x": ["a", "b"], "y": ["c", "d"]}), 9.0, collection=FEW)

VALUES = {
    PETS: ["cat"] * 24 + ["dog"] * 13 + ["newt"] * 3,
    LONG: [f"item {n:02}" for n in range(40) for _ in range(1 + n // 10)],
    HOSTILE: ["<script>alert(2)</script>"] * 14
    + ["<img src=x onerror=alert(3)>"] * 9
    + ["\"quoted' & co"] * 7,
    MEAN: [20.0, 30.0, 40.0] * 7,
    BELOW: [-50.0] * 12,
    SHAPE: [float(n) for n in range(10, 50)] * 3,
    AGES: list(range(20, 80)),
    SMALL: ["a"] * 4,
    EPOCHS: ["well"] * 12,
    REHEARSAL: ["a"] * 12,
    SURVEY: [{"place": "home", "days": 5}] * 25,
    BROKEN: [{"x": "a", "y": "c"}] * 12,
}
MEMBERS = {
    SURVEY: [0] * 20 + [1] * 5,
    BROKEN: [1] * 12,
}  # too few are asked one question, nobody is asked the other

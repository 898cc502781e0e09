"""The vectors of joint statistics: cells of records, and whole families of them."""

from itertools import combinations
from math import prod

from golden import reference as ref
from golden.rows import (
    BOTH,
    changed,
    message_row,
    named,
    number,
    task,
    without,
)

SIZES = [3, 2, 4, 2]


def marginals():
    about = (
        "encodings, misfits, malformed, picks, tasks, refused, messages: as in discovery.json; "
        "malformed also of "
        "families."
    )
    return "marginals.json", {
        "about": about,
        "version": 1,
        "encodings": list(encoding_rows()),
        "misfits": list(misfits()),
        "malformed": list(malformed()),
        "picks": list(pick_rows()),
        "tasks": [named(content, comment) for content, comment in tasks()],
        "refused": list(refused_rows()),
        "messages": list(message_rows()),
    }


def labels(*names, declinable=False):
    return {"kind": "categories", "labels": list(names), "declinable": declinable}


def integers(low, high):
    return {"kind": "integers", "low": ref.whole(low), "high": ref.whole(high)}


def records(**attributes):
    return {"kind": "records", "names": list(attributes), "attributes": list(attributes.values())}


def numbered(*sizes):
    return records(**{f"a{place}": integers(0, size - 1) for place, size in enumerate(sizes)})


HOMES = records(
    home=labels("flat", "house", "other"),
    car=labels("no", "yes"),
    rooms=integers(1, 4),
    pet=integers(0, 1),
)
SHY = records(
    a=labels("no", "yes", "prefer not to say", declinable=True),
    b=integers(-2, 2),
    c=labels("é", "東京"),
)
RECORDS = [
    {"home": "flat", "car": "no", "rooms": 1, "pet": 0},
    {"home": "other", "car": "yes", "rooms": 4, "pet": 1},
    {"home": "house", "car": "no", "rooms": 3, "pet": 1},
]


def view(columns, sizes):
    return {"kind": "view", "columns": columns, "sizes": [ref.whole(size) for size in sizes]}


def encoding_rows():
    for encoding in (
        *(
            view(list(columns), [SIZES[one] for one in columns])
            for columns in ((0,), (3,), (0, 2), (1, 2, 3))
        ),
        view([0, 1, 2, 3], SIZES),
    ):
        for value in RECORDS:
            yield encoding_row(encoding, HOMES, value)
    for value in (
        {"a": None, "b": -2, "c": "東京"},
        {"a": "yes", "b": 2, "c": "é"},
        {"a": "no", "b": 1, "c": "é"},
    ):
        yield encoding_row(view([0, 1, 2], [3, 5, 2]), SHY, value)
    wide = 1 << 40, 3, 1 << 20
    for cells in (
        (0, 0, 0),
        (wide[0] - 1, 2, wide[2] - 1),
        [number(f"wide {size}", size) for size in wide],
    ):
        value = {f"a{place}": cell for place, cell in enumerate(cells)}
        for encoding in (view([0, 1, 2], wide), view([0, 2], [wide[0], wide[2]])):
            yield encoding_row(encoding, numbered(*wide), value)


def encoding_row(encoding, domain, value):
    index, outputs = (
        ref.encoded(encoding, ref.record_index(domain, value), None),
        ref.outputs(encoding),
    )
    assert 0 <= index < outputs
    found = {"random": "", "consumed": 0, "outputs": ref.whole(outputs), "index": ref.whole(index)}
    return {"encoding": encoding, "domain": domain, "value": value} | found


def misfits():
    for encoding, domain, comment in (
        (view([0, 4], [3, 2]), HOMES, "an attribute that is not there"),
        (view([0, 1], [3, 3]), HOMES, "another size"),
        (view([0], [48]), integers(0, 47), "a number has no attributes"),
        (view([0], [2]), {"kind": "sets", "items": integers(0, 1)}, "a set has no attributes"),
        (view([str(1 << 53)], [2]), HOMES, "an attribute that is not there"),
    ):
        yield {"encoding": encoding, "domain": domain, "comment": comment}


NO_COLUMNS = [
    [],
    [0],
    [2, 0],
    [0, 0],
    [-1, 2],
    ["0", 2],
    [0, True],
    [0, None],
    [0, 2, 3],
    [[0], [2]],
    None,
    2,
    "02",
]
NO_SIZES = [[], [2], [1, 3], [2, 0], [2, -3], [2, "3"], [2, True], [2, 3, 2], None, 6]


def malformed():
    for family, good, changes in (
        (
            "encoding",
            view([0, 2], [2, 3]),
            [("columns", value) for value in NO_COLUMNS]
            + [
                ("sizes", value)
                for value in (*NO_SIZES, [2, str(1 << 62)], [4, str((1 << 60) + 1)])
            ],
        ),
        (
            "family",
            views([2, 3, 2], [[0, 1], [0, 2]], "1.0"),
            [("columns", value) for value in no_views()]
            + [
                ("sizes", value)
                for value in ([], [2, 3], [2, 3, 3], [2, 1, 2], [2, "3", 2], [True, 3, 2], None)
            ]
            + [("mechanisms", value) for value in no_servants()],
        ),
    ):
        yield {"family": family, "document": good, "accepted": True}
        for name, value in (*changes, ("extra", 1), ("kind", "grr"), ("kind", "nothing")):
            yield {"family": family, "document": good | {name: value}, "accepted": False}
        for name in good:
            yield {"family": family, "document": without(good, name), "accepted": False}
    yield {"family": "encoding", "document": view([0, 2], [2, 1 << 61]), "accepted": True}


def views(sizes, columns, epsilon, kind=""):
    """Return the questions about views: one mechanism for every number of cells, two of which are
    answered directly.
    """
    cells = sorted({prod(sizes[one] for one in view) for view in columns})
    return {
        "kind": "views",
        "sizes": sizes,
        "columns": [list(view) for view in columns],
        "mechanisms": [served(epsilon, size, kind) for size in cells],
    }


def served(epsilon, cells, kind):
    if cells == 2:
        return ref.mechanism("grr", epsilon, 2)
    return ref.mechanism(kind, epsilon, cells) if kind else ref.best_mechanism(epsilon, cells)


def no_views():
    several = (
        [[0, 1], [0, 1]],
        [[0, 3]],
        [[1, 0], [0, 2]],
        [[-1, 1], [0, 2]],
        [[0, 1], [0, 2], [0, 1, 2]],
        [[0, 1], []],
    )
    return [
        [],
        *several,
        [[0, 1]],
        [[0, 0], [0, 1]],
        [["0", 1], [0, 2]],
        [[0, True], [0, 2]],
        [0, 1],
        [[0, 1], None],
        None,
    ]


def no_servants():
    four, six, nine = (ref.mechanism("grr", "1.0", size) for size in (4, 6, 9))
    twice = [four, six, ref.mechanism("oue", "1.0", 6)]
    return [
        [],
        [four],
        [six],
        twice,
        [four, six, nine],
        [four, nine],
        [four, overspent(six)],
        [four, None],
        four,
        None,
    ]


def overspent(mechanism):
    return mechanism | {"keep": str((1 << 64) - 1)}


def chosen(family, weights=()):
    return {"kind": "choice", "members": family, "weights": list(weights)}


def pairs(count):
    return list(combinations(range(count), 2))


def pick_rows():
    mixed = [[0], [1], [0, 2], [1, 3], [0, 1, 2, 3]]
    for ask in (
        chosen(views(SIZES, pairs(4), "1.0")),
        chosen(views(SIZES, mixed, "0.5", "oue"), [1, 2, 3, 4, 1000]),
        chosen(views(SIZES, [[2, 3]], "4.0", "olh")),
    ):
        weights = ref.weights_of(ask)
        edge = -(-(weights[0] << 64) // sum(weights))
        coins = {0, (1 << 64) - 1, edge - 1, min(edge, (1 << 64) - 1)}
        coins |= {number(f"pick {ref.canonical(ask)} {place}", 1 << 64) for place in range(2)}
        for coin in sorted(coins):
            member = ref.pick(weights, coin)
            yield {
                "ask": ask,
                "coin": str(coin),
                "member": member,
                "question": ref.member_of(ask["members"], member),
            }


def joint(ask, epsilon, *, users=10_000, order=2, domain=HOMES, **more):
    plan = {
        "kind": "marginals",
        "users": users,
        "order": order,
        "method": "calm",
        "threshold": "0.001",
    }
    return task("homes", plan, domain, ask, epsilon, **more)


# The fourteen blocks of four that hold every three of eight, as the method finds them.
BLOCKS = "0123 0145 0167 0246 0257 0347 0356 1247 1256 1346 1357 2345 2367 4567"


def openings():
    """Yield tasks about homes with the views that the method finds, what they ask about, and the
    first of ``RECORDS`` that answers them.
    """
    triples = list(combinations(range(4), 3))
    for epsilon, order, columns, comment, first in (
        ("1.0", 2, pairs(4), "all pairs", 0),
        ("1.0", 1, [[0], [1], [2], [3]], "single attributes", 2),
        ("0.5", 2, pairs(4), "all pairs, hashed", 1),
        ("4.0", 2, triples[:3], "three triples that contain all pairs", 2),
        ("4.0", 3, triples, "all triples", 0),
        ("4.0", 1, [[0, 1, 2, 3]], "whole records", 1),
    ):
        ask = chosen(views(SIZES, columns, epsilon))
        yield joint(ask, epsilon, order=order), comment, first


def tasks():
    for content, comment, _ in openings():
        yield content, comment
    eight = [2] * 8
    answers = records(**{f"q{place}": labels("no", "yes") for place in range(8)})
    blocks = [[int(digit) for digit in block] for block in BLOCKS.split()]
    several = {"users": 1 << 16, "order": 3, "domain": answers}
    yield (
        joint(chosen(views(eight, blocks, "2.0")), "2.0", **several),
        "a covering of all triples",
    )
    shy = {"domain": SHY, "order": 1, "declares": ["subject"]}
    yield (
        joint(chosen(views([3, 5, 2], [[0], [1], [2]], "1.0")), "1.0", **shy),
        "single attributes, two values among them",
    )


def refused_rows():
    for content, comment in broken():
        for reader in BOTH:
            yield {"reader": reader, "text": ref.canonical(content), "comment": comment}
    # A device leaves the plan unread, so the collector alone refuses it.
    content = changed(joint(chosen(views(SIZES, pairs(4), "1.0")), "1.0"), "plan", "method", "am")
    comment = "a method of the laboratory"
    yield {"reader": "task", "text": ref.canonical(content), "comment": comment}


def broken():
    small = chosen(views(SIZES, pairs(4), "1.0"))
    content = joint(small, "1.0")
    dear = chosen(views(SIZES, pairs(4), "1.5"))
    yield changed(content, "opening", "ask", dear), "views dearer than their task"
    mixed = dear["members"] | {
        "mechanisms": [
            *views(SIZES, pairs(4), "1.0")["mechanisms"][:-1],
            dear["members"]["mechanisms"][-1],
        ]
    }
    yield changed(content, "opening", "ask", chosen(mixed)), "one view dearer than its task"
    yield (
        changed(content, "opening", "ask", chosen(small["members"], [1, 2])),
        "a weight for every view",
    )


def message_rows():
    for content, _, first in openings():
        for turn in range(2):
            yield row(content, None, turn, RECORDS[(first + turn) % 3])
    for content, comment in tasks():
        if content["domain"] == SHY:
            yield row(content, None, 0, {"a": None, "b": 2, "c": "東京"}) | {"comment": comment}


def row(content, asked, place, value):
    return message_row(content, asked, place, value, ref.record_index(content["domain"], value))

"""The vectors of tables: records and lists of several services, their cells in layers of intervals,
what is public.
"""

from struct import pack

from golden import reference as ref
from golden.marginals import chosen, integers, labels, overspent, records
from golden.rows import edge_words, number, task, without, word_for


def tables():
    about = (
        "indices: domain of services -> [value, index] of some, with the text of what is public; "
        "values to refuse. "
        "cells: domain, a person, trips -> encoding, how many of the trips are held, recorded "
        "bytes -> cell, bytes "
        "consumed, number of cells. misfits: domain, an encoding that fits, changes after which it "
        "does not. "
        "malformed: a document, and changes of it that are accepted or refused; left out may be "
        "nothing but what is "
        "public. layers: family -> how many members; [number, those settings of its cell that are "
        "not empty, which "
        "mechanism]. "
        "messages: task and digest -> as in envelope.json, what leaves devices with some values. "
        "undeclared: tasks that declare a public part without public columns, or the other way "
        "round -> value to "
        "refuse before anything is charged."
    )
    return "tables.json", {
        "about": about,
        "version": 1,
        "indices": list(index_rows()),
        "cells": list(cell_rows()),
        "misfits": list(misfits()),
        "malformed": list(malformed()),
        "layers": list(layer_rows()),
        "messages": list(message_rows()),
        "undeclared": list(undeclared()),
    }


def lists(most, **columns):
    return {"kind": "lists", "most": most, "records": records(**columns)}


def services(public=None, **tables_):
    made = {"kind": "services", "names": list(tables_), "tables": list(tables_.values())}
    if public:
        made["public"] = {
            "kind": "records",
            "names": list(public),
            "attributes": list(public.values()),
        }
    return made


def numbers(low, high, points, *, clamped=False):
    return {"kind": "numbers", "low": low, "high": high, "points": points, "clamped": clamped}


def buckets(low, high, count):
    return {"kind": "buckets", "low": low, "high": high, "count": count, "clamped": False}


def dates(first, last):
    return {"kind": "dates", "first": first, "last": last}


DIARY = services(
    {"t.seen": dates("2024-02-01T00", "2024-03-01T23")},
    t=records(
        day=dates("1999-12-31", "2024-02-29"),
        month=dates("2023-11", "2024-02"),
        year=dates("1000", "9999"),
        minute=dates("2024-02-28T23:58", "2024-03-01T00:00"),
    ),
)
HOMES = labels("flat", "house", "é")
SHOP = services(
    {
        "people.weight": numbers("-1e+16", "1e+16", 5, clamped=True),
        "people.area": labels('"north"', "東京\n"),
    },
    people=records(age=integers(-2, 9), home=HOMES),
    orders=lists(3, price=integers(0, 24)),
)
CLINIC = services(
    {"t.born": integers(1 - (1 << 53), (1 << 53) - 1), "t.x": buckets("0.0", "1.0", 4)},
    t=records(
        score=numbers("0.0", "1.0", 11),
        seen=labels("no", "yes", "prefer not to say", declinable=True),
        room=integers(0, 1),
    ),
)


def bought(*prices):
    return [{"price": price} for price in prices]


def customer(age=0, home="flat", weight=0.0, area="東京\n", orders=()):
    return {
        "people": {"age": age, "home": home, "weight": weight, "area": area},
        "orders": bought(*orders),
    }


def patient(score=0.5, seen="no", room=1, born=0, x=0.25):
    return {"score": score, "seen": seen, "room": room, "born": born, "x": x}


def entry(**changes):
    entered = {
        "day": "2000-02-29",
        "month": "2023-12-31 09:00",
        "year": "1970",
        "minute": "2024-02-29T00:00:59.999",
        "seen": "2024-02-29 23:59",
    }
    return entered | changes


def diary_rows():
    """Dates of every unit: leap days, texts that say more than the unit, and other texts."""
    accepted = [
        entry(),
        entry(day="1999-12-31", month="2023-11", year="1000-01-01", minute="2024-02-28T23:58"),
        entry(day="2024-02-29T23:59:59", month="2024-02-29", year="9999", seen="2024-03-01T23"),
        entry(minute="2024-03-01 00:00", seen="2024-02-01 00"),
    ]
    texts = (None, 5, "", "soon", "2000", "2000-02", "2000-02-30", "2001-02-29", "2000-13-01")
    texts += ("2000-00-10", "2000-1-01", "2000-01-01Z", "2000-01-01T24:00", "2000-01-01T10:60")
    texts += ("2000-01-01T10:00:60", "2000-01-01t10", "2000-01-01T10:00+01:00", " 2000-01-01")
    texts += ("2000-01-01T", "2000-01-01T9", "0999-01-01", "1999-12-30", "2024-03-01")
    refused = [entry(day=text) for text in texts]
    refused += [entry(month="2023-10"), entry(year="999"), entry(minute="2024-02-29T00")]
    refused += [entry(seen="2024-01-31T23"), entry(seen="2024-02-05")]
    yield judged(DIARY, accepted, refused)


def index_rows():
    weights = (
        0.1,
        -0.0,
        7,
        1e-07,
        1.5e-05,
        0.0001,
        123456789012345.6,
        1e16,
        -9999999999999998.0,
        2e30,
        5e-324,
        1e15,
    )
    customers = [
        customer(age, "e\u0301", weight, '"north"') for age, weight in enumerate(weights, -2)
    ]
    customers += [customer(orders=(24,)), customer(orders=(0, 5, 24, 5))]
    good = customers[-1]
    people = [{"age": age} for age in (-3, 10, "1", None, True, [])] + [
        {"home": home} for home in ("É", None, 1)
    ]
    people += (
        [{"weight": weight} for weight in ("1.0", None)]
        + [{"area": area} for area in ("north", None)]
        + [{"uid": 1}]
    )
    refused = [good | {"people": good["people"] | change} for change in people]
    refused += [good | {"people": without(good["people"], name)} for name in good["people"]]
    refused += [good | {"people": [good["people"]]}, good | {"people": None}]
    for orders in (
        None,
        {"price": 1},
        "1",
        [1],
        [[{"price": 1}]],
        [None],
        bought(25),
        bought(3, 1.5),
        [{"price": 1, "uid": 0}],
    ):
        refused.append(good | {"orders": orders})
    refused += [without(good, "orders"), good | {"more": []}, good["people"], [good], None]
    yield judged(SHOP, customers, refused)
    patients = [
        patient(),
        patient(1.0, None, 0, -(1 << 52), 1.0),
        patient(0.05, "yes", 0, (1 << 53) - 1, 0.0),
    ]
    wrong = [
        patient(x=1.25),
        patient(x="0.5"),
        patient(born=0.5),
        patient(score=2),
        patient(seen=""),
        {"t": patient()},
        [],
    ]
    yield judged(CLINIC, patients, wrong)
    yield from diary_rows()


def judged(domain, accepted, refused):
    held = [[value, ref.services_index(domain, value)] for value in accepted]
    assert all(index for _, index in held)
    assert not any(ref.services_index(domain, value) for value in refused)
    return {"domain": domain, "held": held, "refused": refused}


WIDE = services(
    people=records(a=integers(0, (1 << 30) - 1), b=integers(0, (1 << 28) + 2), c=integers(5, 9)),
    trips=lists(
        5, far=integers(0, (1 << 33) - 1), how=labels("car", "bus", "foot"), paid=integers(0, 6)
    ),
)
PEOPLE_SIZES, TRIP_SIZES = [1 << 30, (1 << 28) + 3, 5], [1 << 33, 3, 7]


def cell(table, columns, widths, *, rounded=(), mirrored=(), weighted=False, aligned=False):
    sizes = (PEOPLE_SIZES, TRIP_SIZES)[table]
    return {
        "kind": "cell",
        "table": table,
        "columns": columns,
        "sizes": [sizes[column] for column in columns],
        "widths": [ref.whole(width) for width in widths],
        "most": 5 * table,
        "weighted": weighted,
        "rounded": list(rounded),
        "mirrored": list(mirrored),
        "aligned": aligned,
    }


def cell_rows():
    person = {"a": (1 << 30) - 1, "b": 123456789, "c": 7}
    trips = [
        {"far": number(f"far {one}", 1 << 33), "how": ("car", "bus", "foot")[one % 3], "paid": one}
        for one in range(7)
    ]
    reject, accept = edge_words(7)
    found = [], []
    for encoding, count, start in (
        (cell(0, [0, 1, 2], [1, 1, 1]), 0, b""),
        (cell(0, [0, 1, 2], [1, 1, 1], aligned=True), 0, b""),
        (cell(0, [0, 2], [1, 1], rounded=[2], mirrored=[0], aligned=True), 0, b""),
        (cell(0, [1, 2], [1 << 54, 2], mirrored=[2]), 0, pack("<I", word_for(1, 4))),
        (cell(0, [1, 2], [1 << 28, 2], mirrored=[2]), 0, pack("<I", word_for(2, 4))),
        (cell(0, [0, 2], [25, 0], rounded=[0], mirrored=[2]), 0, b""),
        (cell(1, [0, 1, 2], [625, 1, 1], weighted=True), 0, b""),
        (cell(1, [0, 1, 2], [625, 1, 1], weighted=True), 1, b""),
        (cell(1, [0, 1, 2], [1, 1, 2], rounded=[0, 2], weighted=True, aligned=True), 5, b""),
        (
            cell(1, [1, 2], [1, 1], rounded=[1], mirrored=[2], weighted=True),
            7,
            pack("<III", 0, reject, accept),
        ),
        (cell(1, [2], [7], rounded=[2]), 3, pack("<III", word_for(2, 3), 0, word_for(3, 5))),
        (cell(1, [0], [1 << 33], mirrored=[0]), 2, b""),
    ):
        value = {"people": person, "trips": trips[:count]}
        data = start + ref.sha_stream(f"cell {ref.canonical(encoding)} {count}", 80)
        stream = ref.Stream(data)
        index = ref.encoded(encoding, ref.services_index(WIDE, value), stream)
        assert 0 <= index < ref.outputs(encoding)
        row = {"encoding": encoding, "held": count, "random": data[: stream.consumed + 4].hex()}
        row |= {
            "consumed": stream.consumed,
            "index": ref.whole(index),
            "cells": ref.whole(ref.outputs(encoding)),
        }
        found[encoding["table"]].append(row)
    for rows in found:
        yield {"domain": WIDE, "person": person, "trips": trips, "rows": rows}


def misfits():
    good = cell(1, [1, 2], [1, 1], weighted=True)
    changes = [
        {"table": 2},
        {"table": 0},
        {"most": 4},
        {"columns": [1, 3]},
        {"sizes": [3, 8]},
        {"columns": [0, 2]},
    ]
    changes += [
        {"table": str(1 << 53)},
        {"columns": [1, str(1 << 53)]},
        {"most": 0, "weighted": False},
    ]
    yield {"domain": WIDE, "encoding": good, "changes": changes}


def served(epsilon, size, groups=(), kind=""):
    if groups and not kind:
        return ref.mechanism("affine", epsilon, size, groups=list(groups))
    return ref.mechanism(kind, epsilon, size) if kind else ref.best_mechanism(epsilon, size)


def layers(table, sizes, widths, epsilon, *, most=0, rounding="none", groups=(), first=0, kind=""):
    """Return a family with a mechanism for every number of cells, fewer first."""
    family = {
        "kind": "layers",
        "table": table,
        "columns": list(range(len(sizes))),
        "sizes": sizes,
        "widths": widths,
        "most": most,
        "rounding": rounding,
        "groups": list(groups),
        "first": first,
    }
    keys = {(max(2, ref.cells_of(one)), tuple(ref.bit_groups(one))) for one in ref.layers(family)}
    return family | {"mechanisms": [served(epsilon, *key, kind) for key in sorted(keys)]}


PERSON = [12, 3], [[25, 5, 1], [3, 1]]
ORDER = [25], [[25, 5, 1]]
PAIR = [1000, 1000], [[1024, 1], [1024, 1]]
VAST = [1 << 29, 1 << 29]


def layer_rows():
    for family in (
        layers(0, *PERSON, "1.0", first=1),
        layers(1, *ORDER, "1.0", most=3),
        layers(0, *PERSON, "0.5", rounding="one", groups=[0]),
        layers(
            0,
            [12, 30, 3],
            [[12, 1], [25, 5], [1]],
            "1.0",
            rounding="all",
            groups=[0, 1],
            kind="grr",
        ),
        layers(0, *ORDER, "0.5", most=3, rounding="one", groups=[0], kind="olh"),
        layers(0, *PAIR, "1.0", rounding="mirror", groups=[0, 1]),
        layers(0, VAST, [[1 << 30, 1024, 1], [1]], "1.0", kind="olh"),
    ):
        listed = list(ref.layers(family))
        found = []
        for place, one in enumerate(listed):
            mechanism, same = ref.one_layer(family, place)
            assert same == one
            own = {
                name: one[name] for name in ("widths", "weighted", "rounded", "mirrored", "aligned")
            }
            found.append(
                [
                    place,
                    {name: part for name, part in own.items() if part},
                    family["mechanisms"].index(mechanism),
                ]
            )
        yield {"family": family, "length": len(listed), "members": found}


def malformed():
    good = {
        "kind": "cell",
        "table": 0,
        "columns": [0, 2],
        "sizes": [4, 9],
        "widths": [2, 3],
        "most": 6,
    }
    good |= {"weighted": True, "rounded": [2], "mirrored": [0], "aligned": False}
    yield changes(
        "encoding",
        good,
        [
            {"widths": [0, 3]},
            {"aligned": True},
            {"rounded": []},
            {"sizes": [4, 1 << 51], "widths": [99, 1]},
        ],
        *(
            {"columns": one}
            for one in ([], [0], [2, 0], [0, 0], [0, -2], [0, "2"], [0, True], None)
        ),
        *({"sizes": one} for one in ([4], [4, 1], [4, 9, 2], [4, str(1 << 62)], ["4", 9])),
        *({"widths": one} for one in ([2], [2, 0], [2, -3], [2, True], [2, "3"])),
        *({"rounded": one} for one in ([1], [2, 0], [2, 2], [0], [0, 2], 2)),
        *({"mirrored": one} for one in ([1], [2], [0, 2], [0, 0], None)),
        *({"most": 0}, {"most": -1}, {"table": -1}, {"weighted": 1}, {"aligned": None}),
    )
    people = services(
        {"a.z": labels("p", "q")}, a=records(x=integers(0, 1)), b=lists(2, x=integers(0, 1))
    )
    public = people["public"]
    yield changes(
        "domain",
        people,
        [
            {"names": ["a", "_B9"]},
            *({"public": public | {"attributes": [one]}} for one in largest(0)),
        ],
        *(
            {"names": one}
            for one in (
                [],
                ["a"],
                ["a", "a"],
                ["a", "A"],
                ["a", "uid"],
                ["a", "9"],
                ["c", "b"],
                ["b", "a"],
            )
        ),
        *(
            {"tables": one}
            for one in (
                [],
                people["tables"][:1],
                [integers(0, 1), people["tables"][1]],
                [people, people],
            )
        ),
        {"tables": [records(x={"kind": "bits", "bits": 4}), people["tables"][1]]},
        {"tables": [records(z=integers(0, 1)), people["tables"][1]]},
        *(
            {"public": public | {"names": [name]}}
            for name in ("b.z", "a", "a.", "a.x", "a.Z.z", "c.z", "a.uid")
        ),
        *(
            {"public": public | {"attributes": [one]}}
            for one in (people["tables"][0], {"kind": "bits", "bits": 4})
        ),
        *({"public": public | {"attributes": [one]}} for one in largest(1)),
        {"public": labels("p", "q")},
        {"public": None},
    )
    yield changes(
        "domain",
        dates("2023-11-30", "2024-02-29"),
        [
            {"last": "2023-12-01"},
            {"first": "1999", "last": "2000"},
            {"first": "2024-01-01T00:00", "last": "2024-01-01T00:01"},
        ],
        *({"first": one} for one in ("2023-11", "2023-11-31", "2023-11-30 ", "soon", "", None, 5)),
        *({"last": one} for one in ("2024", "2023-11-30", "2023-11-29", "2024-02-30", "", None)),
        {"first": "2023-11-30 10", "last": "2023-11-30 12"},
        {"first": "1000-01-01T00:00", "last": "9999-01-01T00:00"},
        {"first": "2024-01-01T00:00:00", "last": "2024-01-01T00:00:59"},
        {"unit": "day"},
    )
    purchases = people["tables"][1]
    yield changes(
        "domain",
        purchases,
        [{"most": 65536}],
        {"records": integers(0, 1)},
        {"most": 0},
        {"most": 65537},
        {"most": "2"},
    )
    family = layers(0, [4, 2], [[4, 1], [1]], "1.0", rounding="one", groups=[0])
    mechanisms = family["mechanisms"]
    yield changes(
        "family",
        family,
        [{"mechanisms": mechanisms[::-1]}, {"table": 3}],
        *(
            {"mechanisms": one}
            for one in (
                [],
                mechanisms[1:],
                [*mechanisms, mechanisms[0]],
                [*mechanisms, served("1.0", 99)],
            )
        ),
        {"mechanisms": [*mechanisms[1:], overspent(mechanisms[0])]},
        {"mechanisms": [*mechanisms[:-1], ref.mechanism("affine", "1.0", 16, groups=[2, 2])]},
        *({"rounding": one} for one in ("none", "two", "", None)),
        *({"groups": one} for one in ([], [2], [0, 0, 9], 0)),
        *({"first": one} for one in (2, -1, True, "1")),
        *(
            {"widths": one}
            for one in ([[4, 1]], [[4, 1], []], [[4, 0], [1]], [4, 1], [[4, 1], [1], [1]])
        ),
        *({"sizes": one} for one in ([4], [4, 3], [4, 1])),
        *({"columns": one} for one in ([0], [1, 0], [1, 2])),
        {"most": 3},
    )


def largest(more):
    """Yield columns that may just be public, or with more no longer: 4,096 bytes beside names of
    three, and 2^53.
    """
    room = 4096 - len("a.z") - 8 - len('""') + more
    yield labels("p", "x" * (room - 2) + "é")
    yield labels("p", "x" * (room - 2) + '"')
    yield integers(1 - (1 << 53) - more, 0)
    yield integers(0, (1 << 53) - 1 + more)


def changes(noun, document, accepted, *refused):
    return {"family": noun, "document": document, "accepted": accepted, "refused": list(refused)}


def asked(*families):
    parts = [chosen(family) for family in families]
    return parts[0] if len(parts) == 1 else {"kind": "bundle", "parts": parts}


def plan(kind, rows, fanout=5):
    return {"kind": kind, "rows": rows, "fanout": fanout}


def baseline(method, rows, fanout=5, *, published=False):
    """Return the plan of a published method: devices answer it, and no document can name it to a
    collector.
    """
    return {
        "kind": "published_tables",
        "method": method,
        "rows": rows,
        "fanout": fanout,
        "published": published,
    }


def tasks():
    """Yield whole tasks, and values to answer them with."""
    people, order = layers(0, *PERSON, "1.0", first=1), layers(1, *ORDER, "1.0", most=3)
    both = task(
        "shop",
        plan("joint", [1, 2]),
        SHOP,
        asked(people, order, order),
        "3.0",
        declares=["subject", "public"],
    )
    yield (
        both,
        [
            customer(9, "house", 1e-07),
            customer(3, "é", 0.5, '"north"', (24, 7, 7, 0)),
            customer(orders=(13,)),
        ],
    )
    orders = services(orders=lists(3, price=integers(0, 24)))
    one = asked(layers(0, *ORDER, "0.5", most=3, rounding="one", groups=[0], kind="olh"))
    published = baseline("ahio", [1], published=True)
    yield (
        task("orders", published, orders, one, "0.5", declares=["subject"]),
        [[], bought(24), bought(1, 2, 3, 4)],
    )
    pair = services(p=records(a=integers(0, 999), b=integers(0, 999)))
    mirror = asked(layers(0, *PAIR, "1.0", rounding="mirror", groups=[0, 1]))
    yield (
        task("pair", baseline("ehio", [1], 1024), pair, mirror, "1.0", declares=["subject"]),
        [{"a": 999, "b": 500}],
    )
    vast = services(p=records(a=integers(0, VAST[0] - 1), b=integers(0, VAST[1] - 1)))
    finest = asked(layers(0, VAST, [[1], [1]], "1.0"))
    yield (
        task("vast", baseline("mg", [1]), vast, finest, "1.0", declares=["subject"]),
        [{"a": VAST[0] - 1, "b": 987654}],
    )


def message_rows():
    for content, values in tasks():
        answers = [answer(content, value, place) for place, value in enumerate(values)]
        yield {"task": content, "digest": ref.digest(content), "answers": answers}


def undeclared():
    columns, shown = {"a": integers(0, 1)}, {"p.z": labels("p", "q")}
    opening = asked(layers(0, [2], [[1]], "1.0"))
    for public, declares, value in (
        (shown, ["subject"], {"a": 1, "z": "q"}),
        (None, ["subject", "public"], {"a": 1}),
    ):
        domain = services(public, p=records(**columns))
        content = task("undeclared", baseline("mg", [1]), domain, opening, "1.0", declares=declares)
        yield {"task": content, "value": value}


def answer(content, value, place):
    label = f"tables {ref.digest(content)} {place}"
    secret, data = ref.sha_stream(label + " coin", 16), ref.sha_stream(label, 512)
    stream = ref.Stream(data)
    sent = ref.message(
        content, content["opening"], secret, ref.services_index(content["domain"], value), stream
    )
    made = {"secret": secret.hex(), "value": value, "random": data[: stream.consumed].hex()}
    return made | {"consumed": stream.consumed, "message": sent.hex()}

"""The vectors of joint statistics: cells and parities of records, whole families of them, records randomised whole."""

from fractions import Fraction
from itertools import combinations
from math import prod
from struct import pack

from golden import reference as ref
from golden.rows import (
    BOTH,
    EPSILONS,
    bounds,
    changed,
    edge_words,
    in_mechanism,
    in_question,
    message_row,
    named,
    number,
    question,
    report_row,
    round_,
    settings,
    task,
    without,
    word_for,
)

SIZES = [3, 2, 4, 2]
WAIVER = "The operator accepts that correlated attributes leak more than this epsilon."


def marginals():
    about = (
        "encodings, misfits, malformed, picks, tasks, refused, messages: as in discovery.json; malformed also of "
        "families. coefficients: a family of parities -> how many there are; [number, columns, masks] of some. "
        "computed, checked: as in thresholds.json. reports: as in perturb.json. reject: as in reject.json. sketches: "
        "payloads -> supports of every value, totals. records: payloads -> how often each record was said, totals. "
        "waived: tasks whose epsilon is that of a weaker guarantee, which a device does not answer by itself."
    )
    return "marginals.json", {
        "about": about,
        "version": 1,
        "encodings": list(encoding_rows()),
        "misfits": list(misfits()),
        "malformed": list(malformed()),
        "coefficients": list(coefficient_rows()),
        "picks": list(pick_rows()),
        "computed": list(computed()),
        "checked": list(checked()),
        "reports": list(report_rows()),
        "reject": list(judged()),
        "sketches": list(sketches()),
        "records": list(record_rows()),
        "tasks": [named(content, comment) for content, comment in tasks()],
        "refused": list(refused_rows()),
        "messages": list(message_rows()),
        "waived": list(waived()),
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
    home=labels("flat", "house", "other"), car=labels("no", "yes"), rooms=integers(1, 4), pet=integers(0, 1)
)
SHY = records(a=labels("no", "yes", "prefer not to say", declinable=True), b=integers(-2, 2), c=labels("é", "東京"))
RECORDS = [
    {"home": "flat", "car": "no", "rooms": 1, "pet": 0},
    {"home": "other", "car": "yes", "rooms": 4, "pet": 1},
    {"home": "house", "car": "no", "rooms": 3, "pet": 1},
]


def view(columns, sizes):
    return {"kind": "view", "columns": columns, "sizes": [ref.whole(size) for size in sizes]}


def parity(columns, sizes, masks):
    return view(columns, sizes) | {"kind": "parity", "masks": [ref.whole(mask) for mask in masks]}


def encoding_rows():
    for encoding in (
        *(view(list(columns), [SIZES[one] for one in columns]) for columns in ((0,), (3,), (0, 2), (1, 2, 3))),
        view([0, 1, 2, 3], SIZES),
        parity([0], [3], [1]),
        parity([0], [3], [2]),
        parity([0, 2], [3, 4], [3, 3]),
        parity([0, 1, 2, 3], SIZES, [2, 1, 3, 1]),
    ):
        for value in RECORDS:
            yield encoding_row(encoding, HOMES, value)
    for value in ({"a": None, "b": -2, "c": "東京"}, {"a": "yes", "b": 2, "c": "é"}, {"a": "no", "b": 1, "c": "é"}):
        for encoding in (view([0, 1, 2], [3, 5, 2]), parity([0, 1], [3, 5], [2, 5]), parity([1, 2], [5, 2], [4, 1])):
            yield encoding_row(encoding, SHY, value)
    wide = 1 << 40, 3, 1 << 20
    for cells in ((0, 0, 0), (wide[0] - 1, 2, wide[2] - 1), [number(f"wide {size}", size) for size in wide]):
        value = {f"a{place}": cell for place, cell in enumerate(cells)}
        for encoding in (view([0, 1, 2], wide), view([0, 2], [wide[0], wide[2]])):
            yield encoding_row(encoding, numbered(*wide), value)
        yield encoding_row(parity([0, 2], [wide[0], wide[2]], [number("mask", wide[0]), 5]), numbered(*wide), value)


def encoding_row(encoding, domain, value):
    index, outputs = ref.encoded(encoding, ref.record_index(domain, value), None), ref.outputs(encoding)
    assert 0 <= index < outputs
    found = {"random": "", "consumed": 0, "outputs": ref.whole(outputs), "index": ref.whole(index)}
    return {"encoding": encoding, "domain": domain, "value": value} | found


def misfits():
    for encoding, domain, comment in (
        (view([0, 4], [3, 2]), HOMES, "an attribute that is not there"),
        (view([0, 1], [3, 3]), HOMES, "another size"),
        (view([0], [48]), integers(0, 47), "a number has no attributes"),
        (view([0], [2]), {"kind": "sets", "items": integers(0, 1)}, "a set has no attributes"),
        (parity([4], [2], [1]), HOMES, "an attribute that is not there"),
        (parity([0, 2], [4, 4], [1, 1]), HOMES, "another size, though as many bits"),
        (parity([0], [2], [1]), labels("a", "b"), "a label has no attributes"),
        (view([str(1 << 53)], [2]), HOMES, "an attribute that is not there"),
    ):
        yield {"encoding": encoding, "domain": domain, "comment": comment}


NO_COLUMNS = [[], [0], [2, 0], [0, 0], [-1, 2], ["0", 2], [0, True], [0, None], [0, 2, 3], [[0], [2]], None, 2, "02"]
NO_SIZES = [[], [2], [1, 3], [2, 0], [2, -3], [2, "3"], [2, True], [2, 3, 2], None, 6]


def malformed():
    coin = ref.mechanism("grr", "1.0", 2)
    for family, good, changes in (
        (
            "encoding",
            view([0, 2], [2, 3]),
            [("columns", value) for value in NO_COLUMNS]
            + [("sizes", value) for value in (*NO_SIZES, [2, str(1 << 62)], [4, str((1 << 60) + 1)])],
        ),
        (
            "encoding",
            parity([0, 2], [2, 3], [1, 3]),
            [("columns", value) for value in NO_COLUMNS]
            + [("sizes", value) for value in (*NO_SIZES, [2, 2])]
            + [("masks", value) for value in ([], [1], [1, 4], [0, 3], [2, 3], [1, -1], ["1", 3], [1, True], 1, None)],
        ),
        (
            "family",
            views([2, 3, 2], [[0, 1], [0, 2]], "1.0"),
            [("columns", value) for value in no_views()]
            + [("sizes", value) for value in ([], [2, 3], [2, 3, 3], [2, 1, 2], [2, "3", 2], [True, 3, 2], None)]
            + [("mechanisms", value) for value in no_servants()],
        ),
        (
            "family",
            parities([2, 3, 2], 2),
            [("order", value) for value in (0, 4, -1, "2", True, None)]
            + [("sizes", value) for value in ([], [2, 1, 2], [2, 0, 2], [2, "3", 2], [2, True, 2], [2], 3, None)]
            + [("within", value) for value in (0, 1, "false", None)]
            + [("mechanism", value) for value in (ref.mechanism("grr", "1.0", 3), overspent(coin), None)],
        ),
    ):
        yield {"family": family, "document": good, "accepted": True}
        for name, value in (*changes, ("extra", 1), ("kind", "grr"), ("kind", "nothing")):
            yield {"family": family, "document": good | {name: value}, "accepted": False}
        for name in good:
            yield {"family": family, "document": without(good, name), "accepted": False}
    yield {"family": "encoding", "document": view([0, 2], [2, 1 << 61]), "accepted": True}
    for sizes, order, within, accepted in (
        ([1 << 20], 1, False, True),
        ([1 << 20], 1, True, True),
        ([1 << 20, 2], 1, False, True),
        ([1 << 20, 2], 1, True, True),
        ([1 << 20, 4], 1, False, False),
        ([1 << 20, 4], 1, True, False),
        ([1 << 20, 2], 2, False, False),
        ([1 << 10, 1 << 10], 2, True, True),
        ([1 << 10, (1 << 10) + 1], 2, True, False),
        ([str(1 << 62)], 1, False, False),
        ([2] * 16, 16, True, True),
        ([2] * 20, 20, False, True),
        ([2] * 21, 21, False, False),
        ([2] * 60, 30, False, False),
        ([2] * 60, 30, True, False),
        ([str(1 << 62)] * 40, 20, True, False),
    ):
        family = parities(sizes, order, within=within)
        yield {"family": "family", "document": family, "accepted": accepted, "comment": "at most 2^20 coefficients"}


def views(sizes, columns, epsilon, kind=""):
    """Return the questions about views: one mechanism for every number of cells, two of which are answered directly."""
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


def parities(sizes, order, epsilon="1.0", *, within=False):
    mechanism = ref.mechanism("grr", epsilon, 2)
    return {"kind": "parities", "mechanism": mechanism, "sizes": sizes, "order": order, "within": within}


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
    return [[], [four], [six], twice, [four, six, nine], [four, nine], [four, overspent(six)], [four, None], four, None]


def overspent(mechanism):
    return mechanism | {"keep": str((1 << 64) - 1)}


def coefficient_rows():
    for sizes, order, within in (
        ([2], 1, False),
        ([2], 1, True),
        ([3, 2, 4], 2, False),
        ([3, 2, 4], 2, True),
        ([3, 2, 4], 3, False),
        ([3, 2, 4], 3, True),
        (SIZES, 2, False),
        (SIZES, 2, True),
        ([2] * 8, 3, False),
        ([2] * 8, 3, True),
        ([5, 2, 17, 3, 2, 9], 4, False),
        ([5, 2, 17, 3, 2, 9], 4, True),
        ([1000, 3], 2, False),
        ([1000, 3], 2, True),
        ([2] * 60, 3, False),
        ([2] * 40, 3, True),
        ([2] * 16, 16, False),
        ([1 << 14, 3], 1, False),
    ):
        family = parities(sizes, order, within=within)
        listed = list(ref.coefficients(family))
        # Everything of the small families; of the large ones both ends, where sets of attributes change, and some.
        wanted = set(range(len(listed))) if len(listed) <= 40 else {0, 1, 2, len(listed) - 2, len(listed) - 1}
        wanted |= {number(f"coefficient {sizes} {order} {within} {place}", len(listed)) for place in range(8)}
        wanted |= {place + step for place in ends(listed) for step in (-1, 0)}
        found = [[one, *map(list, zip(*listed[one], strict=True))] for one in sorted(wanted)]
        yield {"family": family, "length": len(listed), "coefficients": found}


def ends(listed):
    """Return where the number of attributes, or the first of them, changes: at most ten places."""
    kinds = [(len(one), one[0][0]) for one in listed]
    return [place for place in range(1, len(kinds)) if kinds[place] != kinds[place - 1]][:10]


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
        chosen(parities(SIZES, 2)),
        chosen(parities(SIZES, 2, "0.5", within=True)),
        chosen(parities([3, 2], 1), [5, 1, 7, 2]),
    ):
        weights = ref.weights_of(ask)
        edge = -(-(weights[0] << 64) // sum(weights))
        coins = {0, (1 << 64) - 1, edge - 1, min(edge, (1 << 64) - 1)}
        coins |= {number(f"pick {ref.canonical(ask)} {place}", 1 << 64) for place in range(2)}
        for coin in sorted(coins):
            member = ref.pick(weights, coin)
            yield {"ask": ask, "coin": str(coin), "member": member, "question": ref.member_of(ask["members"], member)}


def product(epsilon, sizes, **given):
    return ref.mechanism("product", epsilon, prod(sizes), sizes=list(sizes), **given)


def computed():
    given = [settings("product", epsilon, 48, {"sizes": SIZES}) for epsilon in EPSILONS]
    for epsilon, sizes in (
        ("1.0", [2]),
        ("0.3", [2, 2, 2]),
        ("1.2", [5, 2]),
        ("0.002", [4096, 2]),
        ("3.0", [1 << 31, 1 << 31]),
        ("3.0", [1 << 32, 2]),
        ("1.0", [2] * 30),
    ):
        given.append(settings("product", epsilon, prod(sizes), {"sizes": sizes}))
    given += [settings("hcms", epsilon, 1000, {}) for epsilon in EPSILONS]
    given += [settings("hcms", "1.0", 2, {"rows": 1, "columns": 2})]
    given += [settings("hcms", "1.0", 1 << 20, {"rows": 1024, "columns": 65536})]
    for settled, document in given:
        yield {"given": settled, "document": document, "ratio": str(ref.worst_ratio(document))}


def checked():
    for document, accepted, comment in (*checked_product(), *checked_hcms()):
        yield {"document": document, "accepted": accepted, "comment": comment}


def moved(document, place, keep):
    keeps = list(document["keeps"])
    keeps[place] = keep
    return document | {"keeps": keeps}


def checked_product():
    document = product("1.0", [2, 3])
    yield document, True, "as computed"
    for place in range(2):
        for step in (-4000, -1, 1, 4000):
            near = moved(document, place, str(int(document["keeps"][place]) + step))
            accepted = ref.spends_at_most(ref.worst_ratio(near), "1.0")
            yield near, accepted, f"threshold {place} {step:+d}" + ("" if accepted else ": spends more than it states")
    alone = ref.mechanism("grr", "0.99", 2)["keep"]
    uneven = document | {"keeps": [alone, ref.mechanism("grr", "0.01", 3)["keep"]]}
    yield uneven, True, "budgets need not be even"
    lying = document | {"keeps": [ref.mechanism("grr", "3.0", 2)["keep"], str((1 << 64) // 20)]}
    yield lying, False, "one that prefers lies does not pay for another"
    fine = product("0.002", [4096, 2])
    assert isinstance(fine["keeps"][0], int)
    yield fine, True, "a threshold below 2^53 is a number"
    yield moved(fine, 0, str(fine["keeps"][0])), False, "integers below 2^53 are numbers"
    yield product("1.0", [1 << 31, 1 << 31]), True, "2^62 records"
    yield product("1.0", [1 << 31, 1 << 32]), False, "2^63 records"
    keeps = document["keeps"]
    for name, value, comment in (
        ("sizes", [3, 2], "another order is another mechanism"),
        ("sizes", [6], "one threshold for every attribute"),
        ("sizes", [], "at least one attribute"),
        ("sizes", [2, 3, 1], "an attribute has at least two values"),
        ("sizes", [-2, -3], "an attribute has at least two values"),
        ("sizes", [2, "3"], "integers below 2^53 are numbers"),
        ("sizes", [2, True], "a size is a number"),
        ("size", 7, "sizes multiply to the size"),
        ("keeps", [], "thresholds are always written"),
        ("keeps", keeps[:1], "one threshold for every attribute"),
        ("keeps", [*keeps, keeps[0]], "one threshold for every attribute"),
        ("keeps", [keeps[0], 0], "never told"),
        ("keeps", [keeps[0], str(1 << 64)], "certain, not random"),
        ("keeps", [keeps[0], "-1" + keeps[1]], "a negative threshold"),
        ("keeps", [keeps[0], "0" + keeps[1]], "an integer has one spelling"),
        ("keeps", [str(1 << 63), keeps[1]], "a fair coin reveals nothing of its attribute"),
        ("keeps", [keeps[0], None], "a threshold is a number"),
        ("keeps", keeps[0], "a list of thresholds"),
        ("epsilon", "0.9", "spends more than it states"),
        ("keep", keeps[0], "an unknown field"),
    ):
        yield document | {name: value}, False, comment
    for name in document:
        yield without(document, name), False, f"{name} is always written"


def checked_hcms():
    document = ref.mechanism("hcms", "1.0", 1000)
    yield document, True, "as computed"
    for step in (-1, 1):
        near = document | {"keep": str(int(document["keep"]) + step)}
        accepted = ref.spends_at_most(ref.worst_ratio(near), "1.0")
        yield near, accepted, f"keep {step:+d}" + ("" if accepted else ": spends more than it states")
    for name, value, comment in (
        ("keep", "1", "the bit is never told: that reveals it"),
        ("keep", "0", "a threshold is always written"),
        ("keep", str(1 << 63), "a fair coin reveals nothing"),
        ("keep", str((1 << 64) - 1), "all but certain"),
        ("keep", int(document["keep"]) >> 12, "a threshold is a string"),
        ("rows", 0, "at least one row"),
        ("rows", 1025, "at most 1,024 rows"),
        ("rows", "5", "integers below 2^53 are numbers"),
        ("rows", True, "rows are a number"),
        ("columns", 1, "at least two columns"),
        ("columns", 0, "at least two columns"),
        ("columns", 255, "a power of two"),
        ("columns", -256, "at least two columns"),
        ("columns", 1 << 17, "at most 65,536 columns"),
        ("size", 1, "a domain has at least two values"),
        ("size", (1 << 20) + 1, "at most 2^20 values"),
        ("extra", 1, "an unknown field"),
    ):
        yield document | {name: value}, False, comment
    for name in document:
        yield without(document, name), False, f"{name} is always written"


def report_rows():
    for document, values in reporters():
        for value in sorted(values):
            data = ref.sha_stream(f"report {ref.canonical(document)} {value}", 1 << 10)
            yield report_row(document, value, data, "")
    for document, value, start, comment in (*scripted_product(), *scripted_hcms()):
        data = start + ref.sha_stream(f"scripted {ref.canonical(document)} {value} {comment}", 1 << 10)
        yield report_row(document, value, data, comment)


def reporters():
    for sizes, epsilon in (
        ([2], "1.0"),
        ([2, 3], "1.0"),
        (SIZES, "2.0"),
        ([2] * 8, "8.0"),
        ([257, 2], "0.5"),
        ([256, 256], "4.0"),
        ([256, 257], "4.0"),
        ([65536, 65536], "1.0"),
        ([65536, 65537], "12.0"),
        ([1 << 32, 3], "1.0"),
        ([3, 1 << 32], "20.0"),
        ([1 << 31, 1 << 31], "20.0"),
        ([4096, 2], "0.002"),
    ):
        size = prod(sizes)
        yield product(epsilon, sizes), {0, size - 1, number(f"record {sizes}", size)}
    for size, rows, columns, epsilon in (
        (2, 1, 2, "1.0"),
        (7, 1, 128, "0.5"),
        (7, 1, 256, "2.0"),
        (48, 5, 256, "1.0"),
        (1000, 128, 256, "4.0"),
        (1000, 129, 256, "4.0"),
        (1 << 16, 5, 1024, "1.0"),
        (1 << 20, 1024, 65536, "8.0"),
        (1 << 20, 1000, 2, "1.0"),
    ):
        yield ref.mechanism("hcms", epsilon, size, rows=rows, columns=columns), {0, 1, size // 3, size - 1}


def scripted_product():
    """Streams at the edges of every attribute's coin and lie; the words of one come before those of the next."""
    document, value = product("1.0", [4, 3]), 7  # the record (2, 1)
    first, second = (int(keep) for keep in document["keeps"])
    never = (1 << 64) - 1
    for coins in ((first - 1, second - 1), (first - 1, second), (first, second - 1), (first, second)):
        said = ", ".join("kept" if coin < keep else "lied" for coin, keep in zip(coins, (first, second), strict=True))
        data = pack("<QIQI", coins[0], word_for(1, 3), coins[1], word_for(1, 2))
        yield document, value, data, f"just {said}"
    for lies in ((0, 0), (1, 1), (2, 0)):
        data = pack("<QIQI", never, word_for(lies[0], 3), never, word_for(lies[1], 2))
        yield document, value, data, f"lies {lies[0]} and {lies[1]} step over the truth"
    reject, accept = edge_words(3)
    for coin in (0, never):
        data = pack("<QIIIQI", coin, 0, reject, accept, coin, 1 << 31)
        yield document, value, data, "two words of the first lie are rejected before the second attribute draws"


def scripted_hcms():
    document = ref.mechanism("hcms", "1.0", 1000, rows=5, columns=16)
    keep = int(document["keep"])
    for row, coordinate in ((0, 0), (4, 15), (2, 7), (3, 8)):
        for coin, said in ((keep - 1, "just kept"), (keep, "just not kept")):
            data = pack("<IIQ", word_for(row, 5), word_for(coordinate, 16), coin)
            yield document, 321, data, f"row {row}, coordinate {coordinate}; {said}"
    reject, accept = edge_words(5)
    yield document, 999, pack("<IIIIQ", 0, reject, accept, 0, keep), "two words of the row are rejected"


def judged():
    hcms = {"rows": 5, "columns": 256}
    for document, data, refused, comment in (
        *bounds(product("1.0", [2, 3]), b"\x05", b"\x06", "a record"),
        *bounds(product("1.0", [256, 256]), b"\xff\xff", None, "a record"),
        *bounds(product("1.0", [257, 3]), b"\x02\x03", b"\x03\x03", "a record"),
        *bounds(product("1.0", [1 << 31, 3]), b"\xff\xff\xff\x7f\x01\0\0\0", b"\0\0\0\x80\x01\0\0\0", "a record"),
        *bounds(ref.mechanism("hcms", "1.0", 48, **hcms), b"\xff\x09", b"\x00\x0a", "a row"),
        *bounds(ref.mechanism("hcms", "1.0", 48, rows=3, columns=2), b"\x0b", b"\x0c", "a row"),
    ):
        yield {"mechanism": document, "payload": data.hex(), "refused": refused, "comment": comment}


def payloads_of(document, users):
    for user in range(users):
        label = f"said {ref.canonical(document)} {user}"
        yield ref.report(document, number(label, document["size"]), ref.Stream(ref.sha_stream(label, 512)))


def sketches():
    for size, rows, columns, epsilon in ((2, 1, 2, "1.0"), (12, 5, 16, "2.0"), (12, 3, 256, "0.5")):
        document = ref.mechanism("hcms", epsilon, size, rows=rows, columns=columns)
        payloads = list(payloads_of(document, 60))
        counts, totals, _ = ref.estimates(document, payloads, range(size))
        yield {
            "mechanism": document,
            "users": len(payloads),
            "payloads": b"".join(payloads).hex(),
            "counts": counts,
            "totals": [ref.digits(total) for total in totals],
        }


def record_rows():
    for sizes, epsilon in (([2], "1.0"), ([2, 3], "2.0"), ([3, 2, 2], "6.0")):
        document = product(epsilon, sizes)
        payloads = list(payloads_of(document, 60))
        said = [int.from_bytes(payload, "little") for payload in payloads]
        counts = [said.count(record) for record in range(document["size"])]
        totals = [ref.digits(total) for total in unmixed(counts, sizes, document["keeps"])]
        data = b"".join(payloads).hex()
        yield {"mechanism": document, "users": len(said), "payloads": data, "counts": counts, "totals": totals}


def unmixed(counts, sizes, keeps):
    """Return what the responses of every attribute say of the records, one attribute after another."""
    for place, (size, keep) in enumerate(zip(sizes, keeps, strict=True)):
        p = Fraction(int(keep), 1 << 64)
        q, step = (1 - p) / (size - 1), prod(sizes[place + 1 :])
        alike = [cell - cell // step % size * step for cell in range(len(counts))]  # with the first value here
        sums = [sum(counts[first + other * step] for other in range(size)) for first in alike]
        counts = [(count - q * whole) / (p - q) for count, whole in zip(counts, sums, strict=True)]
    return counts


def joint(method, ask, epsilon, *, users=10_000, order=2, domain=HOMES, **more):
    plan = {"kind": "marginals", "users": users, "order": order, "method": method, "threshold": "0.001"}
    return task("homes", plan, domain, ask, epsilon, **more)


def cell(mechanism, sizes=SIZES):
    """Ask everybody for their cell of the whole table."""
    return question(mechanism, encoding=view(list(range(len(sizes))), sizes))


# The fourteen blocks of four that hold every three of eight, as the method finds them.
BLOCKS = "0123 0145 0167 0246 0257 0347 0356 1247 1256 1346 1357 2345 2367 4567"


def whole_table(kind, epsilon="1.0"):
    return cell(ref.mechanism(kind, epsilon, 48))


def openings():
    """Yield what every method asks first, and its name."""
    six = pairs(4)
    yield "calm", chosen(views(SIZES, six, "1.0"))
    yield "inp_ht", chosen(parities(SIZES, 2))
    yield "inp_rr", whole_table("oue")
    yield "inp_ps", whole_table("grr")
    yield "inp_olh", whole_table("olh")
    yield "inp_htcms", whole_table("hcms")
    yield "inp_em", cell(product("1.0", SIZES))
    yield "marg_rr", chosen(views(SIZES, six, "1.0", "oue"))
    yield "marg_ps", chosen(views(SIZES, six, "1.0", "grr"))
    yield "marg_ht", chosen(parities(SIZES, 2, within=True))
    yield "fc", cell(ref.best_mechanism("1.0", 48))
    yield "am", chosen(views(SIZES, six, "1.0"))


def tasks():
    for method, ask in openings():
        yield joint(method, ask, "1.0"), f"method {method}"
    eight = [2] * 8
    answers = records(**{f"q{place}": labels("no", "yes") for place in range(8)})
    blocks = [[int(digit) for digit in block] for block in BLOCKS.split()]
    several = {"users": 1 << 16, "order": 3, "domain": answers}
    yield joint("calm", chosen(views(eight, blocks, "2.0")), "2.0", **several), "a covering of all triples"
    yield joint("inp_ht", chosen(parities(eight, 3, "2.0")), "2.0", **several), "three of eight"
    shy = {"domain": SHY, "order": 3, "declares": ["subject"]}
    yield joint("inp_em", cell(product("0.3", [3, 5, 2]), [3, 5, 2]), "0.3", **shy), "a budget that does not divide"
    yield (
        joint("marg_ps", chosen(views([3, 5, 2], [[0], [1], [2]], "1.0", "grr")), "1.0", **shy | {"order": 1}),
        ("single attributes, two values among them"),
    )


def refused_rows():
    for content, comment in broken():
        for reader in BOTH:
            yield {"reader": reader, "text": ref.canonical(content), "comment": comment}
    for content, comment in miswaived():
        yield {"reader": "notice", "text": ref.canonical(content), "comment": comment}


def broken():
    asks = dict(openings())
    sketch, views_ = joint("inp_htcms", asks["inp_htcms"], "1.0"), joint("marg_ps", asks["marg_ps"], "1.0")
    yield in_mechanism(sketch, "columns", 300), "columns are a power of two"
    yield in_question(sketch, "encoding", view([1, 0], [2, 3])), "columns in order"
    yield in_question(sketch, "encoding", asks["inp_ht"]["members"]), "a family is no encoding"
    yield in_question(sketch, "mechanism", product("1.5", SIZES)), "a mechanism dearer than its task"
    dear = chosen(views(SIZES, pairs(4), "1.5"))
    yield changed(views_, "opening", "ask", dear), "views dearer than their task"
    mixed = dear["members"] | {
        "mechanisms": [*views(SIZES, pairs(4), "1.0")["mechanisms"][:-1], dear["members"]["mechanisms"][-1]]
    }
    yield changed(views_, "opening", "ask", chosen(mixed)), "one view dearer than its task"
    yield changed(views_, "opening", "ask", chosen(asks["marg_ps"]["members"], [1, 2])), "a weight for every view"
    yield changed(views_, "opening", "ask", chosen(parities(SIZES, 5))), "an order above the attributes"
    yield changed(views_, "opening", "ask", {"kind": "bundle", "parts": asks["inp_ht"]["members"]}), "no families here"
    yield (
        in_question(in_question(sketch, "mechanism", product("2.0", SIZES)), "epsilon", "1.0"),
        "spends more than it states",
    )


def miswaived():
    sketch = joint("inp_htcms", whole_table("hcms"), "1.0")
    exact = in_question(in_question(sketch, "mechanism", product("2.0", SIZES)), "epsilon", "1.0")
    for waiver in ("too short", " " * 30, WAIVER + "e\u0301", None, True, [WAIVER], ""):
        yield in_question(exact, "waiver", waiver), "a waiver is a statement of at least 20 characters, in NFC"
    yield in_question(sketch, "waiver", WAIVER), "there is nothing to waive"


def message_rows():
    for place, (method, ask) in enumerate(openings()):
        for turn in range(2):
            yield row(joint(method, ask, "1.0"), None, turn, RECORDS[(place + turn) % 3])
    for content, comment in tasks():
        if content["domain"] == SHY:
            yield row(content, None, 0, {"a": None, "b": 2, "c": "東京"}) | {"comment": comment}
    yield from later_rows()


def row(content, asked, place, value):
    return message_row(content, asked, place, value, ref.record_index(content["domain"], value))


def later_rows():
    """Rounds that other plans ask: families in bundles, weights, mechanisms of several widths side by side."""
    content = joint("inp_ht", chosen(parities(SIZES, 2)), "1.0", declares=["subject"])
    half = chosen(views(SIZES, [[0], [1, 2], [0, 1, 2, 3]], "0.5", "oue"), [1, 2, 3])
    both = {"kind": "bundle", "parts": [half, chosen(parities(SIZES, 4, "0.5", within=True))]}
    mixed = [
        cell(product("1.0", SIZES)),
        whole_table("hcms"),
        question(ref.mechanism("grr", "1.0", 2), encoding=parity([0, 2], [3, 4], [2, 3])),
    ]
    for place in range(3):
        yield row(content, round_(1, both), place, RECORDS[place])
        yield row(content, round_(2, chosen(mixed, [1, 1, 1])), place, RECORDS[place])


def waived():
    """Tasks whose statement a device must not take for that of local differential privacy."""
    asked = cell(product("2.0", SIZES)) | {"epsilon": "1.0", "waiver": WAIVER}
    plain = whole_table("hcms")
    for ask, comment in (
        (asked, "a question"),
        (chosen([plain, asked]), "a member of a choice"),
        ({"kind": "bundle", "parts": [asked]}, "a part of a bundle"),
        (asked | {"waiver": WAIVER[:20]}, "as short as may be"),
    ):
        yield {"task": joint("inp_em", ask, "1.0"), "value": RECORDS[1], "comment": comment}

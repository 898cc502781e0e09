"""The vectors of discovery: long values, sets of items, what is computed of them before they are
randomised.
"""

from math import e
from struct import pack

from golden import reference as ref
from golden.rows import (
    BOTH,
    changed,
    edge_words,
    in_question,
    message_row,
    named,
    number,
    question,
    round_,
    task,
    without,
    word_for,
)

FRUIT = ["apple", "fig", "città", "東京", "kiwi", "lime", "pear"]
CATEGORIES = {"kind": "categories", "labels": FRUIT, "declinable": False}
HALF = 1 << 63


def discovery():
    about = (
        "indices: domain, value (or number: a whole number in decimals) -> index: a number, 32-bit "
        "words beyond 63 "
        "bits, for sets the indices of the items; or refused. encodings: encoding, domain, value, "
        "recorded bytes -> "
        "what the mechanism randomises, bytes consumed, how many outputs there are. misfits: "
        "encodings that do not "
        "fit the domain. malformed: documents of domains and encodings to refuse. questions: "
        "question, ratio end to "
        "end -> accepted or not. picks: a choice, 64-bit coin -> member, the question it is. "
        "tasks: whole documents. "
        "refused: texts that the named reader must refuse. messages: as in envelope.json, some "
        "with a number. lasting: "
        "longitudinal tasks to refuse: a draw that hides one response does not hide several."
    )
    return "discovery.json", {
        "about": about,
        "version": 1,
        "indices": list(index_rows()),
        "encodings": list(encoding_rows()),
        "misfits": list(misfits()),
        "malformed": list(malformed()),
        "questions": list(question_rows()),
        "picks": list(pick_rows()),
        "tasks": [named(content, comment) for content, comment in tasks()],
        "refused": list(refused_rows()),
        "messages": list(message_rows()),
        "lasting": list(lasting_rows()),
    }


def bits_of(bits):
    return {"kind": "bits", "bits": bits}


def texts_of(length, *, whole=False):
    return {"kind": "strings", "length": length, "whole": whole}


def sets_of(items):
    return {"kind": "sets", "items": items}


def integers(low, high):
    return {"kind": "integers", "low": ref.whole(low), "high": ref.whole(high)}


def given(value):
    """Write a value as rows do: whole numbers that JSON may not hold exactly as decimals."""
    return (
        {"number": str(value)} if type(value) is int and abs(value) >= 1 << 53 else {"value": value}
    )


def size_in_bits(domain):
    return domain.get("bits") or 8 * domain["length"]


def index_rows():
    for domain, value, comment in (*bit_values(), *texts(), *sets()):
        index = ref.held_index(domain, value)
        row = {"domain": domain} | given(value)
        if index is None:
            row |= {"refused": True}
        elif isinstance(index, list):
            row |= {"index": index}
        else:
            row |= {"index": written(index, size_in_bits(domain))}
        yield row | ({"comment": comment} if comment else {})


def written(index, bits):
    return ref.words_of(index, bits) if bits > 63 else ref.whole(index)


def bit_values():
    for bits in (2, 8, 31, 32, 33, 48, 53, 54, 63, 64, 65, 96, 128, 480):
        domain, most = bits_of(bits), 1 << bits
        for value in sorted({0, 1, most // 2, most - 1, number(f"bits {bits}", most)}):
            yield domain, value, ""
        yield domain, most, "one too many"
        yield domain, -1, "negative"
    for value in ("5", "", True, None, 1.5, [5], {"a": 1}):
        yield bits_of(48), value, "no whole number"


def texts():
    for length in (1, 2, 3, 5, 7, 8, 60):
        for value in (
            "",
            "a",
            "ab",
            "hello",
            "hello, world",
            "é",
            "e\u0301",
            "aé",
            "東京",
            "a東",
            "\U0001f600",
            "ab\U0001f600",
        ):
            yield texts_of(length), value, ""
            if length in (2, 5):
                yield texts_of(length, whole=True), value, ""
    yield texts_of(4), "e\u0301e\u0301", "composed first, then cut: four bytes are enough"
    yield texts_of(3), "e\u0301e\u0301", "no character is cut in two"
    yield texts_of(3, whole=True), "e\u0301e\u0301", "too long, composed"
    yield texts_of(4, whole=True), "e\u0301e\u0301", "not too long once composed"
    yield texts_of(6), "\uac00\u11a8\u11a8", "composed Hangul"
    yield texts_of(6), "\u212b\u2126", "signs that stand for letters"
    yield texts_of(60), "x" * 100, "cut"
    yield texts_of(60), "\U0001f600" * 20, "cut between characters"
    yield texts_of(60, whole=True), "x" * 60, "just fits"
    yield texts_of(60, whole=True), "x" * 61, "one byte too long"
    yield texts_of(2), "\u007f\u0080", "one byte, two bytes"
    yield texts_of(7), "\uffff\U0010ffff", "the largest characters"
    for value in (
        "\ud800",
        "a\udc00b",
        "\udc00\ud800",
        "\0",
        "a\0",
        "\0a",
        5,
        None,
        True,
        ["a"],
        {"a": 1},
    ):
        for domain in (texts_of(5), texts_of(5, whole=True)):
            yield domain, value, "no text, or a zero character, or half of a surrogate pair"
    yield texts_of(2), "abcdef\0", "refused even where it would be cut off"
    yield texts_of(2), "abcdef\ud800", "refused even where it would be cut off"


def sets():
    named_items, numbered = sets_of(CATEGORIES), sets_of(integers(-3, 9))
    for value, comment in (
        ([], "the empty set"),
        (["fig"], ""),
        (["pear", "apple"], "ascending"),
        (["fig", "fig", "apple", "fig"], "each item once"),
        (["fig", "plum", "", "Fig", "fig "], "items that are not listed are left out"),
        (["plum"], "nothing is left"),
        (["citta\u0300"], "items are compared after NFC"),
        (["città", "citta\u0300"], "the same item twice"),
        (["東京", *FRUIT[::-1]], "all of them"),
        (["fig", 1], "an item is text"),
        ([None], "declining is no item"),
        ([["fig"]], "an item is text"),
        ("fig", "text is no set"),
        ({"fig": 1}, "an object is no set"),
        (7, "a number is no set"),
        (None, "nothing is no set"),
        (True, "a set is a list"),
    ):
        yield named_items, value, comment
    for value, comment in (
        ([], "the empty set"),
        ([9, -3, 0], "ascending, from the lowest"),
        ([4, 4, 4], "each item once"),
        ([-4, 10, 1000, 3], "items outside are left out"),
        (list(range(-3, 10)), "all of them"),
        (["3"], "an item is a number"),
        ([1.5], "an item is a whole number"),
        ([True], "an item is a number"),
        ([None], "an item is a number"),
        ([[3]], "an item is a number"),
        ("3", "text is no set"),
    ):
        yield numbered, value, comment


def encoding_rows():
    for encoding, domain, values in (*segments(), *counted()):
        for value in values:
            for place in range(2 if encoding["kind"] == "sample" else 1):
                label = f"encoding {ref.canonical(encoding)} {value} {place}"
                yield encoding_row(encoding, domain, value, ref.sha_stream(label, 256), "")
    for encoding, value, start, comment in scripted():
        data = start + ref.sha_stream(f"scripted {ref.canonical(encoding)} {value} {comment}", 64)
        yield encoding_row(encoding, sets_of(integers(0, 6)), value, data, comment)


def encoding_row(encoding, domain, value, data, comment):
    stream = ref.Stream(data)
    index = ref.encoded(encoding, ref.held_index(domain, value), stream)
    outputs = ref.outputs(encoding)
    assert 0 <= index < outputs
    row = {"encoding": encoding, "domain": domain} | given(value)
    row |= {
        "random": data[: stream.consumed + 8].hex(),
        "consumed": stream.consumed,
        "outputs": ref.whole(outputs),
    }
    row["index"] = written(index, (outputs - 1).bit_length())
    return row | ({"comment": comment} if comment else {})


def long_values(bits):
    return [0, (1 << bits) - 1, 1 << bits - 1, number(f"long {bits}", 1 << bits)]


def segments():
    for bits, pieces in (
        (2, [(0, 1), (1, 1), (0, 2)]),
        (48, [(0, 15), (0, 48), (15, 11), (47, 1), (16, 32)]),
        (63, [(0, 63), (31, 32)]),
        (64, [(0, 4), (0, 63), (0, 64), (1, 63), (32, 32), (31, 2)]),
        (65, [(0, 65), (1, 64), (0, 33), (64, 1), (0, 64)]),
        (160, [(0, 16), (0, 96), (0, 100), (0, 160), (33, 63), (96, 64), (31, 97)]),
        (480, [(0, 480), (200, 80), (479, 1)]),
    ):
        for start, length in pieces:
            encoding = {"kind": "segment", "bits": bits, "start": start, "length": length}
            yield encoding, bits_of(bits), long_values(bits)
    for start, length in ((0, 12), (0, 40), (8, 16)):
        encoding = {"kind": "segment", "bits": 40, "start": start, "length": length}
        yield encoding, texts_of(5), ["", "hello", "città", "東京"]
    yield (
        {"kind": "segment", "bits": 160, "start": 0, "length": 76},
        texts_of(20),
        ["", "https://example.org/", "x"],
    )


PAIRS = [[0, 1], [1], [2, 4, 6], [0, 6], [3]]
BASKETS = [[], [1], [0, 1], [6, 9], list(range(7)), [4, 2, 6], [5]]


def counted():
    domain = sets_of(integers(0, 6))
    for length in (1, 2, 5, 65536):
        yield {"kind": "sample", "items": 7, "length": length, "among": []}, domain, BASKETS
    for length in (1, 3):
        yield {"kind": "sample", "items": 7, "length": length, "among": PAIRS}, domain, BASKETS
    many = {"kind": "sample", "items": 1 << 31, "length": 4, "among": []}
    yield many, sets_of(integers(-1, (1 << 31) - 2)), [[], [-1], [5, 1 << 30, 7], list(range(20))]
    for among in ([], PAIRS, [[6]]):
        yield {"kind": "size", "items": 7, "among": among}, domain, BASKETS
    yield (
        {"kind": "size", "items": 7, "among": []},
        sets_of(CATEGORIES),
        [[], ["citta\u0300", "città"], FRUIT],
    )
    for item in (0, 1, 6):
        yield {"kind": "holds", "items": 7, "item": item}, domain, BASKETS
    yield (
        {"kind": "holds", "items": 1 << 31, "item": 6},
        sets_of(integers(-1, (1 << 31) - 2)),
        [[], [5], [6]],
    )


def scripted():
    """Streams at the edges: the last place of the set and the first beyond it, words that are
    rejected.
    """
    three, everything = [0, 4, 5], list(range(7))
    padded = {"kind": "sample", "items": 7, "length": 5, "among": []}
    for place, comment in (
        (0, "the first item"),
        (2, "the last item"),
        (3, "the first dummy"),
        (4, "a dummy"),
    ):
        for dummy in (0, 4):
            yield (
                padded,
                three,
                pack("<2I", word_for(place, 5), word_for(dummy, 5)),
                f"{comment}; dummy {dummy}",
            )
    reject, accept = edge_words(5)
    yield (
        padded,
        three,
        pack("<4I", 0, reject, accept, 0),
        "two words of the place and one of the dummy are rejected",
    )
    yield (
        padded,
        [],
        pack("<5I", 7, 0, reject, 0, accept),
        "an empty set: words of the dummy are rejected",
    )
    cut = {"kind": "sample", "items": 7, "length": 2, "among": []}
    for place in (0, 2, 6):
        yield (
            cut,
            everything,
            pack("<2I", word_for(place, 7), 5),
            "a set longer than the padding is sampled as it is",
        )
    reject, accept = edge_words(7)
    yield (
        cut,
        everything,
        pack("<4I", reject, 0, accept, 5),
        "the limit is that of the set: two words are rejected",
    )
    sets = {"kind": "sample", "items": 7, "length": 2, "among": PAIRS}
    for place in range(5):
        yield (
            sets,
            everything,
            pack("<2I", word_for(place, 5), 5),
            "every candidate is held: sampled as it is",
        )
    yield sets, [0, 1], pack("<2I", word_for(1, 2), 5), "the second of two candidates"
    yield (
        sets,
        [2, 4],
        pack("<2I", word_for(0, 2), word_for(1, 2)),
        "two parts of a candidate are none of it",
    )


def misfits():
    for encoding, domain, comment in (
        ({"kind": "segment", "bits": 48, "start": 0, "length": 4}, bits_of(47), "another length"),
        ({"kind": "segment", "bits": 48, "start": 0, "length": 4}, texts_of(5), "another length"),
        (
            {"kind": "segment", "bits": 40, "start": 0, "length": 4},
            sets_of(CATEGORIES),
            "a set has no bits",
        ),
        (
            {"kind": "segment", "bits": 3, "start": 0, "length": 2},
            integers(0, 7),
            "whole numbers have no bits here",
        ),
        (
            {"kind": "sample", "items": 8, "length": 2, "among": []},
            sets_of(CATEGORIES),
            "another number of items",
        ),
        (
            {"kind": "sample", "items": 7, "length": 2, "among": []},
            CATEGORIES,
            "one category is no set",
        ),
        ({"kind": "size", "items": 6, "among": []}, sets_of(CATEGORIES), "another number of items"),
        ({"kind": "holds", "items": 8, "item": 0}, sets_of(CATEGORIES), "another number of items"),
        ({"kind": "holds", "items": 48, "item": 0}, bits_of(48), "bits are no items"),
        ({"kind": "attribute", "column": 0}, sets_of(CATEGORIES), "a set has no attributes"),
    ):
        yield {"encoding": encoding, "domain": domain, "comment": comment}


def malformed():
    for family, good, changes in (
        ("domain", bits_of(48), [("bits", value) for value in (1, 0, -5, 481, "48", True, None)]),
        ("domain", texts_of(5), [("length", value) for value in (0, 61, -1, "5", True)]),
        ("domain", texts_of(5), [("whole", value) for value in (0, 1, "false", None)]),
        ("domain", sets_of(CATEGORIES), [("items", value) for value in no_items()]),
        (
            "encoding",
            {"kind": "segment", "bits": 48, "start": 8, "length": 8},
            [
                ("start", 48),
                ("start", 41),
                ("start", -1),
                ("length", 0),
                ("length", 41),
                ("length", "8"),
                ("bits", 15),
                ("bits", "48"),
                ("start", True),
            ],
        ),
        (
            "encoding",
            {"kind": "sample", "items": 7, "length": 3, "among": [[0, 2], [1]]},
            [("length", value) for value in (0, 65537, -1, "3", True)]
            + [("items", 1), ("items", 2), ("items", "7")]
            + [("among", value) for value in no_candidates()],
        ),
        (
            "encoding",
            {"kind": "size", "items": 7, "among": [[0, 2], [1]]},
            [("items", 0), ("items", 2), ("length", 3)]
            + [("among", value) for value in no_candidates()],
        ),
        (
            "encoding",
            {"kind": "holds", "items": 7, "item": 3},
            [("item", 7), ("item", -1), ("item", "3"), ("items", 3), ("items", 0), ("among", [])],
        ),
    ):
        yield {"family": family, "document": good, "accepted": True}
        for name, value in changes:
            yield {"family": family, "document": good | {name: value}, "accepted": False}
        yield {"family": family, "document": good | {"extra": 1}, "accepted": False}
        for name in good:
            yield {"family": family, "document": without(good, name), "accepted": False}


def no_items():
    shy = {"kind": "categories", "labels": ["a", "prefer not to say"], "declinable": True}
    numbers = {"kind": "numbers", "low": "0.0", "high": "1.0", "points": 5, "clamped": False}
    return [shy, numbers, bits_of(8), texts_of(2), sets_of(CATEGORIES), integers(4, 4), FRUIT, None]


def no_candidates():
    return [
        [[]],
        [[2, 0]],
        [[1, 1]],
        [[0, 7]],
        [[-1]],
        [[1], [1]],
        [[0, 2], [1], [0, 2]],
        [["1"]],
        [1],
        [[True]],
        None,
    ]


def sampled(length, items=7, among=()):
    return {
        "kind": "sample",
        "items": items,
        "length": length,
        "among": [list(one) for one in among],
    }


def question_rows():
    """A device accepts what spends at most epsilon end to end, whatever is stated inside."""
    for asked, comment in (*amplified(), *plain_questions()):
        ratio = ref.end_to_end(asked)
        row = {
            "question": asked,
            "ratio": str(ratio),
            "accepted": ref.spends_at_most(ratio, asked["epsilon"]),
        }
        yield row | {"comment": comment}


def amplified():
    for epsilon, length, items in (
        ("0.1", 1, 7),
        ("1.0", 1, 7),
        ("1.0", 2, 7),
        ("1.0", 5, 7),
        ("0.5", 40, 1000),
        ("2.0", 3, 100000),
        ("4.0", 65536, 7),
        ("1.0986122886681098", 16, 20),
    ):
        keep = ref.keep_sampled(epsilon, items + length, length)
        for step in (-1, 0, 1):
            inner = ref.mechanism("grr", "20.0", items + length, keep=str(keep + step))
            said = (
                "one step too high"
                if step > 0
                else "exactly at epsilon"
                if not step
                else "one step below"
            )
            yield question(inner, encoding=sampled(length, items)) | {"epsilon": epsilon}, said
    for kind in ("olh", "affine", "oue", "hadamard", "subset", "blh"):
        inner = ref.mechanism(kind, "2.2603", 12)
        yield question(inner, encoding=sampled(5)), f"{kind}, stated as it is"
        yield (
            question(inner, encoding=sampled(5)) | {"epsilon": "2.26"},
            f"{kind} gains nothing by sampling",
        )
        yield (
            question(inner, encoding=sampled(5)) | {"epsilon": "1.0"},
            f"{kind} gains nothing by sampling",
        )
    inner = ref.mechanism("grr", "2.26", 12)
    yield (
        question(inner, encoding=sampled(5)) | {"epsilon": "1.0"},
        "the inner epsilon of the literature, rounded down",
    )
    yield question(inner, encoding=sampled(4)) | {"epsilon": "1.0"}, "a shorter set hides less"
    yield question(inner) | {"epsilon": "1.0"}, "without sampling nothing is hidden"
    yield question(inner, encoding=sampled(5, 7, PAIRS)) | {"epsilon": "1.0"}, "sets as candidates"
    yield question(inner, encoding=sampled(5)) | {"epsilon": "20.0"}, "stated higher than it is"


def plain_questions():
    """Encodings without draws hide nothing."""
    for encoding, size in (
        ({"kind": "segment", "bits": 48, "start": 0, "length": 2}, 4),
        ({"kind": "size", "items": 7, "among": []}, 8),
        ({"kind": "holds", "items": 7, "item": 3}, 2),
    ):
        asked = question(ref.mechanism("grr", "1.0", size), encoding=encoding)
        yield asked, f"{encoding['kind']}, as stated"
        yield asked | {"epsilon": "0.9999999999999999"}, f"{encoding['kind']} hides nothing"


def each_item(items, among=(), weights=(), epsilon="1.0", kind="grr"):
    family = {
        "kind": "each_item",
        "mechanism": ref.mechanism(kind, epsilon, 2),
        "items": items,
        "among": list(among),
    }
    return {"kind": "choice", "members": family, "weights": list(weights)}


def pick_rows():
    uneven = [1 + number(f"weight {place}", 1000) for place in range(24)]
    for ask in (
        each_item(7),
        each_item(7, [6, 0, 3]),
        each_item(7, [6, 0, 3], [1, 5, 1000]),
        each_item(7, [4]),
        each_item(24, (), uneven, "0.5", "hadamard"),
        each_item((1 << 31) + 1),
    ):
        weights = ref.weights_of(ask) if ask["members"]["items"] < 1 << 20 else None
        for coin in coins_of(ask, weights):
            member = ref.pick(weights, coin) if weights else coin * ask["members"]["items"] >> 64
            asked = ref.member_of(ask["members"], member)
            yield {"ask": ask, "coin": str(coin), "member": member, "question": asked}


def coins_of(ask, weights):
    found = {0, (1 << 64) - 1, HALF} | {
        number(f"pick {ref.canonical(ask)} {place}", 1 << 64) for place in range(3)
    }
    if weights:
        edge = -(-(weights[0] << 64) // sum(weights))
        found |= {edge - 1, min(edge, (1 << 64) - 1)}
    return sorted(found)


def pem(name, domain, epsilon, *, top=16, groups, threshold="0.0", **more):
    """The opening round of the prefix extending method: group i reports its first s_i bits."""
    bits = size_in_bits(domain)
    kept = max(top if threshold == "0.0" else int(1 / float(threshold)), 2)
    first = (kept - 1).bit_length()
    lengths = [first + -(-step * (bits - first) // groups) for step in range(1, groups + 1)]
    members = [
        question(
            ref.mechanism("affine_prefix", epsilon, 1 << length), encoding=prefix(bits, length)
        )
        for length in lengths
    ]
    plan = {"kind": "pem", "top": top, "threshold": threshold, "groups": groups, "queries": 1 << 20}
    return task(
        name, plan, domain, {"kind": "choice", "members": members, "weights": []}, epsilon, **more
    )


def prefix(bits, length):
    return {"kind": "segment", "bits": bits, "start": 0, "length": length}


def svim(name, items, epsilon, top, **more):
    """The opening round of set-value item mining: one item of everybody's set, or how many of few
    items they have.
    """
    size = (
        len(items["labels"]) if items["kind"] == "categories" else items["high"] - items["low"] + 1
    )
    if size > 2 * top:
        direct = size < 3 * e ** float(epsilon) + 1
        inner = ref.mechanism("grr" if direct else "affine", epsilon, size + 1)
        asked, share = question(inner, encoding=sampled(1, size)), 50
    else:
        every = [[item] for item in range(size)]
        counts = {"kind": "size", "items": size, "among": every}
        asked, share = question(ref.best_mechanism(epsilon, size + 1), encoding=counts), 10
    plan = {"kind": "svim", "top": top, "paper": False}
    made = task(name, plan, sets_of(items), asked, epsilon, **more)
    # What the rounds after it may be: how many of the candidates, and which one of them.
    made["rounds"] = {"kind": "roundlimits", "count": 3 if size > 2 * top else 2, "width": 10}
    made["rounds"] |= {"mechanisms": ["affine", "grr"], "encodings": ["sample", "size"]}
    return changed(made, "opening", "high", ref.whole((share << 64) // 100))


def words(count):
    return {
        "kind": "categories",
        "labels": [f"item {place}" for place in range(count)],
        "declinable": False,
    }


def tasks():
    yield pem("new words", texts_of(5), "2.0", top=4, groups=3), "the most frequent texts"
    yield pem("addresses", bits_of(48), "1.0", groups=4), "values of 48 bits"
    yield pem("new words", texts_of(10, whole=True), "4.0", groups=5), "longer texts are refused"
    yield (
        pem("keys", bits_of(70), "1.0", top=8, groups=6, threshold="0.01"),
        "all above a share; prefixes up to 70 bits",
    )
    yield (
        pem("bytes", bits_of(8), "1.0", top=2, groups=1, declares=["subject"]),
        "one group, with subjects",
    )
    yield svim("basket", words(12), "1.0", 4), "items are narrowed down first, by hashing"
    yield svim("fruit", CATEGORIES, "2.0", 1), "few items: direct response"
    yield svim("fruit", CATEGORIES, "2.0", 4), "so few that sizes are asked first"
    yield svim("channels", integers(5, 8), "1.0", 2, declares=["subject"]), "items that are numbers"


def refused_rows():
    for changed_task, comment in broken():
        for reader in BOTH:
            yield {"reader": reader, "text": ref.canonical(changed_task), "comment": comment}


def broken():
    words_, fruit = (
        pem("new words", texts_of(5), "2.0", top=4, groups=3),
        svim("fruit", CATEGORIES, "2.0", 1),
    )
    yield changed(words_, "domain", "length", 61), "a text too long"
    yield changed(words_, "domain", "extra", 1), "an unknown field of the domain"
    yield changed(fruit, "domain", "items", bits_of(8)), "items are categories or whole numbers"
    yield (
        in_question(fruit, "epsilon", "1.9"),
        "direct response over sets padded to one hides nothing",
    )
    yield in_question(fruit, "encoding", sampled(0)), "padded to at least one"
    yield in_question(fruit, "encoding", {"kind": "each_item"}), "a family is no encoding"
    good = each_item(7, [6, 0, 3], [1, 5, 1000], "2.0")
    for name, value, comment in (
        ("items", 0, "no items"),
        ("items", 6, "an item that there is not"),
        ("items", "7", "integers below 2^53 are numbers"),
        ("among", [1, 1, 2], "an item twice"),
        ("among", [-1, 2, 3], "an item that there is not"),
        ("among", [1, 2], "a weight for every item"),
        ("among", [], "a weight for every item"),
        ("mechanism", ref.mechanism("grr", "2.0", 3), "yes or no"),
        (
            "mechanism",
            ref.mechanism("grr", "2.0", 2) | {"keep": str((1 << 64) - 1)},
            "spends more than it states",
        ),
        ("kind", "holds", "an encoding is no family"),
        ("kind", "grr", "a mechanism is no family"),
        ("extra", 1, "an unknown field of the family"),
    ):
        family = good["members"] | {name: value}
        yield changed(fruit, "opening", "ask", good | {"members": family}), comment
    for name in good["members"]:
        family = without(good["members"], name)
        yield (
            changed(fruit, "opening", "ask", good | {"members": family}),
            f"{name} is always written",
        )
    yield (
        changed(fruit, "opening", "ask", each_item(1 << 32, epsilon="2.0")),
        "2^32 members or more",
    )
    yield (
        changed(fruit, "opening", "ask", each_item(7, epsilon="2.5")),
        "a family costs what its mechanism does",
    )
    bundle = {"kind": "bundle", "parts": good["members"]}
    yield changed(fruit, "opening", "ask", bundle), "a bundle has no families"


def message_rows():
    for content, values in (
        (
            pem("new words", texts_of(5), "2.0", top=4, groups=3),
            ["", "hello", "citta\u0300", "東京", "hello, world"],
        ),
        (pem("keys", bits_of(70), "1.0", top=2, groups=4), [0, 5, (1 << 70) - 1, 1 << 69, 1 << 40]),
        (pem("bytes", bits_of(8), "1.0", top=2, groups=1, declares=["subject"]), [0, 255]),
        (
            svim("basket", words(12), "1.0", 4),
            [[], ["item 7"], ["item 11", "item 0", "nothing"], words(12)["labels"]],
        ),
        (svim("fruit", CATEGORIES, "2.0", 1), [[], ["fig", "fig"], FRUIT]),
        (svim("fruit", CATEGORIES, "2.0", 4), [[], ["citta\u0300", "kiwi"], FRUIT]),
        (
            svim("channels", integers(5, 8), "1.0", 2, declares=["subject"]),
            [[], [8, 5, 4], [5, 6, 7, 8]],
        ),
    ):
        for place, value in enumerate(values):
            yield asked_row(content, None, place, value)
    yield from later_rows()


def later_rows():
    """Rounds that plans ask later, or other plans ask first."""
    fruit = svim("fruit", CATEGORIES, "2.0", 1)
    linked = svim("fruit", CATEGORIES, "2.0", 1, declares=["subject"])
    inner = ref.mechanism("grr", "20.0", 8, keep=str(ref.keep_sampled("2.0", 8, 3)))
    which = question(inner, encoding=sampled(3, 7, PAIRS)) | {"epsilon": "2.0"}
    several = question(
        ref.mechanism("olh", "2.0", 8), encoding={"kind": "size", "items": 7, "among": PAIRS}
    )
    cheap = each_item(7, [2, 0, 5], [1, 2, 3], "1.0")
    families = {"kind": "bundle", "parts": [cheap, each_item(7, epsilon="1.0")]}
    for place, value in enumerate(([], ["apple", "fig"], FRUIT)):
        yield asked_row(fruit, round_(1, which, HALF), place, value)
        yield asked_row(fruit, round_(2, several), place, value)
        yield asked_row(fruit, round_(3, each_item(7, epsilon="2.0")), place, value)
        yield asked_row(fruit, round_(4, each_item(7, [6, 1], [1, 9], "2.0", "sue")), place, value)
        yield asked_row(linked, round_(5, families, 0, HALF), place, value)
    pair = [{"kind": "segment", "bits": 40, "start": start, "length": 20} for start in (0, 20)]
    halves = {
        "kind": "bundle",
        "parts": [question(ref.mechanism("olh", "1.0", 1 << 20), encoding=one) for one in pair],
    }
    for place, value in enumerate(("", "hello", "東京")):
        content = pem("new words", texts_of(5), "2.0", top=4, groups=3, declares=["subject"])
        yield asked_row(content, round_(1, halves), place, value)


def asked_row(content, asked, place, value):
    """Return the row of the first device, of some numbered ones, that the round asks."""
    index, share = ref.held_index(content["domain"], value), asked or content["opening"]
    while True:
        row = message_row(content, asked, place, value, index)
        coin = ref.task_coin(bytes.fromhex(row["secret"]), ref.digest(row["task"]))
        if int(share["low"]) <= coin < int(share["high"]):
            return without(row, "value") | given(value)
        place += 100


def lasting_rows():
    """Tasks that ask again: what a draw hides once shows in several responses."""
    inner = ref.mechanism("grr", "20.0", 12, keep=str(ref.keep_sampled("1.0", 12, 5)))
    asked = question(inner, encoding=sampled(5)) | {"epsilon": "1.0"}
    whole = question(ref.mechanism("grr", "1.0", 12), encoding=sampled(5))
    for ask, accepted, comment in (
        (asked, False, "sampling hides one response, not two of one device"),
        ({"kind": "choice", "members": [asked, asked], "weights": []}, False, "nor as a member"),
        (whole, True, "each response spends no more than it states"),
    ):
        content = task("fruit", {"kind": "unread"}, sets_of(CATEGORIES), ask, "2.0") | {
            "distinct": 2
        }
        yield {"task": content, "value": ["fig"], "accepted": accepted, "comment": comment}

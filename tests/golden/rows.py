"""Which vectors there are: every file's rows, computed by the reference and written one to a
line.
"""

import json
from math import gcd, inf, nextafter
from struct import pack

from golden import reference as ref

EPSILONS = (
    "0.1",
    "0.25",
    "0.5",
    "1.0",
    "1.0986122886681098",
    "2.0",
    "3.5",
    "5.0",
    "8.0",
    "12.0",
    "20.0",
)
U64 = (0, 1, 0xFFFFFFFF, 1 << 32, 1 << 63, 0x0123456789ABCDEF, (1 << 64) - 1)


def write(directory, *more):
    """Write every file that the reference makes."""
    shared = (
        task_id,
        hashes,
        thresholds,
        perturb,
        choice,
        envelope,
        envelope_2,
        decode,
        reject,
        memo,
        numbers,
    )
    for make in (*shared, longitudinal, ledger, *more):
        name, content = make()
        (directory / name).write_text(laid_out(content), encoding="ascii", newline="\n")


def laid_out(content):
    """Write a document with one row of a section to a line."""
    entries = []
    for key, value in content.items():
        if isinstance(value, list):
            written = "[\n" + ",\n".join("  " + json.dumps(row) for row in value) + "\n ]"
        else:
            written = json.dumps(value)
        entries.append(f" {json.dumps(key)}: {written}")
    return "{\n" + ",\n".join(entries) + "\n}\n"


def number(label, limit):
    """Return an integer below the limit that the label fixes."""
    return int.from_bytes(ref.sha_stream("number " + label, 80), "little") % limit


def task_id():
    about = (
        "documents: content -> its canonical text -> SHA-256 of it, first 16 bytes, as hex and "
        "base64url. "
        "texts: JSON texts that are read, and the canonical text of what they say. tasks: whole "
        "task documents, which "
        "collector and device both read. refused: texts that the named reader (parse, task: the "
        "collector's, notice: "
        "the device's) must refuse."
    )
    documents = [named(content, comment) for content, comment in plain_documents()]
    texts = [
        {"text": text, "canonical": ref.canonical(json.loads(text)), "comment": comment}
        for text, comment in (
            (
                ' { "b" : 1 , "a" : [ 1 , 2 ] }\n',
                "white space and key order do not matter to the reader",
            ),
            ('{"a":"\\u00e9\\u0041\\/"}', "escapes that are not needed are not written"),
            ('{"a":"\\ud83d\\ude00"}', "a surrogate pair is one character"),
            ('{"a":-0}', "minus zero is the integer 0"),
            ('{"a":"\\u2028\\u2029\\u007f"}', "line separators and DEL are written raw"),
            ('{"a":9007199254740991}', "the largest integer that travels as a number"),
        )
    ]
    tasks = [named(task, comment) for task, comment in all_tasks()]
    return "task_id.json", {
        "about": about,
        "version": 1,
        "documents": documents,
        "texts": texts,
        "tasks": tasks,
        "refused": refused_documents(),
    }


def named(content, comment):
    return {
        "content": content,
        "canonical": ref.canonical(content),
        "digest": ref.digest(content),
        "digest_hex": ref.digest_bytes(content).hex(),
        "comment": comment,
    }


def plain_documents():
    yield {}, "an empty object"
    yield (
        {"b": 1, "a": [1, 2, {"d": True, "c": None}]},
        "keys are sorted at every depth, lists keep their order",
    )
    yield (
        {"B": 1, "a": 2, "_": 3, "0": 4, "10": 5, "9": 6, "aa": 7, "": 8},
        "keys by code point, not by number or case",
    )
    yield {"\uff5e": 1, "\U0001f600": 2}, "by code point, which is not the order of UTF-16 units"
    yield {"\u00e9": 1, "e": 2, "z": 3, "\u4e2d": 4}, "keys outside ASCII"
    yield {"a": 'quote " backslash \\ slash / tab \t newline \n return \r'}, "escapes with a letter"
    yield (
        {"a": "\x00\x01\x08\x0b\x0c\x1f\x7f"},
        "escapes with a number, in lower case; DEL is not escaped",
    )
    yield {"a": "\u2028\u2029\u00a0\ufeff"}, "separators and spaces are not escaped"
    yield (
        {"a": "Zürich, Łódź, 東京, \U0001f1e8\U0001f1ed, \u0645\u0631\u062d\u0628\u0627"},
        "text is UTF-8",
    )
    yield {"a": [-1, 0, 9007199254740991, -9007199254740991]}, "integers below 2^53 are numbers"
    yield {"a": "18446744073709551616"}, "larger ones are strings"
    yield {"a": [[], {}, [[]], ""]}, "empty things"
    yield {"a": [True, False, None, "true", 1]}, "constants"


def all_tasks():
    labels = ["chrome", "firefox", "safari", "other"]
    yield histogram("browser", labels, "1.0"), "the newcomer's task"
    yield histogram("browser", labels[::-1], "1.0"), "another order of labels is another task"
    yield histogram("browser", labels, "2.0"), "another epsilon is another task"
    yield (
        histogram("browser", labels, "1.0", declares=["subject", "public"]),
        "optional fields are declared",
    )
    unicode = ["Zürich", "Łódź", "東京", "\U0001f600", 'a "quoted" label', "tab\there"]
    description = "Wo wohnen Sie? \U0001f3e0"
    yield histogram("città", unicode, "0.5", description=description), "labels in Unicode"
    declined = [*labels, "prefer not to say"]
    yield (
        histogram("declinable", declined, "1.0", declinable=True),
        "a category for those who do not want to say",
    )
    yield ages("ages", 0, 119, "1.0"), "whole numbers, affine response"
    yield ages("altitude", -500, 8848, "3.0"), "negative numbers"
    for kind in ("oue", "sue", "the", "blh", "olh", "rmp", "hadamard", "subset", "affine", "bloom"):
        yield (
            histogram("by name", [f"label {place}" for place in range(20)], "1.0", kind=kind),
            f"mechanism {kind}",
        )
    yield survey("household", [1, 3], "1.0"), "a choice with weights"
    yield (
        survey("household", [], "0.30000000000000004"),
        "a choice without weights; epsilon as its shortest decimal",
    )
    yield mean("body temperature", "30.0", "45.0", "1.0"), "the mean of a number; hybrid"
    yield mean("body temperature", "30.0", "45.0", "0.5"), "a hybrid without Piecewise: alpha is 0"
    yield (
        mean("body temperature", "30.0", "45.0", "1.0", clamped=True),
        "numbers outside are moved to an end",
    )
    for kind in ("duchi", "piecewise"):
        yield mean("balance", "-1000.0", "1e+16", "2.0", kind=kind), f"the mean of a number; {kind}"
    for epsilon, comment in (("0.5", "Duchi's mechanism alone"), ("4.0", "a wider window")):
        yield wide_mean("wide_hybrid", epsilon), f"a hybrid of least worst variance: {comment}"
    yield wide_mean("wide_piecewise", "4.0"), "a piecewise mechanism of least worst variance"
    yield (
        mean("tiny", "-1e-05", "5e-324", "1.0", points=2),
        "the shortest decimals that give the same doubles",
    )
    yield distribution("income", "0.0", "250000.0", 512, "1.0"), "the distribution of a number"
    yield (
        distribution("income", "0.0", "250000.0", 512, "1.0", clamped=True),
        "numbers outside are moved to an end",
    )
    yield (
        distribution("income", "-0.1", "0.30000000000000004", 2, "20.0"),
        "two buckets, a reach of 0",
    )
    yield graded("income", "2.0", 128), "graded groups: a choice of bundles of up to 32 reports"
    yield graded("income", "0.3", 16), "graded groups; the budget is no multiple of the probe"
    rule = "least variance"
    for size, comment in ((4, "GRR"), (20, "subset selection"), (100, "affine response")):
        places = [f"label {place}" for place in range(size)]
        yield histogram("by a rule", places, "1.0", kind=rule), f"the default rule: {comment}"
    yield ages("years", 0, 199_999, "10.0", kind=rule), "the default rule: 2^14 buckets"


POINTS = (1 << 20) + 1  # of the grid of a mean


def mean(name, low, high, epsilon, *, kind="hybrid", points=POINTS, clamped=False):
    domain = {"kind": "numbers", "low": low, "high": high, "points": points, "clamped": clamped}
    asked = question(ref.mechanism(kind, epsilon, points))
    return task(name, {"kind": "mean", "mechanism": kind}, domain, asked, epsilon)


def wide_mean(name, epsilon):
    """Return a task whose plan names a way to choose the window of a mechanism."""
    published = mean("body temperature", "30.0", "45.0", epsilon)
    plan = {"kind": "mean", "mechanism": name}
    asked = question(ref.WIDE[name](epsilon, POINTS))
    return task(published["name"], plan, published["domain"], asked, epsilon)


def distribution(name, low, high, count, epsilon, *, clamped=False):
    domain = {"kind": "buckets", "low": low, "high": high, "count": count, "clamped": clamped}
    return task(
        name,
        {"kind": "distribution"},
        domain,
        question(ref.mechanism("square_wave", epsilon, count)),
        epsilon,
    )


# How the groups of a graded task spend its epsilon: the epsilon of a report, and their number.
GRADES = {
    "2.0": [("2.0", 1), ("1.0", 2), ("0.5", 4), ("0.25", 8), ("0.125", 16), ("0.0625", 32)],
    "0.3": [("0.3", 1), ("0.15", 2), ("0.075", 4), ("0.0625", 4)],
}


def graded(name, epsilon, count):
    domain = {"kind": "buckets", "low": "0.0", "high": "1.0", "count": count, "clamped": False}
    members = []
    for part, reports in GRADES[epsilon]:
        asked = question(ref.mechanism("square_wave", part, count))
        members.append(asked if reports == 1 else {"kind": "bundle", "parts": [asked] * reports})
    plan = {"kind": "distribution", "defence": "graded", "probe": "0.0625"}
    ask = {"kind": "choice", "members": members, "weights": []}
    return task(name, plan, domain, ask, epsilon)


def histogram(name, labels, epsilon, *, kind="", declinable=False, **more):
    domain = {"kind": "categories", "labels": labels, "declinable": declinable}
    chosen = mechanism_for(kind, epsilon, len(labels))
    return task(
        name, {"kind": "histogram", "mechanism": kind}, domain, question(chosen), epsilon, **more
    )


def mechanism_for(kind, epsilon, size):
    """Return the mechanism of a kind, of a rule, or of a document that names neither."""
    if kind == "least variance":
        return ref.default_mechanism(epsilon, size)
    return ref.mechanism(kind, epsilon, size) if kind else ref.best_mechanism(epsilon, size)


def ages(name, low, high, epsilon, *, kind="", **more):
    domain = {"kind": "integers", "low": low, "high": high}
    chosen = mechanism_for(kind, epsilon, high - low + 1)
    return task(
        name, {"kind": "histogram", "mechanism": kind}, domain, question(chosen), epsilon, **more
    )


def survey(name, weights, epsilon, **more):
    attributes = [
        {"kind": "categories", "labels": ["flat", "house", "other"], "declinable": False},
        {"kind": "integers", "low": 0, "high": 400},
    ]
    members = [
        question(
            ref.best_mechanism(epsilon, size), encoding={"kind": "attribute", "column": column}
        )
        for column, size in enumerate((3, 401))
    ]
    domain = {"kind": "records", "names": ["home", "square metres"], "attributes": attributes}
    plan = {"kind": "survey", "weights": weights, "mechanism": ""}
    return task(
        name,
        plan,
        domain,
        {"kind": "choice", "members": members, "weights": weights},
        epsilon,
        **more,
    )


def question(mechanism, **more):
    return {"kind": "question", "mechanism": mechanism, "epsilon": mechanism["epsilon"]} | more


def round_(number, ask, low=0, high=1 << 64):
    return {
        "kind": "round",
        "number": number,
        "ask": ask,
        "low": ref.whole(low),
        "high": ref.whole(high),
    }


def task(name, plan, domain, ask, epsilon, *, description="", declares=()):
    return {
        "kind": "task",
        "version": 1,
        "name": name,
        "description": description,
        "declares": list(declares),
        "epsilon": epsilon,
        "domain": domain,
        "plan": plan,
        "opening": round_(0, ask),
    }


def refused_documents():
    rows = [{"reader": "parse", "text": text, "comment": comment} for text, comment in unreadable()]
    for readers, changed, comment in broken_tasks():
        text = changed if isinstance(changed, str) else ref.canonical(changed)
        rows += [{"reader": reader, "text": text, "comment": comment} for reader in readers]
    return rows


def unreadable():
    yield '{"a":1.5}', "a floating-point number"
    yield '{"a":4850.0}', "a floating-point number that happens to be whole"
    yield '{"a":1e2}', "an exponent makes a floating-point number"
    yield '{"a":-0.0}', "minus zero as a floating-point number"
    yield '{"a":[{"b":[0.1]}]}', "a floating-point number deep inside"
    yield '{"a":NaN}', "not a number"
    yield '{"a":Infinity}', "not a number either"
    yield '{"a":-Infinity}', "not a number either"
    yield '{"a":1,"a":1}', "a key twice, even with the same value"
    yield '{"a":{"b":1,"c":2,"b":3}}', "a key twice, inside"
    yield '{"a":1,"\\u0061":2}', "a key twice, once escaped"
    yield "[1]", "a list is not a document"
    yield '"text"', "text is not a document"
    yield "1", "a number is not a document"
    yield "null", "nothing is not a document"
    yield "", "an empty text"
    yield '{"a":1', "cut"
    yield '{"a":1}{', "something left over"
    yield '{"a":1,}', "a trailing comma"
    yield "{'a':1}", "other quotes"
    yield '{"a":01}', "a leading zero"
    yield '{"a":+1}', "a plus sign"
    yield '{"a":"\t"}', "a control character that is not escaped"
    yield '{"a":"\\x41"}', "an unknown escape"
    yield '{"a":1}//', "a comment"


BOTH = ("task", "notice")


def broken_tasks():
    """Yield who must refuse what.  A device does not read the plan, so mistakes there are the
    collector's to find.
    """
    good = histogram("browser", ["chrome", "firefox", "safari", "other"], "1.0")
    yield BOTH, good | {"version": 2}, "a later version"
    yield BOTH, good | {"version": 0}, "version 0"
    yield BOTH, good | {"version": "1"}, "the version is a number"
    yield BOTH, without(good, "version"), "no version"
    yield BOTH, good | {"kind": "round"}, "another kind of document"
    yield BOTH, without(good, "kind"), "no kind"
    yield BOTH, without(good, "opening"), "no opening round"
    yield BOTH, without(good, "domain"), "no domain"
    yield BOTH, without(good, "plan"), "no plan"
    yield BOTH, without(good, "name"), "no name"
    yield BOTH, without(good, "description"), "no description: it is written even if empty"
    yield BOTH, without(good, "declares"), "no declarations: they are written even if empty"
    yield BOTH, good | {"name": "cafe\u0301"}, "a name that is not NFC"
    yield BOTH, good | {"description": "\u212b"}, "a description that is not NFC: the Angstrom sign"
    yield (
        BOTH,
        changed(good, "domain", "labels", ["a", "b", "c", "e\u0301"]),
        "a label that is not NFC",
    )
    yield BOTH, good | {"name": 7}, "a name is text"
    yield BOTH, good | {"epsilon": 1}, "epsilon is a decimal string"
    yield BOTH, good | {"epsilon": "one"}, "epsilon is a decimal string of digits"
    yield BOTH, good | {"epsilon": "0.0"}, "epsilon must be above 0"
    yield BOTH, good | {"epsilon": "-1.0"}, "epsilon must be above 0"
    yield BOTH, good | {"epsilon": "nan"}, "epsilon must be a number"
    yield BOTH, good | {"epsilon": "20.5"}, "epsilon is at most 20"
    yield BOTH, good | {"epsilon": "0.5"}, "the opening round spends more than the task states"
    yield BOTH, changed(good, "domain", "extra", 1), "an unknown field of the domain"
    yield BOTH, changed(good, "domain", "labels", ["a", "a", "b", "c"]), "a label twice"
    yield BOTH, changed(good, "domain", "kind", "sets"), "an unknown kind of domain"
    yield BOTH, changed(good, "domain", "declinable", 0), "declinable is true or false"
    yield BOTH, changed(good, "opening", "extra", 1), "an unknown field of the round"
    yield BOTH, changed(good, "opening", "low", "0"), "integers below 2^53 are numbers"
    yield BOTH, changed(good, "opening", "high", 1 << 64), "integers from 2^53 on are strings"
    yield (
        BOTH,
        changed(good, "opening", "high", "018446744073709551616"),
        "an integer has one spelling",
    )
    yield BOTH, changed(good, "opening", "high", "18446744073709551617"), "a share ends at 2^64"
    yield BOTH, changed(good, "opening", "high", 0), "a share is not empty"
    yield BOTH, changed(good, "opening", "number", 65536), "a round's number has 16 bits"
    yield BOTH, changed(good, "opening", "number", -1), "a round's number is not negative"
    yield BOTH, in_question(good, "extra", 1), "an unknown field of the question"
    yield (
        BOTH,
        in_question(good, "epsilon", "0.9"),
        "the mechanism spends more than the question states",
    )
    yield BOTH, in_question(good, "epsilon", "0.0"), "a question states what it spends"
    yield BOTH, in_question(good, "epsilon", "1.00"), "a decimal has one spelling, the shortest"
    yield BOTH, in_question(good, "encoding", None), "what is absent is not written"
    yield BOTH, in_mechanism(good, "extra", 1), "an unknown field of the mechanism"
    yield BOTH, in_mechanism(good, "kind", "xyz"), "an unknown mechanism"
    yield BOTH, in_mechanism(good, "kind", "../grr"), "a kind is a plain word"
    yield BOTH, in_mechanism(good, "size", "4"), "integers below 2^53 are numbers"
    yield BOTH, in_mechanism(good, "size", True), "a size is a number"
    yield BOTH, in_mechanism(good, "size", 1), "a domain has at least two values"
    yield from broken_choices(survey("household", [1, 3], "1.0"))
    yield BOTH, good | {"extra": 1}, "an unknown field"
    yield BOTH, good | {"epsilon": "1.00"}, "a decimal has one spelling, the shortest"
    yield BOTH, good | {"declares": ["location"]}, "a task may declare only what is known"
    yield BOTH, good | {"name": ""}, "a name is not empty"
    yield BOTH, good | {"name": "x" * 201}, "a name has at most 200 characters"
    yield BOTH, good | {"declares": ["subject", "subject"]}, "a field is declared once"
    yield BOTH, good | {"version": True}, "a version is a number"
    for spelling in ("1", "1e0", " 1.0", "1_0.0"):
        yield BOTH, good | {"epsilon": spelling}, "a decimal has one spelling, the shortest"
    yield (
        BOTH,
        ref.canonical(good).replace('"version":1', '"version":9007199254740993'),
        "2^53 and more are strings",
    )
    yield (
        BOTH,
        ref.canonical(good).replace('"name":"', '"name":"\\ud800'),
        "half of a surrogate pair",
    )
    yield ("task",), changed(good, "plan", "kind", "xyz"), "an unknown plan"
    yield ("task",), changed(good, "plan", "extra", 1), "an unknown field of the plan"
    yield ("task",), changed(good, "plan", "domain", good["domain"]), "the domain stands once"
    yield (
        ("task",),
        changed(good, "plan", "mechanism", "oue"),
        "the opening round is the one that the plan asks",
    )
    yield (
        BOTH,
        ref.canonical(good).replace('"epsilon":"1.0"', '"epsilon":1.0'),
        "a floating-point number",
    )
    yield BOTH, ref.canonical(good).replace('"size":4', '"size":4.0'), "a floating-point size"
    yield BOTH, ref.canonical(good).replace('"size":4', '"size":4,"size":4'), "a key twice"
    yield from broken_numbers(mean("body temperature", "30.0", "45.0", "1.0"), "points")
    yield from broken_numbers(distribution("body temperature", "30.0", "45.0", 256, "1.0"), "count")
    yield from broken_means(mean("body temperature", "30.0", "45.0", "1.0"))
    yield from broken_settings(good)


def broken_settings(good):
    """Rules that came with collectors."""
    shy = changed(
        changed(good, "domain", "declinable", True),
        "domain",
        "labels",
        ["a", "prefer not to say", "b", "c"],
    )
    yield BOTH, shy, "not wanting to say is the last label"
    yield BOTH, good | {"distinct": "1"}, "integers below 2^53 are numbers"
    yield BOTH, good | {"distinct": 0}, "a longitudinal task has at least one value"
    yield BOTH, good | {"distinct": 2}, "two responses cost twice as much as one"
    settings = {
        "crowd": 0,
        "enrolment": False,
        "grace": 60,
        "kind": "collection",
        "minimum": 50,
        "quota": 0,
    }
    settings |= {"retention": 90, "sandbox": False, "seconds": 0}
    yield BOTH, good | {"collection": settings | {"minimum": 1}}, "a crowd of one is a person"
    yield BOTH, good | {"collection": settings | {"crowd": 1}}, "a crowd of one is a person"
    yield BOTH, good | {"collection": settings | {"quota": 49}}, "a quota is not below the minimum"
    yield (
        BOTH,
        good | {"collection": settings | {"retention": 0}},
        "reports are kept for a day at least",
    )
    yield BOTH, good | {"collection": settings | {"grace": -1}}, "durations are not negative"
    yield BOTH, good | {"collection": settings | {"sandbox": 0}}, "a switch is true or false"
    yield BOTH, good | {"collection": settings | {"extra": 1}}, "an unknown field of the collection"
    yield BOTH, good | {"collection": without(settings, "grace")}, "all settings are written"
    yield BOTH, good | {"collection": None}, "what is absent is not written"


def broken_numbers(good, size):
    """Ranges that are none."""
    for name, value, comment in (
        ("low", "45.0", "a range is not empty"),
        ("low", "46.0", "low is below high"),
        ("low", "-inf", "bounds are finite"),
        ("high", "inf", "bounds are finite"),
        ("high", "nan", "a bound is a number"),
        ("low", 30, "a bound is a decimal string"),
        ("low", "30", "a decimal has one spelling, the shortest"),
        ("low", "30.00", "a decimal has one spelling, the shortest"),
        ("high", "4.5e1", "a decimal has one spelling, the shortest"),
        ("low", "", "a bound is a number"),
        (size, 1, "at least two"),
        (size, 0, "at least two"),
        (size, "256", "integers below 2^53 are numbers"),
        (size, True, "how many is a number"),
        ("clamped", 0, "clamped is true or false"),
        ("clamped", "false", "clamped is true or false"),
        ("extra", 1, "an unknown field of the domain"),
    ):
        yield BOTH, changed(good, "domain", name, value), comment
    for name in ("low", "high", size, "clamped"):
        yield (
            BOTH,
            good | {"domain": without(good["domain"], name)},
            f"no {name}: it is always written",
        )
    more = changed(good, "domain", size, good["domain"][size] + 1)
    yield (
        ("task",),
        more,
        "more indices than the mechanism serves: a device finds out when it is asked",
    )
    other = {"points": "count", "count": "points"}[size]
    renamed = without(good["domain"], size) | {other: good["domain"][size]}
    yield BOTH, good | {"domain": renamed}, "numbers have points, buckets have a count"


def broken_means(good):
    yield (
        ("task",),
        changed(good, "plan", "mechanism", "duchi"),
        "the opening round is the one that the plan asks",
    )
    yield (
        ("task",),
        changed(good, "plan", "mechanism", "grr"),
        "a mechanism that does not randomise numbers",
    )
    yield ("task",), changed(good, "plan", "mechanism", ""), "a mean names its mechanism"
    yield (
        ("task",),
        changed(wide_mean("wide_hybrid", "4.0"), "plan", "mechanism", "hybrid"),
        "the opening round has the window of a wide hybrid, and the plan names the usual one",
    )
    yield ("task",), changed(good, "plan", "low", "30.0"), "the range stands in the domain"
    yield (
        ("task",),
        good | {"plan": {"kind": "distribution"}},
        "the opening round is the one that the plan asks",
    )
    for name, value, comment in (
        ("alpha", "0", "alpha is 0 only where it is computed so"),
        ("alpha", str(1 << 64), "certain, not random"),
        ("alpha", 7258228221132386316, "a threshold is a string"),
        ("cells", 1, "at least two cells"),
        ("cells", 65537, "at most 2^16 cells"),
        ("window", 4096, "a window leaves out at least one cell"),
        ("window", 0, "a window is always written"),
        ("reach", 0, "a field of another mechanism"),
    ):
        yield BOTH, in_mechanism(good, name, value), comment


def broken_choices(good):
    first, second = good["opening"]["ask"]["members"]
    nested = {"kind": "choice", "members": [first, second], "weights": []}
    bundle = {"kind": "bundle", "parts": [nested]}
    for name, value, comment in (
        ("weights", [1], "a weight for every member"),
        ("weights", [1, 0], "weights are positive"),
        ("weights", [1, "3"], "weights are numbers"),
        ("weights", [1 << 31, 1 << 31], "weights sum to less than 2^32"),
        ("members", [], "a choice has members"),
        ("members", [first, nested], "a choice is no member of a choice"),
        ("members", [first, bundle], "choices and bundles nest once"),
        ("members", [first, {"kind": "bundle", "parts": []}], "a bundle has parts"),
        (
            "members",
            [first, second | {"encoding": {"kind": "attribute"}}],
            "an attribute has a column",
        ),
        ("members", [first, second | {"encoding": {"kind": "xyz"}}], "an unknown encoding"),
        ("members", {"kind": "xyz"}, "an unknown family"),
    ):
        yield BOTH, in_question(good, name, value), comment
    yield (
        BOTH,
        changed(good, "opening", "ask", without(good["opening"]["ask"], "weights")),
        "weights are always written",
    )
    price = {"kind": "bundle", "parts": [first, second]}
    yield BOTH, changed(good, "opening", "ask", price), "a bundle spends the sum of its parts"


def without(content, key):
    return {name: value for name, value in content.items() if name != key}


def changed(content, part, key, value):
    return content | {part: content[part] | {key: value}}


def in_question(content, key, value):
    return changed(content, "opening", "ask", content["opening"]["ask"] | {key: value})


def in_mechanism(content, key, value):
    return in_question(content, "mechanism", content["opening"]["ask"]["mechanism"] | {key: value})


def hashes():
    about = (
        "xxh32: 32-bit words (each hashed as 4 little-endian bytes), seed -> hash; bucket = hash * "
        "buckets >> 32. "
        "words: a value of a domain of so many bits -> its words, low word first. "
        "affine: seed, value -> pi(value) (groups: widths of bit groups, least significant first; "
        "permuted false: the "
        "identity), masks and offsets (bit r of the integer belongs to mask r), hash. Values, "
        "points and masks are "
        "32-bit words, low word first. See also affine.json."
    )
    content = {
        "about": about,
        "version": 1,
        "xxh32": list(xxh32_rows()),
        "words": list(word_rows()),
    }
    return "hash.json", content | {"affine": list(affine_rows())}


def xxh32_rows():
    published = (0, 0), (1, 0), (0, 1), (123456, 0xDEADBEEF), (0xFFFFFFFF, 0xFFFFFFFF)
    for index, seed in published:
        yield xxh32_row([index], seed, 55) | {
            "comment": "published with the contract between languages"
        }
    extremes = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
    for word in extremes:
        for seed in extremes:
            yield xxh32_row([word], seed, 1 << 20)
    for length in (1, 2, 3, 4, 5, 8, 9):
        for word in (0, 0x80000000, 0xFFFFFFFF):
            yield xxh32_row([word] * length, 0xFFFFFFFF - word, 3)
    ranges = (1, 2, 3, 4, 55, 256, 1000, 65535, 65536, 65537, (1 << 20) - 1, 1 << 20)
    for length, count in ((1, 600), (2, 250), (5, 150)):
        for place in range(count):
            label = f"xxh32 {length} {place}"
            words = [number(f"{label} {word}", 1 << 32) for word in range(length)]
            yield xxh32_row(words, number(label, 1 << 32), ranges[place % len(ranges)])


def xxh32_row(words, seed, buckets):
    hashed = ref.xxh32(words, seed)
    return {
        "words": words,
        "seed": seed,
        "hash": hashed,
        "buckets": buckets,
        "bucket": ref.bucket(hashed, buckets),
    }


def word_rows():
    for bits in (1, 8, 31, 32, 33, 40, 62, 63):
        for value in sorted(
            {0, 1, (1 << bits) - 1, 1 << bits - 1, number(f"words {bits}", 1 << bits)}
        ):
            yield {"bits": bits, "value": ref.whole(value), "words": ref.words_of(value, bits)}


def affine_rows():
    shapes = [
        (bits, rank, ())
        for bits in (2, 3, 4, 8, 16, 31, 32, 33, 40, 63)
        for rank in (1, 2, 5, 12)
        if rank < bits
    ]
    shapes += [
        (8, 2, (3, 5)),
        (8, 3, (1, 1, 6)),
        (15, 4, (5, 3, 7)),
        (20, 2, (10, 10)),
        (40, 3, (1, 31, 8)),
    ]
    shapes += [(62, 12, (31, 31)), (63, 1, (62, 1)), (63, 4, (32, 31))]
    shapes += [(17, 16, ()), (32, 16, ()), (63, 13, ())]
    for bits, rank, groups in shapes:
        for place in range(3):
            yield affine_row(bits, rank, list(groups), place, permuted=True)
    for bits in (3, 32, 63, 64, 65, 95, 96, 128, 160, 255, 256, 480):
        for rank in (1, 2, 4, 12):
            if rank < bits:
                yield affine_row(bits, rank, [], rank, permuted=False)


def affine_row(bits, rank, groups, place, *, permuted):
    label = f"affine {bits} {rank} {groups} {permuted} {place}"
    seed = number(label, 1 << 64) if place else U64[(bits + rank) % len(U64)]
    value = number(label + " value", 1 << bits) if place != 1 else (1 << bits) - 1
    point = ref.permute(value, bits, groups) if permuted else value
    masks, offsets, _ = ref.affine_map(seed, bits, rank)
    return {
        "bits": bits,
        "rank": rank,
        "permuted": permuted,
        "groups": groups,
        "seed": str(seed),
        "value": ref.words_of(value, bits),
        "point": ref.words_of(point, bits),
        "masks": [ref.words_of(mask, bits) for mask in masks],
        "offsets": offsets,
        "hash": ref.affine_hash(seed, point, bits, rank),
    }


def thresholds():
    about = (
        "computed: given settings -> the whole document, thresholds of 2^64 as strings; ratio is "
        "the largest ratio of "
        "the chances of one report under two values, exactly. checked: whole documents that a "
        "device reads and "
        "accepts or refuses; one whose ratio, or its inverse, is above e^epsilon must be refused."
    )
    computed = [
        {"given": given, "document": document, "ratio": str(ref.worst_ratio(document))}
        for given, document in [*all_mechanisms(), *numeric_mechanisms()]
    ]
    checked = [
        {"document": document, "accepted": accepted, "comment": comment}
        for document, accepted, comment in [*checked_mechanisms(), *checked_numeric()]
    ]
    return "thresholds.json", {
        "about": about,
        "version": 1,
        "computed": computed,
        "checked": checked,
    }


def all_mechanisms():
    for kind, size, more in (
        ("grr", 2, {}),
        ("grr", 100, {}),
        ("sue", 10, {}),
        ("oue", 10, {}),
        ("the", 10, {}),
        ("blh", 1000, {}),
        ("olh", 1000, {}),
        ("rmp", 1000, {}),
        ("hadamard", 100, {}),
        ("subset", 100, {}),
        ("affine", 1000, {}),
        ("affine_prefix", 1 << 48, {}),
        ("bloom", 100, {}),
    ):
        for epsilon in EPSILONS:
            yield settings(kind, epsilon, size, more)
    for kind, epsilon, size, more in (
        ("grr", "1e-05", 3, {}),
        ("grr", "0.30000000000000004", 3, {}),
        ("grr", "1.0", 1 << 32, {}),
        (
            "sue",
            "2.1972245773362196",
            4,
            {"second_keep": str(3 << 62), "second_flip": str(1 << 62)},
        ),
        ("the", "1.0", 4, {"theta": "1.0"}),
        ("the", "2.0", 4, {"theta": "0.5"}),
        ("olh", "1.0", 1 << 63, {"buckets": 55}),
        ("olh", "20.0", 1 << 40, {"buckets": 1 << 20}),
        ("olh", "0.1", 5, {}),
        ("rmp", "1.0", 1 << 63, {"rows": 512}),
        ("rmp", "1.0", 8, {"rows": 1 << 32}),
        ("subset", "1.0", 2, {}),
        ("subset", "1.0", 100, {"chosen": 99}),
        ("subset", "0.1", 65536, {}),
        ("affine", "1.0", 3, {}),
        ("affine", "1.0", 1025, {}),
        ("affine", "1.0", 1 << 63, {}),
        ("affine", "6.0", 1 << 20, {}),
        ("affine", "10.0", 1 << 20, {}),
        ("affine", "12.0", 1 << 20, {"buckets": 65536}),
        ("affine", "1.0", 1 << 15, {"buckets": 8, "groups": [5, 3, 7]}),
        ("affine", "3.0", 64, {}),
        ("affine_prefix", "1.0", 1 << 64, {}),
        ("affine_prefix", "4.0", 1 << 160, {}),
        ("affine_prefix", "2.0", 1 << 480, {"buckets": 16}),
        ("bloom", "4.0", 60, {"bits": 32, "hashes": 1, "cohorts": 1}),
        ("bloom", "4.0", 60, {"bits": 256, "hashes": 16, "cohorts": 65536}),
    ):
        yield settings(kind, epsilon, size, more)


def numeric_mechanisms():
    for kind, size in (
        ("duchi", 201),
        ("piecewise", 201),
        ("hybrid", POINTS),
        ("square_wave", 16),
        ("square_wave", 512),
        ("square_wave", 4096),
    ):
        for epsilon in (*EPSILONS, "0.6093524930273095", "0.6093524930273096"):
            yield settings(kind, epsilon, size, {})
    for kind, epsilon, size, more in (
        ("duchi", "1e-05", 2, {}),
        ("duchi", "1.0", (1 << 24) + 1, {}),
        ("piecewise", "1e-05", 2, {}),
        ("piecewise", "1.0", (1 << 24) + 1, {"cells": 65536}),
        ("piecewise", "1.0", 3, {"cells": 2}),
        ("piecewise", "1.0", 3, {"cells": 3}),
        ("piecewise", "20.0", 3, {"cells": 5}),
        ("piecewise", "2.0", 11, {"cells": 10, "window": 9}),
        ("piecewise", "2.0", 11, {"cells": 1000, "window": 1}),
        ("hybrid", "0.30000000000000004", 2, {"cells": 2}),
        ("hybrid", "3.0", 101, {"cells": 65536}),
        ("hybrid", "3.0", 101, {"cells": 100, "window": 7}),
        ("hybrid", "3.0", 101, {"alpha": "1"}),
        ("hybrid", "0.5", 101, {"alpha": str(1 << 63)}),
        ("square_wave", "1e-05", 1000, {}),
        ("square_wave", "1e-05", 2, {}),
        ("square_wave", "0.1", 3, {}),
        ("square_wave", "1.0", 1024, {}),
        ("square_wave", "1.0", 9, {"reach": 4}),
        ("square_wave", "3.0", 9, {"reach": 1}),
    ):
        yield settings(kind, epsilon, size, more)


def checked_numeric():
    make = ref.mechanism
    for document in (
        make("duchi", "1.0", 201),
        make("duchi", "20.0", 2),
        make("piecewise", "1.0", 201),
        make("piecewise", "8.0", 201, cells=100),
        make("hybrid", "1.0", 201),
        make("hybrid", "0.5", 201),
        make("square_wave", "1.0", 512),
        make("square_wave", "12.0", 16),
    ):
        yield document, True, "as computed"
        for name in ("keep", "sign"):
            for step in (-1, 1) if name in document else ():
                moved = document | {name: str(int(document[name]) + step)}
                accepted = all(
                    ref.spends_at_most(part.ratio(), document["epsilon"])
                    for part in ref.Settings(moved).windows
                )
                yield (
                    moved,
                    accepted,
                    f"{name} {step:+d}" + ("" if accepted else ": spends more than it states"),
                )
            for value in ("1", str((1 << 64) - 1), str(1 << 64), "-1") if name in document else ():
                yield (
                    document | {name: value},
                    False,
                    f"{name} at an end: that reveals it, or is no threshold",
                )
        yield document | {"extra": 1}, False, "an unknown field"
        for name in document:
            yield without(document, name), False, f"{name} is always written"
    yield from misspelt_numeric()


def misspelt_numeric():
    make = ref.mechanism
    even = make("piecewise", "1.0", 201, window=1024)
    yield even | {"keep": str(1 << 62)}, False, "every cell alike: that reveals nothing"
    yield even | {"keep": str((1 << 62) - 1)}, False, "the window is avoided"
    hybrid = make("hybrid", "1.0", 201)
    for step in (-1, 1):
        yield (
            hybrid | {"alpha": str(int(hybrid["alpha"]) + step)},
            True,
            "alpha is public and spends nothing",
        )
    for document, name, value, comment in (
        (hybrid, "alpha", "0", "alpha is 0 only where it is computed so"),
        (hybrid, "alpha", str(1 << 64), "certain, not random"),
        (hybrid, "alpha", "-1", "a negative threshold"),
        (hybrid, "cells", 1, "at least two cells"),
        (hybrid, "window", 4096, "a window leaves out at least one cell"),
        (hybrid, "window", 1545, "keep is that of another window, and spends more than it states"),
        (make("hybrid", "0.5", 201), "keep", str((1 << 64) - 1), "even if nobody uses Piecewise"),
        (even, "cells", 65537, "at most 2^16 cells"),
        (even, "cells", "4096", "integers below 2^53 are numbers"),
        (even, "window", -1, "a window has at least one cell"),
        (even, "window", True, "a window is a number"),
        (even, "size", 1, "a range has at least two values"),
        (even, "size", (1 << 24) + 2, "at most 2^24 + 1 points"),
        (make("duchi", "1.0", 201), "size", (1 << 24) + 2, "at most 2^24 + 1 points"),
        (make("square_wave", "1.0", 512), "size", 4097, "at most 4096 buckets"),
        (make("square_wave", "1.0", 512), "reach", 257, "a reach is at most half of the buckets"),
        (make("square_wave", "1.0", 512), "reach", -1, "a reach is not negative"),
        (make("square_wave", "1.0", 512), "reach", 0, "a reach of 0 only where it is computed so"),
        (make("square_wave", "1.0", 512), "reach", "131", "integers below 2^53 are numbers"),
    ):
        yield document | {name: value}, False, comment


def settings(kind, epsilon, size, more):
    given = {"kind": kind, "epsilon": epsilon, "size": ref.whole(size)} | more
    return given, ref.mechanism(kind, epsilon, size, **more)


def checked_mechanisms():
    for kind, epsilon, size in (
        ("grr", "1.0", 4),
        ("grr", "20.0", 1000),
        ("sue", "1.0", 4),
        ("oue", "0.5", 4),
        ("the", "1.0", 4),
        ("blh", "1.0", 40),
        ("olh", "2.0", 40),
        ("rmp", "1.0", 40),
        ("hadamard", "1.0", 40),
        ("subset", "1.0", 40),
        ("affine", "1.0", 40),
        ("affine_prefix", "3.0", 1 << 64),
        ("bloom", "1.0", 40),
    ):
        document = ref.mechanism(kind, epsilon, size)
        yield document, True, "as computed"
        for name in ("keep", "flip"):
            for step in (-1, 1) if name in document else ():
                moved = document | {name: str(int(document[name]) + step)}
                accepted = ref.spends_at_most(ref.worst_ratio(moved), epsilon)
                yield (
                    moved,
                    accepted,
                    f"{name} {step:+d}" + ("" if accepted else ": spends more than it states"),
                )
        yield document | {"extra": 1}, False, "an unknown field"
    yield from misspelt()
    yield from leaning()


def misspelt():
    document = ref.mechanism("grr", "1.0", 4)
    for name, value, comment in (
        ("keep", int(document["keep"]), "a threshold is a string"),
        ("keep", "0" + document["keep"], "an integer has one spelling"),
        ("keep", "+" + document["keep"], "an integer has one spelling"),
        ("keep", " " + document["keep"], "an integer has one spelling"),
        ("keep", document["keep"][0] + "_" + document["keep"][1:], "an integer has one spelling"),
        ("keep", "0", "a threshold is never 0"),
        ("keep", "", "a threshold is a number"),
        ("keep", "keep", "a threshold is a number"),
        (
            "epsilon",
            "1",
            "a decimal has one spelling, the shortest that has a point or an exponent",
        ),
        ("epsilon", "1.00", "a decimal has one spelling"),
        ("epsilon", "1e0", "a decimal has one spelling"),
        ("epsilon", 1, "epsilon is a string"),
        ("epsilon", "20.000000000000004", "epsilon is at most 20"),
        ("size", "4", "integers below 2^53 are numbers"),
        ("size", 1, "a domain has at least two values"),
        ("size", (1 << 32) + 1, "GRR serves at most 2^32 values"),
        ("size", True, "a size is a number"),
        ("kind", "GRR", "an unknown kind"),
    ):
        yield document | {name: value}, False, comment
    yield without(document, "keep"), False, "a threshold is always written"
    affine = ref.mechanism("affine", "1.0", 1000)
    for name, value, comment in (
        ("buckets", 3, "buckets are a power of two"),
        ("buckets", 1, "at least two buckets"),
        ("buckets", 1024, "fewer buckets than padded values"),
        ("buckets", 0, "buckets are always written"),
        ("groups", [5, 4], "the widths of groups sum to the bits of the domain"),
        ("groups", [10, 0], "a group has at least one bit"),
        ("size", 2, "affine response needs three values"),
    ):
        yield affine | {name: value}, False, comment
    yield (
        ref.mechanism("affine", "12.0", 1 << 20) | {"buckets": 1 << 17},
        False,
        "a bucket has two bytes",
    )
    subset = ref.mechanism("subset", "1.0", 10)
    yield subset | {"chosen": 10}, False, "a subset leaves out at least one value"
    yield (
        ref.mechanism("affine_prefix", "1.0", 1 << 20) | {"groups": [10, 10]},
        False,
        "no permutation, no groups",
    )
    yield (
        ref.mechanism("affine_prefix", "1.0", (1 << 64) - 1),
        False,
        "above 2^63 a domain is a power of two",
    )


def leaning():
    """A threshold so low that the value is left out: the inverse ratio reveals it."""
    for kind, epsilon, size in (
        ("grr", "1.0", 2),
        ("grr", "1.0", 4),
        ("blh", "1.0", 40),
        ("olh", "1.0", 40),
        ("rmp", "1.0", 40),
        ("hadamard", "1.0", 40),
        ("subset", "1.0", 40),
        ("affine", "1.0", 40),
        ("affine_prefix", "1.0", 40),
    ):
        yield (
            ref.mechanism(kind, epsilon, size) | {"keep": "1"},
            False,
            "the value is never told: that reveals it",
        )
    for kind in ("sue", "oue", "the"):
        yield (
            ref.mechanism(kind, "1.0", 4) | {"keep": "1"},
            False,
            "the held bit is never set: that reveals it",
        )
    for kind in ("grr", "oue", "olh", "hadamard", "subset", "affine"):
        document = ref.mechanism(kind, "1.0", 40)
        yield document | {"keep": str(1 << 64)}, False, "certain, not random"
        yield document | {"keep": str((1 << 64) - 1)}, False, "all but certain"
        yield document | {"keep": "-1"}, False, "a negative threshold"
    yield (
        ref.mechanism("bloom", "1.0", 40) | {"flip": str((1 << 64) - 1)},
        False,
        "every bit flipped reveals it",
    )
    bloom = ref.mechanism("bloom", "1.0", 40)
    for keep, flip, accepted, comment in (
        ("3", "1", True, "an instantaneous round, however weak"),
        ("1", "1", False, "an instantaneous round must tell 1 from 0"),
        ("3", "0", False, "a permanent 0 is sometimes sent as 1"),
        ("0", "0", False, "what is absent is not written"),
    ):
        yield bloom | {"second_keep": keep, "second_flip": flip}, accepted, comment
    yield bloom | {"second_keep": "3"}, False, "both thresholds of the instantaneous round"
    yield bloom | {"second_flip": "3"}, False, "both thresholds of the instantaneous round"


def perturb():
    about = (
        "draws: bernoulli(threshold) and integers(limit), count times from one call, on recorded "
        "bytes. "
        "reports: mechanism, value, recorded bytes -> packed report of one user. consumed is how "
        "many bytes were "
        "read; the streams are a little longer. Values of more than 63 bits are 32-bit words, low "
        "word first."
    )
    content = {
        "about": about,
        "version": 1,
        "draws": list(draw_rows()),
        "reports": list(report_rows()),
    }
    return "perturb.json", content


def draw_rows():
    for threshold in (1, 1 << 32, 1 << 63, (1 << 64) - 1, 0x0123456789ABCDEF):
        edge = [
            0,
            threshold - 1,
            threshold,
            min(threshold + 1, (1 << 64) - 1),
            threshold >> 32,
            (1 << 64) - 1,
        ]
        data = b"".join(pack("<Q", word) for word in edge) + ref.sha_stream(
            f"bernoulli {threshold}", 32
        )
        stream = ref.Stream(data)
        drawn = [stream.bernoulli(threshold) for _ in range(8)]
        yield {"draw": "bernoulli", "threshold": str(threshold), "count": 8} | recorded(
            stream, data, drawn
        )
    limits = (
        1,
        2,
        3,
        5,
        6,
        7,
        10,
        100,
        255,
        65535,
        65536,
        1 << 31,
        (1 << 31) + 1,
        (1 << 32) - 2,
        (1 << 32) - 1,
    )
    for limit in limits:
        yield integers_row(limit, b"", "")
        if (1 << 32) % limit:
            reject, accept = edge_words(limit)
            middle = pack("<5I", 0xFFFFFFFF, 0, accept, reject, 0x80000000)
            yield integers_row(
                limit, middle, "the second and the fourth are drawn again, after the fifth"
            )
            again = middle + pack("<2I", reject, 0)
            yield integers_row(
                limit, again, "drawn again twice: the second's word comes before the fourth's"
            )
    for limit in (1 << 32, (1 << 32) + 1, 3 * (1 << 40), (1 << 62) + 1, (1 << 63) - 1, 1 << 63):
        yield integers_row(limit, b"", "64-bit words, cut to the bits of limit - 1")
        if limit & limit - 1:
            middle = pack("<5Q", 0, (1 << 64) - 1, limit - 1, limit, 1 << 63)
            yield integers_row(
                limit, middle, "the second and the fourth are drawn again, after the fifth"
            )


def integers_row(limit, start, comment):
    data = start + ref.sha_stream(f"integers {limit} {len(start)}", 400)
    stream = ref.Stream(data)
    drawn = [ref.whole(one) for one in stream.integers(limit, 5)]
    row = {"draw": "integers", "limit": ref.whole(limit), "count": 5} | recorded(
        stream, data, drawn
    )
    return row | ({"comment": comment} if comment else {})


def recorded(stream, data, drawn):
    return {
        "random": data[: stream.consumed + 8].hex(),
        "drawn": drawn,
        "consumed": stream.consumed,
    }


def edge_words(limit):
    """Return the words whose products lie just inside and just outside what is rejected."""
    step, bound = gcd(limit, 1 << 32), (1 << 32) % limit
    turn, inverse = (1 << 32) // step, pow(limit // step, -1, (1 << 32) // step)
    reject, accept = ((low // step) * inverse % turn for low in (bound - step, bound))
    return reject, accept


def report_rows():
    for document, values in all_reporters():
        for value in sorted(values):
            label = f"report {ref.canonical(document)} {value}"
            yield report_row(document, value, ref.sha_stream(label, 1 << 13), "")
    for document, value, start, comment in scripted():
        label = f"scripted {ref.canonical(document)} {value} {comment}"
        yield report_row(document, value, start + ref.sha_stream(label, 1 << 13), comment)
    for document, values in numeric_reporters():
        for value in sorted(values):
            label = f"report {ref.canonical(document)} {value}"
            yield report_row(document, value, ref.sha_stream(label, 1 << 8), "")
    for document, value, start, comment in scripted_numeric():
        label = f"scripted {ref.canonical(document)} {value} {comment}"
        yield report_row(document, value, start + ref.sha_stream(label, 1 << 8), comment)


def report_row(document, value, data, comment):
    stream, bits = ref.Stream(data), ref.Settings(document).index_bits
    payload = ref.report(document, value, stream)
    return {
        "mechanism": document,
        "value": ref.words_of(value, bits) if bits > 63 else ref.whole(value),
        "random": data[: stream.consumed + 8].hex(),
        "payload": payload.hex(),
        "consumed": stream.consumed,
    } | ({"comment": comment} if comment else {})


def all_reporters():
    make, rappor = ref.mechanism, {"second_keep": str(3 << 62), "second_flip": str(1 << 62)}
    for size in (2, 3, 256, 257, 65536, 65537, 1 << 32):
        yield make("grr", "1.0", size), {0, 1, size - 1}
    for kind in ("sue", "oue", "the"):
        for size, epsilon in ((2, "1.0"), (7, "0.5"), (8, "2.0"), (9, "1.0"), (21, "4.0")):
            yield make(kind, epsilon, size), {0, size // 2, size - 1}
    yield make("sue", "2.1972245773362196", 4, **rappor), range(4)
    yield make("sue", "2.0", 17, second_keep=str(1 << 63), second_flip=str(1 << 61)), (0, 8, 16)
    for size in (2, 1000, 1 << 32, (1 << 32) + 1, 1 << 63):
        yield make("blh", "1.0", size), {0, size // 3, size - 1}
        yield make("olh", "2.0", size), {0, size // 3, size - 1}
        yield make("rmp", "1.0", size), {0, size // 3, size - 1}
    for buckets in (2, 55, 65536, 65537, 1 << 20):
        yield make("olh", "3.0", 1000, buckets=buckets), (0, 999)
    yield make("rmp", "1.0", 1000, rows=100), (0, 999)
    yield make("rmp", "1.0", 1000, rows=1 << 32), (0, 999)
    for size in (2, 3, 127, 128, 255, 65535, (1 << 26) - 1):
        yield make("hadamard", "1.0", size), {0, 1, size // 2, size - 1}
    for size, epsilon in ((2, "1.0"), (5, "1.0"), (8, "0.5"), (40, "1.0"), (100, "3.0")):
        yield make("subset", epsilon, size), {0, size // 2, size - 1}
    yield make("subset", "1.0", 9, chosen=8), (0, 4, 8)
    for size, epsilon in (
        (3, "1.0"),
        (5, "2.0"),
        (1000, "1.0"),
        (1 << 20, "3.0"),
        (1 << 31, "6.0"),
        (1 << 63, "1.0"),
    ):
        for kind in ref.AFFINE:
            yield make(kind, epsilon, size), {0, size // 3, size - 1}
    yield make("affine", "1.0", 1 << 15, groups=[5, 3, 7]), (0, 1000, (1 << 15) - 1)
    yield make("affine", "12.0", 1 << 20, buckets=65536), (0, 1000, (1 << 20) - 1)
    yield make("affine", "2.0", (1 << 40) - 9, groups=[1, 31, 8]), (0, (1 << 40) - 10)
    for bits in (64, 65, 96, 160, 480):
        yield (
            make("affine_prefix", "2.0", 1 << bits),
            (0, number(f"wide {bits}", 1 << bits), (1 << bits) - 1),
        )
    yield make("bloom", "4.0", 60, bits=16, hashes=2, cohorts=8), (0, 30, 59)
    yield make("bloom", "4.0", 60, bits=13, hashes=1, cohorts=1), (0, 30, 59)
    yield make("bloom", "2.0", 1000, bits=32, hashes=5, cohorts=1000), (0, 500, 999)
    yield make("bloom", "1.0", 1 << 20, bits=24, hashes=2, cohorts=65536), (0, (1 << 20) - 1)
    yield make("bloom", "4.0", 60, bits=13, hashes=2, cohorts=8, **rappor), (0, 30, 59)


def scripted():
    """Yield streams that start at the edges: a word just below and just at the threshold, words
    that are rejected.
    """
    for kind, size, more in (
        ("grr", 6, {}),
        ("blh", 1000, {}),
        ("olh", 1000, {"buckets": 6}),
        ("rmp", 1000, {}),
        ("affine", 1000, {"buckets": 8}),
        ("affine_prefix", 1000, {"buckets": 8}),
        ("hadamard", 100, {}),
        ("subset", 20, {"chosen": 6}),
    ):
        document = ref.mechanism(kind, "1.0", size, **more)
        keep, before = (
            int(document["keep"]),
            {"grr": 0, "hadamard": 0, "subset": 0, "affine": 8, "affine_prefix": 8},
        )
        seed = ref.sha_stream(f"seed {kind}", before.get(kind, 4))
        yield document, 1, seed + pack("<Q", keep - 1), "just below the threshold: kept"
        yield document, 1, seed + pack("<Q", keep), "just at the threshold: not kept"
        limit = {"grr": 5, "olh": 5, "affine": 7, "affine_prefix": 7, "subset": 6}.get(kind)
        for honest in (keep - 1, keep) if limit else ():
            reject, accept = edge_words(limit)
            twice = seed + pack("<QIII", honest, 0, reject, accept)
            yield document, 1, twice, "two words are rejected, the third is just accepted"
    for value in (0, 3, 5):
        document = ref.mechanism("grr", "1.0", 6)
        lie = pack("<QI", (1 << 64) - 1, 3 * (1 << 32) // 5 + 1)
        yield document, value, lie, "a lie of 3 steps over a value of at most 3"
    pool = ref.mechanism("rmp", "1.0", 1000, rows=100)
    yield pool, 7, pack("<II", 0, edge_words(100)[0]), "two rows are rejected"
    cohorts = ref.mechanism("bloom", "4.0", 60, bits=16, hashes=2, cohorts=6)
    yield cohorts, 7, pack("<II", 0, edge_words(6)[0]), "two cohorts are rejected"
    flip = int(cohorts["flip"])
    yield (
        cohorts,
        7,
        pack("<I16Q", 1, *([flip - 1, flip] * 8)),
        "every other bit just flipped, just not flipped",
    )
    floyd = ref.mechanism("subset", "1.0", 20, chosen=6)
    rejected = pack(
        "<Q12I", 0, 0x80000000, 0, 1 << 31, 0, 0, 1 << 30, 1 << 29, 0, 3 << 30, 0, 1 << 28, 5
    )
    yield floyd, 3, rejected, "words are rejected between Floyd's draws"
    same = pack("<Q7I", (1 << 64) - 1, *([0x80000000] * 7))
    yield floyd, 3, same, "the same word every time: picks that are taken already"
    for kind in ("sue", "oue", "the"):
        document = ref.mechanism(kind, "1.0", 5)
        keep, flip = int(document["keep"]), int(document["flip"])
        words = flip - 1, flip, flip - 1, flip, flip - 1
        yield (
            document,
            2,
            pack("<6Q", *words, keep - 1),
            "flips on both sides of the threshold; kept",
        )
        yield (
            document,
            2,
            pack("<6Q", *words, keep),
            "flips on both sides of the threshold; not kept",
        )
    second = {"second_keep": str(3 << 62), "second_flip": str(1 << 62)}
    document = ref.mechanism("sue", "1.0", 4, **second)
    words = 0, 0, (1 << 64) - 1, (1 << 64) - 1, 0, (3 << 62) - 1, 3 << 62, (1 << 62) - 1, 1 << 62
    yield document, 0, pack("<9Q", *words), "both edges of the instantaneous thresholds"


def numeric_reporters():
    make = ref.mechanism
    for size, epsilon in (
        (2, "1.0"),
        (3, "0.1"),
        (201, "1.0"),
        (POINTS, "2.0"),
        ((1 << 24) + 1, "0.5"),
    ):
        yield make("duchi", epsilon, size), {0, 1, size // 3, size - 1}
    for size, epsilon, more in (
        (2, "1.0", {}),
        (201, "0.1", {}),
        (POINTS, "4.0", {}),
        ((1 << 24) + 1, "1.0", {"cells": 65536}),
        (11, "1.0", {"cells": 256}),
        (11, "1.0", {"cells": 257}),
        (3, "1.0", {"cells": 2}),
        (11, "20.0", {}),
        (11, "2.0", {"cells": 11, "window": 1}),
        (11, "2.0", {"cells": 10, "window": 9}),
    ):
        yield make("piecewise", epsilon, size, **more), {0, 1, size // 3, size - 1}
    for size, epsilon, more in (
        (2, "1.0", {}),
        (201, "0.5", {}),
        (201, "1.0", {}),
        (POINTS, "3.0", {}),
        (POINTS, "8.0", {"cells": 65536}),
        (11, "4.0", {"cells": 10, "window": 1}),
    ):
        yield make("hybrid", epsilon, size, **more), {0, 1, size // 3, size - 1}
    for size, epsilon in ((201, "1.0"), (POINTS, "4.0")):
        yield ref.wide_hybrid(epsilon, size), {0, 1, size // 3, size - 1}
    yield ref.wide_piecewise("4.0", POINTS), {0, 1, POINTS // 3, POINTS - 1}
    for size, epsilon in (
        (2, "1.0"),
        (16, "5.0"),
        (16, "1.0"),
        (170, "1.0"),
        (512, "0.1"),
        (4096, "2.0"),
    ):
        yield make("square_wave", epsilon, size), {0, 1, size // 3, size - 1}


def word_for(drawn, limit):
    """Return a 32-bit word that draws this integer below the limit, and is not rejected."""
    return (drawn << 32) // limit + 2


def scripted_numeric():
    """Yield streams at the edges of every draw: the rounding, the coin, the cell inside, the cell
    outside.
    """
    near, far = 0, (1 << 64) - 1
    for kind, more in (("duchi", {}), ("piecewise", {"cells": 1000, "window": 300})):
        document = ref.mechanism(kind, "1.0", 202, **more)
        (part,), keep = ref.Settings(document).windows, int(document["keep"])
        start, rest = part.place(50)
        for drawn, comment in ((rest - 1, "one place later"), (rest, "the earlier place")):
            for coin, said in ((keep - 1, "just kept"), (keep, "just not kept")):
                yield (
                    document,
                    50,
                    pack("<IQ", word_for(drawn, 201), coin),
                    f"rounded to {comment}; {said}",
                )
        reject, accept = edge_words(201)
        yield (
            document,
            50,
            pack("<III", 0, reject, accept),
            "two words of the rounding are rejected",
        )
        if kind == "piecewise":
            yield from scripted_cells(document, 50, pack("<I", word_for(rest, 201)), part, start)
    wave = ref.mechanism("square_wave", "1.0", 100)
    (part,), keep = ref.Settings(wave).windows, int(wave["keep"])
    for coin, said in ((keep - 1, "just kept"), (keep, "just not kept")):
        yield wave, 30, pack("<Q", coin), f"nothing to round; {said}"
    yield from scripted_cells(wave, 30, b"", part, 30)
    hybrid = ref.mechanism("hybrid", "1.0", 202, cells=1000, window=300)
    alpha, (signs, cells) = int(hybrid["alpha"]), ref.Settings(hybrid).windows
    (_, first), (start, second) = signs.place(50), cells.place(50)
    for coin, said in ((alpha - 1, "a cell is sent"), (alpha, "a sign is sent")):
        before = pack("<QIQI", coin, word_for(first, 201), near, word_for(second, 201))
        yield hybrid, 50, before + pack("<Q", far), said
        rejected = pack("<QIIIQII", coin, 0, edge_words(201)[0], 7, far, 0, word_for(second, 201))
        yield hybrid, 50, rejected, f"words of both roundings are rejected; {said}"
        yield from scripted_cells(hybrid, 50, before, cells, start)
    none = ref.mechanism("hybrid", "0.5", 202)
    yield (
        none,
        50,
        bytes(8),
        "alpha is 0: even a coin of 0 sends the sign, and both reports are drawn",
    )


def scripted_cells(document, value, before, part, start):
    near, far, inside, outside = 0, (1 << 64) - 1, part.width, part.travel
    for drawn in (0, inside - 1):
        yield (
            document,
            value,
            before + pack("<QI", near, word_for(drawn, inside)),
            f"cell {drawn} of the window",
        )
    for drawn, comment in (
        (0, "the first"),
        (start - 1, "the last before"),
        (start, "the first after"),
    ):
        data = pack("<QII", far, word_for(1, inside), word_for(drawn, outside))
        yield (
            document,
            value,
            before + data,
            f"a cell outside: {comment} the window" if drawn else "the first cell",
        )
    for coin in (near, far):
        data = pack(
            "<QIIIII", coin, 0, edge_words(inside)[0], word_for(2, inside), 0, word_for(3, outside)
        )
        yield document, value, before + data, "words of both cells are rejected"


def choice():
    about = (
        "pick: 64-bit coin, weights (empty: all members alike) -> member. coins: a device's 16 "
        "bytes and the task's "
        "digest -> its coin for the task. picks: the same 16 bytes, round and slot -> the coin "
        "that picks a member. "
        "shares: whether a round asks a coin. enrolled: enrolment token, digest -> the device's 16 "
        "bytes -> its coin."
    )
    content = {"about": about, "version": 1, "pick": list(pick_rows()), "coins": list(coin_rows())}
    content |= {"picks": list(picks_rows()), "shares": list(share_rows())}
    return "choice.json", content | {"enrolled": list(enrolled_rows())}


def pick_rows():
    families = [
        (2, []),
        (3, []),
        (7, []),
        (1, []),
        (2, [1, 3]),
        (3, [1, 1, 1]),
        (4, [5, 1, 1, 1000]),
    ]
    families += [(3, [1, (1 << 32) - 3, 1]), (5, [65536, 1, 65535, 3, 7]), (1, [9])]
    for members, weights in families:
        line = weights or [1] * members
        edges = [-(-(sum(line[: place + 1]) << 64) // sum(line)) for place in range(members - 1)]
        coins = {coin for edge in edges for coin in (edge - 1, edge)} | {
            0,
            (1 << 64) - 1,
            1 << 32,
            1 << 63,
        }
        coins |= {number(f"coin {members} {weights} {place}", 1 << 64) for place in range(4)}
        for coin in sorted(coins):
            yield {
                "members": members,
                "weights": weights,
                "coin": str(coin),
                "member": ref.pick(line, coin),
            }


def coin_rows():
    for secret, label in secrets():
        for task in (histogram("browser", ["a", "b"], "1.0"), survey("household", [1, 3], "1.0")):
            name = ref.digest(task)
            coin = str(ref.task_coin(secret, name))
            yield {"secret": secret.hex(), "digest": name, "coin": coin, "comment": label}


def secrets():
    yield bytes(16), "zeros"
    yield b"\xff" * 16, "ones"
    yield bytes(range(16)), "counting"
    for place in range(5):
        yield ref.sha_stream(f"secret {place}", 16), "random"


def picks_rows():
    for secret, _ in secrets():
        for round_number, slot in (
            (0, 0),
            (0, 1),
            (1, 0),
            (255, 2),
            (256, 0),
            (65535, 7),
            (3, 255),
        ):
            coin = ref.choice_coin(secret, round_number, slot)
            place = {"secret": secret.hex(), "round": round_number, "slot": slot, "coin": str(coin)}
            yield place | {"weights": [1, 3, 5, 7], "member": ref.pick([1, 3, 5, 7], coin)}


def enrolled_rows():
    tokens = (
        "",
        "a",
        "token",
        "città",
        "\U0001f600",
        "x" * 200,
        "8f14e45fceea167a5a36dedd4bea2543",
        "two words\n",
    )
    for token in tokens:
        for task in (histogram("browser", ["a", "b"], "1.0"), survey("household", [1, 3], "1.0")):
            name = ref.digest(task)
            secret = ref.enrolled(token, name)
            coin = str(ref.task_coin(secret, name))
            yield {"token": token, "digest": name, "secret": secret.hex(), "coin": coin}


def share_rows():
    for low, high in (
        (0, 1 << 64),
        (0, 1),
        (1 << 63, 1 << 64),
        (1 << 60, 1 << 61),
        ((1 << 64) - 1, 1 << 64),
    ):
        for coin in sorted({0, low, max(low - 1, 0), high - 1, min(high, (1 << 64) - 1), 1 << 62}):
            yield {
                "low": str(low),
                "high": str(high),
                "coin": str(coin),
                "asked": low <= coin < high,
            }


def envelope():
    about = (
        "envelopes: fields -> bytes; bytes are hex, public is canonical JSON. streams: envelopes "
        "one after another, "
        "width of the payload -> fields of each. malformed: bytes that must be refused for a "
        "payload of this width. "
        "misplaced: messages that the collector of the task must refuse. messages: task, round "
        "(absent: the opening "
        "one; the task states it among its rounds), the device's 16 public bytes, value, recorded "
        "bytes (16 of a subject if the task "
        "declares it, then for "
        "each slot the report's draws and the 16 bytes of its id) -> what leaves the device."
    )
    fields = list(envelope_fields())
    return "envelope.json", {
        "about": about,
        "version": 1,
        "envelopes": [readable(one) | {"hex": ref.envelope(one).hex()} for one in fields],
        "streams": list(stream_rows(fields)),
        "malformed": list(malformed_rows(fields[0], fields[4])),
        "misplaced": list(misplaced_rows()),
        "messages": list(message_rows()),
    }


def envelope_2():
    about = (
        "Version 2 of the envelope: version 1 with a task digest of 32 bytes. envelopes: fields -> "
        "bytes, as in envelope.json. streams: envelopes of both versions one after another. "
        "malformed: bytes that must be refused for a payload of this width. unwritable: fields "
        "whose digest another version has. misplaced: messages that the collector of a task "
        "with envelopes of version 1 must refuse."
    )
    fields = [in_version_2(one) for one in envelope_fields()]
    return "envelope_2.json", {
        "about": about,
        "version": 1,
        "envelopes": [readable(one) | {"hex": ref.envelope(one).hex()} for one in fields],
        "streams": list(mixed_stream_rows(fields)),
        "malformed": list(malformed_2_rows(fields[0])),
        "unwritable": list(unwritable_rows(fields[0])),
        "misplaced": list(misplaced_2_rows()),
    }


def in_version_2(fields):
    """Return the fields with the version and with 16 further bytes of digest."""
    longer = fields["digest"] + ref.sha_stream("further " + fields["digest"].hex(), 16)
    return fields | {"version": 2, "digest": longer}


def mixed_stream_rows(new):
    old = list(envelope_fields())
    for several, comment in (
        ([new[0], new[0] | {"id": ref.sha_stream("again", 16)}], "version 2 alone"),
        ([old[0], new[0]], "one of each version"),
        ([new[0], old[0], new[4], old[4], new[0]], "both versions, with and without slots"),
        ([old[3], new[3], old[6], new[6]], "both versions, with a subject or public fields"),
    ):
        data = b"".join(ref.envelope(one) for one in several)
        yield {
            "hex": data.hex(),
            "width": 1,
            "envelopes": [readable(one) for one in several],
            "comment": comment,
        }


def malformed_2_rows(plain):
    good = ref.envelope(plain)
    for data, comment in (
        (b"\x01" + good[1:], "version 1 with the digest of version 2"),
        (b"\x03" + good[1:], "version 3"),
        (good[:1] + b"\x08" + good[2:], "an unknown flag"),
        (good[:-1], "cut at the end"),
        (good[:50], "cut in the header of version 2, behind where that of version 1 ends"),
        (good[:4] + pack("<I", 45) + good[8:45], "a header of version 1"),
        (good[:4] + pack("<I", 59) + good[8:], "a length shorter than the header"),
        (good[:4] + pack("<I", 44) + good[8:], "the length of a header of version 1"),
        (good + good[:-1], "the second one is cut"),
        (good[:1] + b"\x01" + good[2:], "a subject is announced and missing"),
        (good[:1] + b"\x02" + good[2:], "a slot is announced and missing"),
    ):
        yield {"hex": data.hex(), "width": 1, "comment": comment}


def unwritable_rows(plain):
    for changes, comment in (
        ({"digest": plain["digest"][:16]}, "version 2 with the digest of version 1"),
        ({"version": 1}, "version 1 with the digest of version 2"),
        ({"digest": b""}, "no digest"),
        ({"digest": plain["digest"] + b"\x00"}, "a byte too many"),
    ):
        yield readable(plain | changes) | {"comment": comment}


def misplaced_2_rows():
    task = histogram("browser", ["a", "b", "c"], "1.0")
    whole = ref.fingerprint(task)
    fields = {"round": 0, "member": 0, "id": bytes(16), "payload": b"\x01", "version": 2}
    for digest, comment in (
        (whole, "version 2 where the task has version 1"),
        (whole[:16] + bytes(16), "version 2 with half of the digest"),
    ):
        data = ref.envelope(fields | {"digest": digest})
        yield {"task": task, "hex": data.hex(), "comment": comment}


def readable(fields):
    return {
        name: value.hex() if isinstance(value, bytes) else value for name, value in fields.items()
    }


def envelope_fields():
    base = {
        "digest": bytes(range(16)),
        "round": 0,
        "member": 0,
        "id": bytes(range(16, 32)),
        "payload": b"\x2a",
    }
    subject, public = ref.sha_stream("subject", 16), ref.canonical({"country": "ch", "spent": 12})
    yield base
    yield base | {"round": 65535, "member": (1 << 32) - 1, "payload": b"\xff" * 10}
    yield base | {"round": 0x1234, "member": 0x12345678, "payload": bytes(64)}
    yield base | {"subject": subject}
    yield base | {"slot": 1}
    yield base | {"slot": 65535, "payload": ref.sha_stream("payload", 300)}
    yield base | {"public": public}
    yield base | {"public": ref.canonical({"città": "Zürich"}), "payload": b""}
    yield base | {"subject": subject, "slot": 3}
    yield base | {"subject": subject, "public": public}
    yield base | {"slot": 3, "public": "{}"}
    yield base | {"subject": subject, "slot": 0x0102, "public": public, "payload": b"\x01\x02\x03"}
    yield base | {"digest": bytes(16), "id": b"\xff" * 16}
    for place in range(8):
        random = ref.sha_stream(f"envelope {place}", 64)
        fields = {
            "digest": random[:16],
            "id": random[16:32],
            "payload": random[32 : 33 + 4 * place],
        }
        yield (
            base
            | fields
            | {
                "round": number(f"round {place}", 1 << 16),
                "member": number(f"member {place}", 1 << 32),
            }
        )


def stream_rows(fields):
    first, slot, subject, public = fields[0], fields[4], fields[3], fields[6]
    again = first | {"id": ref.sha_stream("again", 16), "member": 7, "payload": b"\x00"}
    for several, comment in (
        ([first, again], "one shape"),
        ([first, slot, again], "two shapes"),
        ([subject, first, public, slot], "four shapes"),
        (
            [first, first | {"round": 1}, first | {"digest": b"\x07" * 16}],
            "other rounds, other tasks",
        ),
        ([first, first], "twice the same: dropping it is the collector's work"),
        ([], "nothing"),
    ):
        data = b"".join(ref.envelope(one) for one in several)
        yield {
            "hex": data.hex(),
            "width": 1,
            "envelopes": [readable(one) for one in several],
            "comment": comment,
        }


def malformed_rows(plain, slotted):
    good = ref.envelope(plain)
    length = pack("<I", len(good))
    for data, comment in (
        (b"\x00" + good[1:], "version 0"),
        (b"\x02" + good[1:], "version 2"),
        (good[:1] + b"\x08" + good[2:], "an unknown flag"),
        (good[:1] + b"\x80" + good[2:], "an unknown flag"),
        (good[:-1], "cut at the end"),
        (good[:44], "the payload is missing, the length says otherwise"),
        (good[:20], "cut in the header"),
        (good[:1], "one byte"),
        (good + b"\x00", "a byte left over"),
        (good + good[:-1], "the second one is cut"),
        (good[:4] + pack("<I", len(good) - 1) + good[8:-1], "a payload too short for the round"),
        (
            good[:4] + pack("<I", len(good) + 1) + good[8:] + b"\x00",
            "a payload too long for the round",
        ),
        (good[:4] + pack("<I", 0) + good[8:], "a length of 0"),
        (good[:4] + pack("<I", 43) + good[8:], "a length shorter than the header"),
        (good[:4] + pack("<I", 0xFFFFFFFF) + good[8:], "a length beyond the data"),
        (good[:4] + length[::-1] + good[8:], "a length in the wrong byte order"),
        (good[:1] + b"\x01" + good[2:], "a subject is announced and missing"),
        (good[:1] + b"\x02" + good[2:], "a slot is announced and missing"),
        (good[:1] + b"\x04" + good[2:], "public fields are announced and missing"),
        (
            ref.envelope(slotted)[:1] + b"\x00" + ref.envelope(slotted)[2:],
            "a slot is there and not announced",
        ),
    ):
        yield {"hex": data.hex(), "width": 1, "comment": comment}


def misplaced_rows():
    plain, both = histogram("browser", ["a", "b", "c"], "1.0"), survey("household", [1, 3], "1.0")
    identity = {"round": 0, "member": 0, "id": bytes(16), "payload": b"\x01"}
    good = identity | {"digest": ref.digest_bytes(plain)}
    wide = identity | {"digest": ref.digest_bytes(both), "payload": b"\x01" + bytes(9)}
    for task, fields, comment in (
        (plain, good | {"digest": ref.digest_bytes(both)}, "another task"),
        (plain, good | {"member": 1}, "a member where there is no choice"),
        (plain, good | {"slot": 0}, "a slot where there is no bundle"),
        (plain, good | {"subject": bytes(16)}, "a subject that the task does not declare"),
        (plain, good | {"public": "{}"}, "public fields that the task does not declare"),
        (plain, good | {"payload": b"\x03"}, "a report that nobody can make"),
        (plain, good | {"payload": b"\x01\x00"}, "a payload too long for the round"),
        (both, wide | {"member": 2}, "a member that the choice does not have"),
        (both, wide | {"payload": b"\x01" + bytes(8) + b"\x01"}, "padding that is not zero"),
        (both, wide | {"payload": b"\x03" + bytes(9)}, "a report that nobody can make, padded"),
        (both, wide | {"payload": b"\x01"}, "padding that is missing"),
        (
            both,
            wide | {"member": 1, "payload": bytes(8) + b"\x04\x00"},
            "a bucket that is not there",
        ),
    ):
        yield {"task": task, "hex": ref.envelope(fields).hex(), "comment": comment}


def message_rows():
    labels = ["chrome", "firefox", "safari", "other"]
    for kind in ("", "oue", "olh", "hadamard", "subset"):
        task = histogram("browser", labels, "1.0", kind=kind)
        for place in range(2):
            yield message_row(task, None, place, labels[place + 1], place + 1)
    task = histogram("città", ["Zürich", "東京", "other"], "1.0")
    yield message_row(task, None, 0, "Zu\u0308rich", 0) | {
        "comment": "a value is compared after NFC"
    }
    task = histogram("declinable", [*labels, "prefer not to say"], "1.0", declinable=True)
    yield message_row(task, None, 0, None, 4) | {"comment": "nothing said is the last category"}
    task = ages("altitude", -500, 8848, "3.0")
    yield message_row(task, None, 0, -500, 0)
    yield message_row(task, None, 1, 8848, 9348)
    task = survey("household", [1, 3], "1.0")
    for place in range(6):
        record = {"home": "house", "square metres": 120 + place}
        yield message_row(task, None, place, record, [1, 120 + place])
    yield from bundled_rows(task)
    for task in (
        mean("body temperature", "30.0", "45.0", "1.0"),
        distribution("body temperature", "30.0", "45.0", 512, "1.0"),
    ):
        for place, value in enumerate((30.0, 36.6, 45)):
            yield message_row(task, None, place, value, ref.domain_index(task["domain"], value))
    task = graded("income", "0.3", 16)
    for place, value in enumerate((0.0, 0.25, 0.5, 0.75, 0.8, 1.0)):
        yield message_row(task, None, place, value, ref.domain_index(task["domain"], value)) | {
            "comment": "a coin picks the graded group, and so the number of reports"
        }
    task = histogram("browser", labels, "1.0", declares=["subject"])
    yield message_row(task, None, 0, "firefox", 1) | {
        "comment": "a subject is drawn before the report"
    }
    for row in [*bundled_rows(survey("household", [1, 3], "1.0", declares=["subject"]))][:3]:
        yield row | {"comment": "all envelopes of a message have one subject"}


def bundled_rows(task):
    """Rounds that a plan may ask later: a bundle, a bundle of choices, a choice of bundles."""
    column = [{"kind": "attribute", "column": place} for place in (0, 1)]
    home = question(ref.mechanism("grr", "0.5", 3), encoding=column[0])
    area = question(ref.mechanism("olh", "0.5", 401), encoding=column[1])
    bits = question(ref.mechanism("oue", "0.5", 3), encoding=column[0])
    mixed = {"kind": "choice", "members": [home, bits, area], "weights": [1, 2, 3]}
    even = {"kind": "choice", "members": [home, area], "weights": []}
    pair = {"kind": "bundle", "parts": [home, area]}
    record, indices = {"home": "other", "square metres": 400}, [2, 400]
    for place in range(3):
        yield message_row(task, round_(1, pair), place, record, indices)
        yield message_row(
            task, round_(2, {"kind": "bundle", "parts": [mixed, even]}), place, record, indices
        )
        split = {
            "kind": "choice",
            "members": [pair, {"kind": "bundle", "parts": [bits, home]}],
            "weights": [1, 1],
        }
        yield message_row(task, round_(65535, split), place, record, indices)


def allowing(task, asked):
    """Return a task that states a later round among those that it may ask."""
    mechanisms, encodings = set(), set()
    found = [asked]
    while found:
        content = found.pop()
        if isinstance(content, dict):
            found += content.values()
            if "keep" in content:
                mechanisms.add(content["kind"])
            if content.get("kind") == "each_item":
                encodings.add("holds")
            if "encoding" in content:
                encodings.add(content["encoding"]["kind"])
        elif isinstance(content, list):
            found += content
    limits = {"kind": "roundlimits", "count": asked["number"] + 1, "width": 64}
    limits |= {"mechanisms": sorted(mechanisms), "encodings": sorted(encodings)}
    return task | {"rounds": limits}


def message_row(task, asked, place, value, indices):
    if asked:
        task = allowing(task, asked)
    label = f"message {ref.digest(task)} {asked} {place}"
    secret, data = ref.sha_stream(label + " coin", 16), ref.sha_stream(label, 4096)
    stream = ref.Stream(data)
    sent = ref.message(task, asked or task["opening"], secret, indices, stream)
    row = {"task": task} | ({"round": asked} if asked else {})
    return row | {
        "secret": secret.hex(),
        "value": value,
        "random": data[: stream.consumed + 8].hex(),
        "message": sent.hex(),
        "consumed": stream.consumed,
    }


def decode():
    about = (
        "pure: mechanism, packed reports -> how many support each candidate (absent: every value) "
        "-> estimated totals "
        "(count - users q)/(p - q) and their variances users q(1-q)/(p-q)^2 + total (1-p-q)/(p-q), "
        "the total clipped "
        "to [0, users]; RMP with a pool adds the sum over other values of total (total - 1)/rows. "
        "To 17 digits. "
        "bloom: packed reports -> users of each cohort, and how many of them set each bit. "
        "mean: packed reports of numbers -> [output, how often], outputs that do not occur left "
        "out -> mean on the "
        "scale of [-1, 1], unclipped, and its variance. To 17 digits."
    )
    content = {"about": about, "version": 1, "pure": list(pure_rows()), "bloom": list(bloom_rows())}
    return "decode.json", content | {"mean": list(mean_rows())}


def pure_rows():
    make, rappor = ref.mechanism, {"second_keep": str(3 << 62), "second_flip": str(1 << 62)}
    for document in (
        make("grr", "1.0", 2),
        make("grr", "0.1", 4),
        make("grr", "2.0", 17),
        make("grr", "12.0", 300),
        make("sue", "1.0", 9),
        make("sue", "4.0", 16),
        make("sue", "2.1972245773362196", 4, **rappor),
        make("oue", "0.5", 9),
        make("oue", "3.0", 21),
        make("the", "1.0", 9),
        make("the", "4.0", 8, theta="1.0"),
        make("blh", "1.0", 20),
        make("olh", "0.5", 20),
        make("olh", "3.0", 40),
        make("rmp", "1.0", 20),
        make("rmp", "2.0", 12, rows=10),
        make("hadamard", "0.5", 15),
        make("hadamard", "2.0", 16),
        make("subset", "1.0", 11),
        make("subset", "3.0", 30),
        make("affine", "0.5", 11),
        make("affine", "1.0", 64),
        make("affine", "3.0", 100),
        make("affine", "2.0", 128, groups=[3, 4]),
        make("affine_prefix", "1.0", 50),
    ):
        yield pure_row(document, None)
    for document in (
        make("olh", "2.0", (1 << 32) + 5),
        make("affine", "1.0", 1 << 40),
        make("affine", "2.0", 1 << 63),
        make("affine_prefix", "1.0", 1 << 48),
        make("affine_prefix", "2.0", 1 << 64),
        make("affine_prefix", "3.0", 1 << 160),
    ):
        yield pure_row(document, candidates(document))


def candidates(document):
    size = int(document["size"])
    return [0, 1, size // 3, size - 1, number("candidate", size)]


def pure_row(document, among):
    settled = ref.Settings(document)
    asked = among or list(range(settled.size))
    payloads = []
    for user in range(40):
        label = f"decode {ref.canonical(document)} {user}"
        held = asked[number(label, len(asked)) % (1 + number(label + "!", len(asked)))]
        payloads.append(ref.report(document, held, ref.Stream(ref.sha_stream(label, 2048))))
    counts, totals, variances = ref.estimates(document, payloads, asked)
    wide = settled.index_bits > 63
    listed = [
        ref.words_of(one, settled.index_bits) if wide else ref.whole(one) for one in among or ()
    ]
    return {"mechanism": document, "users": len(payloads), "payloads": b"".join(payloads).hex()} | {
        **({"candidates": listed} if among else {}),
        "counts": counts,
        "totals": [ref.digits(total) for total in totals],
        "variances": [ref.digits(variance) for variance in variances],
    }


def bloom_rows():
    make = ref.mechanism
    for document in (
        make("bloom", "4.0", 60, bits=16, hashes=2, cohorts=4),
        make("bloom", "2.0", 60, bits=13, hashes=1, cohorts=3),
        make("bloom", "1.0", 60, bits=32, hashes=4, cohorts=1),
    ):
        settled, payloads = ref.Settings(document), []
        for user in range(30):
            label = f"bloom {ref.canonical(document)} {user}"
            payloads.append(
                ref.report(document, number(label, 60), ref.Stream(ref.sha_stream(label, 1024)))
            )
        users, bits = [0] * settled.cohorts, [[0] * settled.bits for _ in range(settled.cohorts)]
        for payload in payloads:
            cohort = int.from_bytes(payload[:2], "little")
            users[cohort] += 1
            for place, bit in enumerate(ref.unpacked(payload[2:], settled.bits)):
                bits[cohort][place] += bit
        data = b"".join(payloads).hex()
        yield {"mechanism": document, "payloads": data, "users": users, "bits": bits}


def mean_rows():
    make = ref.mechanism
    for document in (
        make("duchi", "0.1", 201),
        make("duchi", "1.0", POINTS),
        make("duchi", "20.0", 2),
        make("piecewise", "0.5", 201),
        make("piecewise", "4.0", POINTS),
        make("piecewise", "2.0", 100, cells=257),
        make("piecewise", "1.0", 3, cells=2),
        make("hybrid", "0.5", 201),
        make("hybrid", "1.0", POINTS),
        make("hybrid", "3.0", 100, cells=300),
        make("square_wave", "0.1", 512),
        make("square_wave", "1.0", 1024),
        make("square_wave", "5.0", 16),
        make("square_wave", "3.0", 7),
    ):
        size = int(document["size"])
        for users, limit, comment in (
            (40, size, "spread over the range"),
            (40, size // 2, "the lower half"),
            (2, size, "two users"),
        ):
            payloads = []
            for user in range(users):
                label = f"mean {ref.canonical(document)} {limit} {users} {user}"
                held = number(label, limit)
                payloads.append(ref.report(document, held, ref.Stream(ref.sha_stream(label, 512))))
            yield mean_row(document, payloads, comment)
        yield mean_row(
            document,
            payloads[:1] * 5,
            "equal reports have no spread: the mechanism's least one counts",
        )


def mean_row(document, payloads, comment):
    outputs, centre, variance = ref.mean(document, payloads)
    return {
        "mechanism": document,
        "users": len(payloads),
        "payloads": b"".join(payloads).hex(),
        "outputs": outputs,
        "mean": ref.digits(centre),
        "variance": ref.digits(variance),
        "comment": comment,
    }


def reject():
    about = (
        "reports: mechanism, packed report -> refused, because no device makes it, or (refused "
        "false) accepted. documents: text of a task document -> refused by a device, because it "
        "hides something or is too much, or (refused false) read."
    )
    rows = [
        {"mechanism": document, "payload": data.hex(), "refused": refused, "comment": comment}
        for document, data, refused, comment in [*judged(), *judged_numeric()]
    ]
    documents = [
        {"text": text, "refused": refused, "comment": comment}
        for text, refused, comment in judged_documents()
    ]
    return "reject.json", {
        "about": about,
        "version": 1,
        "reports": rows,
        "documents": documents,
    }


HIDDEN = {
    0x00: "a zero character",
    0x0A: "a line feed",
    0x1B: "an escape",
    0x7F: "a delete",
    0x9B: "a control character",
    0xAD: "a soft hyphen",
    0x061C: "an Arabic letter mark",
    0x180E: "a Mongolian vowel separator",
    0x200B: "a zero-width space",
    0x200E: "a left-to-right mark",
    0x200F: "a right-to-left mark",
    0x2028: "a line separator",
    0x202A: "an embedding",
    0x202E: "an override of direction",
    0x2060: "a word joiner",
    0x2066: "an isolate",
    0x206F: "a deprecated format character",
    0xFEFF: "a byte order mark",
    0xFFF9: "an annotation",
    0xFFFB: "the end of an annotation",
    0xE0000: "a tag",
    0xE007F: "the last tag",
}
SHOWN = {
    0x20: "a space",
    0x7E: "the last printable character of ASCII",
    0xA0: "a space that does not break",
    0x200C: "a zero-width non-joiner, which scripts need",
    0x200D: "a zero-width joiner, which scripts need",
    0x2027: "a hyphenation point",
    0x202F: "a narrow space",
    0x2070: "a superscript",
    0xFFFD: "a replacement character",
    0x1F600: "an emoji",
    0xE0080: "not a tag any more",
}


def judged_documents():
    """Yield the text of a task document, whether a device refuses it, and why."""
    plain = histogram("browser", ["a", "b"], "1.0")
    table = survey("household", [1, 3], "1.0")
    for characters, refused in ((HIDDEN, True), (SHOWN, False)):
        for code_point, comment in characters.items():
            words = f"free{chr(code_point)}of charge"
            yield ref.canonical(plain | {"name": words}), refused, f"a name with {comment}"
            yield (
                ref.canonical(plain | {"description": words}),
                refused,
                f"a description with {comment}",
            )
            names = [words, *table["domain"]["names"][1:]]
            renamed = table | {"domain": table["domain"] | {"names": names}}
            yield ref.canonical(renamed), refused, f"a column with {comment}"
    for length, refused in ((200, False), (201, True)):
        yield ref.canonical(plain | {"name": "é" * length}), refused, f"a name of {length}"
    for length, refused in ((500, False), (501, True)):
        text = ref.canonical(plain | {"description": "é" * length})
        yield text, refused, f"a description of {length} characters"
    for length, refused in ((100, False), (101, True)):
        names = ["é" * length, *table["domain"]["names"][1:]]
        renamed = table | {"domain": table["domain"] | {"names": names}}
        yield ref.canonical(renamed), refused, f"a column name of {length} characters"
    for depth, refused in ((30, False), (31, True)):  # within the document and the plan
        plan = '"plan":{"kind":"histogram","mechanism":' + "[" * depth + "]" * depth + "}"
        text = ref.canonical(plain).replace('"plan":' + ref.canonical(plain["plan"]), plan)
        yield text, refused, f"{depth + 2} levels"
    for count, refused in ((256, False), (257, True)):
        cheap = question(ref.mechanism("grr", "0.001", 2))
        several = {"kind": "bundle", "parts": [cheap] * count}
        text = ref.canonical(changed(plain, "opening", "ask", several))
        yield text, refused, f"{count} reports"
    yield (
        ref.canonical(changed(plain, "opening", "number", 1)),
        True,
        "an opening that is not first",
    )
    limits = {"kind": "roundlimits", "count": 3, "width": 10, "mechanisms": ["affine", "grr"]}
    limits |= {"encodings": []}
    for change, refused, comment in (
        ({}, False, "what later rounds may be"),
        ({"count": 1}, True, "a limit to one round"),
        ({"count": 65536}, False, "as many rounds as there are numbers"),
        ({"count": 65537}, True, "more rounds than there are numbers"),
        ({"width": 0}, True, "reports of no bytes"),
        ({"mechanisms": []}, True, "no mechanism"),
        ({"mechanisms": ["grr", "affine"]}, True, "kinds that are not sorted"),
        ({"mechanisms": ["grr", "grr"]}, True, "a kind twice"),
        ({"kind": "rounds"}, True, "another kind"),
        ({"extra": 1}, True, "an unknown field"),
    ):
        yield ref.canonical(plain | {"rounds": limits | change}), refused, comment
    wide = ref.mechanism("oue", "1.0", 1 << 20)
    for count, refused in ((1, False), (2, True)):
        ask = {"kind": "bundle", "parts": [question(wide)] * count}
        content = task("wide", {"kind": "any"}, integers_to(1 << 20), ask, "2.0")
        yield ref.canonical(content), refused, f"{count} reports of 131,072 bytes"


def integers_to(size):
    return {"kind": "integers", "low": 0, "high": size - 1}


def judged():
    """Yield mechanism, payload, whether to refuse it, and why."""
    make = ref.mechanism
    for size, most, over in (
        (2, b"\x01", b"\x02"),
        (256, b"\xff", None),
        (4, b"\x03", b"\x04"),
        (257, b"\x00\x01", b"\x01\x01"),
        (65536, b"\xff\xff", None),
        (65537, b"\x00\x00\x01\x00", b"\x01\x00\x01\x00"),
        (1 << 32, b"\xff\xff\xff\xff", None),
    ):
        yield from bounds(make("grr", "1.0", size), most, over, "an index")
    for size, most, over in (
        (2, b"\x03", b"\x04"),
        (255, b"\xff", None),
        (256, b"\xff\x01", b"\x00\x02"),
    ):
        yield from bounds(make("hadamard", "1.0", size), most, over, "a column")
    for kind in ("sue", "oue", "the"):
        yield from bounds(make(kind, "1.0", 8), b"\xff", None, "a row of bits")
        yield from bounds(make(kind, "1.0", 9), b"\xff\x01", b"\x00\x02", "a row of bits")
        yield make(kind, "1.0", 9), b"\x00\x80", True, "the padding must be zero"
        yield make(kind, "1.0", 9), b"\x00\x00", False, "no bit is set"
    seed = b"\xef\xbe\xad\xde"
    yield from bounds(make("blh", "1.0", 40), seed + b"\x01\x00", seed + b"\x02\x00", "a bucket")
    yield from bounds(make("olh", "1.0", 40), seed + b"\x03\x00", seed + b"\x04\x00", "a bucket")
    olh = make("olh", "1.0", 40, buckets=65537)
    yield from bounds(olh, seed + b"\x00\x00\x01\x00", seed + b"\x01\x00\x01\x00", "a bucket")
    yield from bounds(make("rmp", "1.0", 40), b"\xff\xff\xff\xff\x01", seed + b"\x02", "a sign")
    yield from bounds(
        make("rmp", "1.0", 40, rows=100), b"\x63\0\0\0\x01", b"\x64\0\0\0\x01", "a row"
    )
    for kind, bits in (("affine", 10), ("affine_prefix", 10), ("affine_prefix", 160)):
        document = make(kind, "1.0", 1 << bits)
        yield from bounds(
            document, b"\xff" * 8 + b"\x03\x00", b"\xff" * 8 + b"\x04\x00", "a bucket"
        )
        yield document, b"\xff" * 8 + b"\x00\x01", True, "the high byte of a bucket counts"
    subset = make("subset", "1.0", 11, chosen=3)
    yield from bounds(subset, b"\x01\x06", b"\x03\x08", "a set")
    for data, comment in (
        (b"\x03\x00", "a value too few"),
        (b"\x0f\x00", "a value too many"),
        (b"\0\0", "empty"),
    ):
        yield subset, data, True, comment
    bloom = make("bloom", "4.0", 60, bits=13, hashes=2, cohorts=3)
    yield from bounds(bloom, b"\x02\x00\xff\x1f", b"\x03\x00\x00\x00", "a cohort")
    yield bloom, b"\x00\x00\x00\x20", True, "the padding must be zero"
    yield bloom, b"\x00\x01\x00\x00", True, "the high byte of a cohort counts"


def judged_numeric():
    make = ref.mechanism
    yield from bounds(make("duchi", "1.0", 201), b"\x01", b"\x02", "a sign")
    yield make("duchi", "1.0", 201), b"\xff", True, "a sign that is not there"
    yield make("duchi", "1.0", 201), b"\x00", False, "the first sign"
    for cells, most, over in (
        (2, b"\x01", b"\x02"),
        (256, b"\xff", None),
        (257, b"\x00\x01", b"\x01\x01"),
        (4096, b"\xff\x0f", b"\x00\x10"),
        (65536, b"\xff\xff", None),
    ):
        yield from bounds(make("piecewise", "1.0", 201, cells=cells), most, over, "a cell")
    hybrid = make("hybrid", "1.0", 201)
    yield from bounds(hybrid, b"\x01\xff\x0f", b"\x01\x00\x10", "a cell")
    yield from bounds(hybrid, b"\x00\x01\x00", b"\x00\x02\x00", "a sign")
    yield hybrid, b"\x02\x00\x00", True, "a coin that is not there"
    yield hybrid, b"\x00\x00\x01", True, "the high byte of a sign counts"
    yield hybrid, b"\x01\x00\x00", False, "the first cell"
    yield from bounds(make("hybrid", "1.0", 201, cells=65536), b"\x01\xff\xff", None, "a cell")
    signs = make("hybrid", "0.5", 201)
    yield from bounds(
        signs, b"\x00\x01\x00", b"\x01\x01\x00", "a sign, or with alpha 0 a coin of 1"
    )
    for size, epsilon, most, over in (
        (16, "5.0", b"\x0f", b"\x10"),
        (16, "1.0", b"\x17", b"\x18"),
        (512, "1.0", b"\x05\x03", b"\x06\x03"),
        (4096, "20.0", b"\xff\x0f", b"\x00\x10"),
    ):
        document = make("square_wave", epsilon, size)
        assert size + 2 * document["reach"] == int.from_bytes(over, "little")
        yield from bounds(document, most, over, "a bucket")


def bounds(document, most, over, what):
    yield document, most, False, f"{what}: the largest there is"
    if over is not None:
        yield document, over, True, f"{what} that is not there"
    if len(most) > 1:
        yield document, most[:-1], True, "cut"
        yield document, most + b"\x00", True, "a byte too many"


def memo():
    about = (
        "streams: HMAC-SHA-256(secret, 'sottovoce/prr/v1' | context | counter as 4 little-endian "
        "bytes), counter = 0, "
        "1, ... -> the first 96 bytes. refused: secrets that are too short. responses: the "
        "permanent response to a "
        "value, drawn from the stream of its context (here: 16 bytes of task digest | attribute in "
        "UTF-8 | index as 4 "
        "little-endian bytes), and the report that recorded bytes make of it."
    )
    streams = [
        {
            "secret": secret.hex(),
            "context": context.hex(),
            "bytes": ref.keyed_stream(secret, context, 96).hex(),
        }
        for secret, context in keyed()
    ]
    refused = [
        {"secret": (b"\x01" * length).hex(), "context": "", "comment": "16 bytes at least"}
        for length in (0, 15)
    ]
    content = {
        "about": about,
        "version": 1,
        "streams": streams,
        "refused": refused,
        "responses": list(response_rows()),
    }
    return "memo.json", content


def keyed():
    for length in (16, 32, 64, 65, 200):
        yield ref.sha_stream(f"memo {length}", length), b""
        yield ref.sha_stream(f"memo {length}", length), b"context"
    yield bytes(16), bytes(20)
    yield b"\xff" * 32, "città".encode()
    yield bytes(range(32)), bytes(range(200))


def response_rows():
    rappor = {"second_keep": str(3 << 62), "second_flip": str(1 << 62)}
    for document in (
        ref.mechanism("sue", "2.1972245773362196", 4, **rappor),
        ref.mechanism("sue", "2.0", 13),
        ref.mechanism(
            "sue", "3.8918202981106265", 24, second_keep=str(1 << 63), second_flip=str(1 << 62)
        ),
        ref.mechanism("bloom", "4.0", 60, bits=13, hashes=2, cohorts=6, **rappor),
    ):
        one = ref.Settings(document)
        bits = one.bits or one.size
        for value in sorted({0, 1, one.size // 2, one.size - 1}):
            secret, name = ref.sha_stream("memo secret", 32), ref.digest_bytes({"task": "commute"})
            context = name + "città".encode() + pack("<I", value)
            rows = ref.permanent(
                one, value, ref.Stream(ref.keyed_stream(secret, context, 8 * bits + 64))
            )
            data = ref.sha_stream(f"instantaneous {one.size} {value}", 8 * bits)
            stream = ref.Stream(data)
            report = ref.instantaneous(one, rows, stream)
            yield {
                "mechanism": document,
                "value": value,
                "secret": secret.hex(),
                "context": context.hex(),
                "permanent": rows.hex(),
                "random": data.hex(),
                "payload": report.hex(),
                "consumed": stream.consumed,
            }


def numbers():
    about = (
        "indices: domain of numbers or buckets, value as the shortest decimal of a double (or nan, "
        "inf, -inf) -> "
        "index, or refused. In doubles, each step rounded: position = (value - low) / (high - "
        "low); numbers: position "
        "* (points - 1) to the nearest whole number, halves to the even one; buckets: position * "
        "count, rounded down, "
        "at most count - 1. Clamped: a value outside is moved to the end first; nan is refused all "
        "the same."
    )
    rows = []
    for kind, low, high, size, values in number_domains():
        for clamped in (False, True):
            domain = {"kind": kind, "low": low, "high": high} | {"numbers": {"points": size}}.get(
                kind, {"count": size}
            )
            domain["clamped"] = clamped
            outside = ("-1e+300", "1e+300", "inf", "-inf", "nan", *beside(low, high))
            for value in (*(values if not clamped else ()), low, high, *outside):
                index = ref.domain_index(domain, float(value))
                found = {"refused": True} if index is None else {"index": index}
                rows.append({"domain": domain, "value": value} | found)
    return "numbers.json", {"about": about, "version": 1, "indices": rows}


def beside(low, high):
    """Return the doubles next to both ends: outside, inside, inside, outside."""
    low, high = float(low), float(high)
    return [repr(nextafter(end, way)) for end in (low, high) for way in (-inf, inf)]


def number_domains():
    halves = [f"{whole}.5" for whole in range(10)]
    yield (
        "numbers",
        "0.0",
        "10.0",
        11,
        (*halves, "0.49999999999999994", "0.5000000000000001", "4.35", "-0.0", "1e-05"),
    )
    yield "numbers", "-5.0", "5.0", 11, ("-4.5", "-3.5", "-0.5", "0.5", "1.5", "4.5", "-0.0", "0.0")
    yield "numbers", "0.0", "1.0", 2, ("0.5", "0.49999999999999994", "0.5000000000000001")
    yield "numbers", "0.0", "1.0", 4, ("0.16666666666666666", "0.5", "0.8333333333333334")
    yield "numbers", "0.0", "1.0", 101, ("0.005", "0.015", "0.285", "0.345", "0.575", "0.995")
    yield (
        "numbers",
        "30.0",
        "45.0",
        POINTS,
        ("36.6", "37.5", "30.000007152557373", "30.00000715255738"),
    )
    yield "numbers", "0.1", "0.7", 7, ("0.15", "0.2", "0.25", "0.35", "0.45", "0.55", "0.65")
    yield (
        "numbers",
        "-1e+16",
        "9007199254740992.0",
        (1 << 24) + 1,
        ("0.0", "1.0", "9007199254740991.0"),
    )
    yield (
        "buckets",
        "0.0",
        "10.0",
        5,
        ("1.9999999999999998", "2.0", "2.0000000000000004", "5.5", "8.0", "-0.0"),
    )
    yield (
        "buckets",
        "0.0",
        "1.0",
        100,
        ("0.07", "0.14", "0.28", "0.29", "0.56", "0.57", "0.58", "0.99"),
    )
    yield "buckets", "-5.0", "5.0", 2, ("-1e-300", "-0.0", "0.0", "1e-300")
    yield "buckets", "0.1", "0.7", 6, ("0.2", "0.3", "0.4", "0.5", "0.6")
    yield "buckets", "30.0", "45.0", 4096, ("36.6", "37.5", "37.4963378906", "37.49633789062499")
    yield "buckets", "-0.1", "0.30000000000000004", 3, ("0.0", "0.1", "0.2")


def longitudinal():
    about = (
        "tasks: whole documents of longitudinal tasks, which collector and device both read. tags: "
        "secret, slot, "
        "encoded index -> the tag under which a response is remembered: HMAC-SHA-256(secret, "
        "'sottovoce/memo/v1' | "
        "slot as 2 | index as 4 little-endian bytes). lives: what one device sends in round after "
        "round: task, "
        "its 16 public bytes (coin), its 32 secret bytes, and for every answer the round (absent: "
        "the opening one), "
        "value, recorded bytes of the operating system (for each slot the instantaneous draws, "
        "then the 16 bytes of "
        "the report's id) -> message; the whole of the task's epsilon is charged at the first "
        "answer. refused: task, "
        "round, value that must be refused before anything is charged."
    )
    return "longitudinal.json", {
        "about": about,
        "version": 1,
        "tasks": [named(content, comment) for content, comment in lasting_tasks()],
        "tags": list(tag_rows()),
        "lives": list(life_rows()),
        "refused": list(refused_rounds()),
    }


LABELS = ["home", "office", "road", "elsewhere", "nowhere"]
RAPPOR = {"second_keep": str(3 << 62), "second_flip": str(1 << 62)}


def tracking(labels, epsilon, epochs, distinct, kind="sue"):
    share = ref.response_epsilon(epsilon, distinct)
    mechanism = ref.mechanism(kind, share, len(labels), **(RAPPOR if kind == "sue" else {}))
    domain = {"kind": "categories", "labels": labels, "declinable": False}
    plan = {"kind": "tracking", "epochs": epochs, "mechanism": kind}
    return task("where", plan, domain, question(mechanism), epsilon) | {"distinct": distinct}


def lasting_tasks():
    yield tracking(LABELS, "4.0", 12, 2), "the same question in twelve epochs, two distinct values"
    yield tracking(LABELS, "1.0", 65536, 3), "a third of epsilon, rounded down"
    yield tracking(LABELS, "0.7", 2, 7), "a seventh of epsilon"
    yield tracking(LABELS, "20.0", 1, 65535), "as many distinct values as there may be"
    yield tracking(LABELS, "2.0", 4, 1, "olh"), "permanent responses only"
    settings = {
        "quota": 0,
        "seconds": 86400,
        "grace": 60,
        "minimum": 500,
        "crowd": 0,
        "retention": 30,
    }
    settings |= {"kind": "collection", "enrolment": True, "sandbox": False}
    yield (
        tracking(LABELS, "4.0", 12, 2) | {"collection": settings},
        "settings of the collection are part of the task",
    )
    once = histogram("once", LABELS, "1.0")
    yield (
        once | {"distinct": 1},
        "one round, one value: as a task that is not longitudinal, but memoised",
    )
    yield once | {"collection": settings | {"enrolment": False, "sandbox": True}}, "a rehearsal"
    halves = survey("household", [1, 3], "0.5")
    yield (
        halves | {"epsilon": "1.0", "distinct": 2},
        "a choice, with half of epsilon for each of two values",
    )


def tag_rows():
    for secret in (bytes(32), b"\xff" * 32, ref.sha_stream("tag secret", 32)):
        for slot, index in ((0, 0), (0, 1), (1, 0), (255, 256), (65535, (1 << 32) - 1)):
            tag = ref.memo_tag(secret, slot, index)
            yield {"secret": secret.hex(), "slot": slot, "index": index, "tag": tag.hex()}


def life_rows():
    places = [0, 1, 0, 2, 1, 3, 4, 0]
    yield life(
        tracking(LABELS, "4.0", 999, 2), places, "a value beyond the limit repeats the last used"
    )
    yield life(
        tracking(LABELS, "4.0", 999, 1), [3, 3, 0, 3], "one distinct value: the first one for ever"
    )
    for kind in ("grr", "oue", "the", "blh", "olh", "rmp", "hadamard", "subset", "affine", "bloom"):
        yield life(
            tracking(LABELS, "2.0", 999, 2, kind), [4, 0, 4, 1], f"permanent responses of {kind}"
        )
    wide = [f"label {place}" for place in range(70)]
    yield life(tracking(wide, "6.0", 999, 3), [69, 0, 33, 69, 1, 33], "reports of nine bytes")
    numbers = mean("body temperature", "30.0", "45.0", "1.0") | {"epsilon": "2.0", "distinct": 2}
    yield life(numbers, [36.6, 38.2, 36.6, 40.0], "numbers")
    halves = survey("household", [1, 3], "0.5") | {"epsilon": "1.0", "distinct": 2}
    for place in range(3):
        people = [{"home": "house", "square metres": area} for area in (120, 121, 120, 5)]
        yield life(halves, people, "the coin of a choice is that of round 0 in every round", place)
    yield from bundled_lives()
    yield life(
        tracking(LABELS, "4.0", 999, 2) | {"declares": ["subject"]},
        [0, 1, 0],
        "a new subject in every round",
    )


def bundled_lives():
    """Openings that a device answers whatever the plan behind them."""
    column = [{"kind": "attribute", "column": place} for place in (0, 1)]
    home = question(ref.mechanism("sue", "0.5", 3, **RAPPOR), encoding=column[0])
    area = question(ref.mechanism("olh", "0.5", 401), encoding=column[1])
    bits = question(ref.mechanism("oue", "0.5", 3), encoding=column[0])
    pair = {"kind": "bundle", "parts": [home, area]}
    mixed = {
        "kind": "bundle",
        "parts": [{"kind": "choice", "members": [home, bits], "weights": [1, 2]}, area],
    }
    split = {
        "kind": "choice",
        "members": [pair, {"kind": "bundle", "parts": [bits, home]}],
        "weights": [1, 1],
    }
    people = [
        {"home": kind, "square metres": area}
        for kind, area in (("flat", 9), ("house", 9), ("other", 10))
    ]
    domain = survey("household", [], "1.0")["domain"]
    for ask, comment in (
        (pair, "a bundle"),
        (mixed, "a bundle of choices"),
        (split, "a choice of bundles"),
    ):
        for place in range(2):
            content = task("household", {"kind": "unread"}, domain, ask, "2.0") | {"distinct": 2}
            yield life(content, people, f"{comment}: a memory for each slot", place)


def life(content, values, comment, place=0):
    label = f"life {ref.digest(content)} {place}"
    coin, secret = ref.sha_stream(label + " coin", 16), ref.sha_stream(label + " secret", 32)
    memory, answers = ref.Memory(secret, content["distinct"]), []
    for turn, value in enumerate(values):
        asked = content["opening"] | {"number": (0, 1, 2, 3, 255, 256, 998, 65535)[turn]}
        data = ref.sha_stream(f"{label} {turn}", 1024)
        stream = ref.Stream(data)
        sent = ref.lasting_message(
            content, asked, coin, memory, indexed(content["domain"], value), stream
        )
        answer = {"round": asked} if turn else {}
        told = content["domain"]["labels"][value] if "labels" in content["domain"] else value
        answer |= {"value": told, "random": data[: stream.consumed + 8].hex()}
        answers.append(answer | {"message": sent.hex(), "consumed": stream.consumed})
    return {
        "task": content,
        "coin": coin.hex(),
        "secret": secret.hex(),
        "answers": answers,
        "comment": comment,
    }


def indexed(domain, value):
    """Return the index of a value, or those of a record's attributes; labels are given by their
    place.
    """
    if domain["kind"] == "records":
        home, area = value["home"], value["square metres"]
        return [["flat", "house", "other"].index(home), area]
    return ref.domain_index(domain, value) if domain["kind"] == "numbers" else value


def refused_rounds():
    content = tracking(LABELS, "4.0", 12, 2)
    other = question(ref.mechanism("oue", "2.0", 5))
    cheap = question(ref.mechanism("sue", "1.0", 5, **RAPPOR))
    for ask, comment in (
        (other, "another mechanism: it would draw more from the same secret"),
        (cheap, "another epsilon"),
        ({"kind": "bundle", "parts": [cheap, cheap]}, "a bundle of what was asked alone"),
        (
            content["opening"]["ask"] | {"epsilon": "2.5"},
            "more than the responses together may cost",
        ),
    ):
        yield {"task": content, "round": round_(1, ask), "value": "home", "comment": comment}
    opening = content["opening"]
    yield {
        "task": content,
        "round": opening | {"high": ref.whole(1 << 63)},
        "value": "home",
        "comment": "another opening round than the task states",
    }
    large = {"kind": "integers", "low": 0, "high": 1 << 32}
    asked = question(ref.mechanism("affine", "1.0", (1 << 32) + 1, buckets=2))
    wide = task("wide", {"kind": "unread"}, large, asked, "1.0") | {"distinct": 1}
    yield {
        "task": wide,
        "round": wide["opening"],
        "value": 7,
        "comment": "more than 2^32 encoded values",
    }


def ledger():
    about = (
        "scripts: a device's ledger with a cap and sliding windows (epsilon in decimals, seconds, "
        "number of charges), "
        "and events one after another. answer: at a time, for a task and a round, at a price; a "
        "lasting task is "
        "charged once and answered once a round, another one is answered once; an epsilon of 0.0 "
        "is a rehearsal, which counts as a report of every window; with a cap of 0.0 nothing "
        "leaves; accepted says whether the message may leave, and what is refused leaves no trace. "
        "opt-out: of a task, or of "
        "all (null). restart: the ledger is closed and opened again. spent: what was charged in "
        "the end. Epsilons add "
        "as exact decimals. A charge at t is inside a window of s seconds at times before t + s. "
        "Time is that of the "
        "clock, or of the last charge if that is later."
    )
    return "ledger.json", {"about": about, "version": 1, "scripts": list(script_rows())}


def script_rows():
    for cap, windows, events, comment in (*capped(), *windowed(), *lasting(), *left()):
        book, played = ref.Book(cap, windows), []
        for event in events:
            if event["event"] == "answer":
                event = event | {"accepted": book.answer(event)}
            elif event["event"] == "opt-out":
                book.left.add(event["task"])
            played.append(event)
        row = {"cap": cap, "windows": windows, "events": played, "spent": repr(float(book.spent()))}
        yield row | {"comment": comment}


def said(task, epsilon="1.0", time=0, number=0, *, lasting=False):
    place = {"event": "answer", "time": time, "task": task, "round": number}
    return place | {"epsilon": epsilon, "lasting": lasting}


def window(seconds, epsilon, reports):
    return {"seconds": seconds, "epsilon": epsilon, "reports": reports}


RESTART = {"event": "restart"}


def capped():
    yield "2.5", [], [said(task) for task in "abc"], "the third would be beyond the cap"
    yield (
        "1.0",
        [],
        [said(task, "0.1") for task in "abcdefghij"] + [said("k", "0.001")],
        "ten tenths are one",
    )
    yield (
        "0.7",
        [],
        [said(task, "0.1") for task in "abcdefgh"],
        "seven tenths are 0.7, in doubles they are more",
    )
    yield "0.3", [], [said("a", "0.1"), said("b", "0.2"), said("c", "0.1")], "0.1 and 0.2 are 0.3"
    yield "1.0", [], [said("a"), said("b", "1e-300")], "however little is too much"
    yield (
        "1.5",
        [],
        [said("a"), said("b", "5e-324"), said("c", "0.5")],
        "however little is not forgotten",
    )
    yield (
        "0.30000000000000004",
        [],
        [said("a", "0.3"), said("b", "4e-17"), said("c", "5e-324")],
        "17 digits",
    )
    yield "0.0", [], [said("a", "0.1")], "nothing to spend"
    yield (
        "5.0",
        [],
        [said("a"), said("a"), said("a", number=1), said("b")],
        "a second answer, also to another round",
    )
    script = [said("a", number=7), RESTART, said("a", number=7), said("b"), RESTART, said("b")]
    yield "5.0", [], script, "after a restart"
    yield (
        "2.0",
        [],
        [said("a", "2.5"), said("a", "2.0")],
        "what was refused for its price may be asked for less",
    )
    yield (
        "0.1",
        [],
        [said("a", "0.0"), said("a", "0.0"), said("b", "0.0"), said("c", "0.1")],
        "rehearsals are free, and answered once",
    )
    yield "0.0", [], [said("a", "0.0")], "with a cap of 0 not even a rehearsal leaves"
    yield "1.0", [], [said("a"), said("b", "0.0"), said("c", "0.1")], "a rehearsal beyond the cap"


def windowed():
    two = [window(60, "5.0", 2)]
    times = [("a", 100), ("b", 130), ("c", 159), ("c", 160), ("d", 189), ("d", 190), ("e", 190)]
    yield (
        "9.0",
        two,
        [said(task, "0.1", time) for task, time in times],
        "two charges a minute, open at its end",
    )
    times = [("a", 0), ("b", 0), ("c", 0), ("d", 59), ("d", 60)]
    yield (
        "9.0",
        [window(60, "0.3", 9)],
        [said(task, "0.1", time) for task, time in times],
        "0.3 a minute, in decimals",
    )
    both = [window(10, "1.0", 9), window(100, "2.0", 9)]
    times = [
        ("a", 0),
        ("b", 9),
        ("b", 10),
        ("c", 20),
        ("c", 99),
        ("c", 100),
        ("d", 105),
        ("d", 110),
    ]
    yield (
        "3.0",
        both,
        [said(task, "1.0", time) for task, time in times],
        "two windows and the cap at once",
    )
    one = [window(60, "5.0", 1)]
    times = [
        ("a", 1000),
        ("b", 0),
        ("b", 939),
        ("b", 1059),
        ("b", 1060),
        ("c", 5),
        ("c", 1119),
        ("c", 1120),
    ]
    yield (
        "9.0",
        one,
        [said(task, "1.0", time) for task, time in times],
        "a clock set back refills nothing",
    )
    times = [("a", 1000), ("b", 10), ("c", 1000), ("d", 1059), ("d", 1060)]
    yield (
        "9.0",
        two,
        [said(task, "1.0", time) for task, time in times],
        "a charge of a clock set back has the last time",
    )
    script = [
        said("a", "1.0", 100),
        said("b", "9.5", 10**6),
        said("c", "1.0", 159),
        said("c", "1.0", 160),
    ]
    yield "9.0", one, script, "a refused charge does not move the clock"
    script = [said("a", "1.0", 100), RESTART, said("b", "1.0", 120), RESTART, said("b", "1.0", 160)]
    yield "9.0", one, script, "windows after a restart"
    script = [said("a", "0.0", 0), said("b", "1.0", 1), said("c", "0.0", 59), said("b", "1.0", 60)]
    yield "9.0", one, script, "a rehearsal is one of the reports of a window"
    script = [said("a", "1.0", 0), said("b", "0.0", 1), said("b", "0.0", 60), said("c", "1.0", 61)]
    yield "9.0", one, script, "a window with room for one report has none for a rehearsal"
    script = [said("a", "5.5", 0), said("a", "5.0", 0), said("b", "0.1", 59), said("b", "0.1", 60)]
    yield "9.0", [window(60, "5.0", 9)], script, "one charge may fill a window"


def lasting():
    rounds = [
        said("a", "4.0", turn, number, lasting=True)
        for turn, number in enumerate((0, 1, 1, 7, 0, 65535))
    ]
    yield "4.0", [], rounds, "one charge for every round, one answer a round"
    yield "3.9", [], rounds, "what cannot be paid for whole is not answered at all"
    yield "4.0", [], [*rounds[:2], RESTART, *rounds[1:4]], "after a restart"
    script = [
        said("a", "1.0", 0, lasting=True),
        said("b", "1.0", 1),
        said("a", "1.0", 2, 1, lasting=True),
    ]
    yield "9.0", [window(60, "5.0", 1)], script, "later rounds are paid for and fit in any window"
    script = [said("a", "1.0", 0, 5, lasting=True), said("a", "1.0", 1, 4, lasting=True)]
    yield "9.0", [], script, "rounds in any order"
    script = [said("a", "0.0", 0, number, lasting=True) for number in (0, 1, 1)]
    yield "0.1", [], script, "a rehearsal of several rounds"


def left():
    leave, leave_all = {"event": "opt-out", "task": "a"}, {"event": "opt-out", "task": None}
    yield (
        "2.0",
        [],
        [said("a"), leave, said("a"), said("b"), said("c")],
        "an opt-out refunds nothing",
    )
    yield "9.0", [], [leave, said("a"), said("b")], "before the first answer"
    script = [
        said("a", "1.0", 0, lasting=True),
        leave,
        said("a", "1.0", 1, 1, lasting=True),
        said("b"),
    ]
    yield "9.0", [], script, "between two rounds"
    yield (
        "9.0",
        [],
        [said("a"), leave_all, said("a"), said("b"), RESTART, said("c")],
        "of everything, for good",
    )
    yield (
        "9.0",
        [],
        [leave, RESTART, said("a"), said("a", "0.0"), leave, said("b")],
        "after a restart, and twice",
    )
    script = [said("a", "1.0", 0), leave, said("b", "1.0", 59), said("b", "1.0", 60)]
    yield "9.0", [window(60, "5.0", 1)], script, "what was charged stays in the window"

"""Task files: what operators write becomes the same task that Python would make, or an error that
names the rule.
"""

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from collector.people import Clock, counting, text
from sottovoce.collector import taskfile
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.domains.integers import Integers
from sottovoce.errors import CodecError, DomainError, ParameterError, SottovoceError
from sottovoce.plans.frequencies.tracking import Tracking
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

FOODS = ["bread", "milk", "tea", "oats", "rye", "figs"]
FILES = {
    "histogram": (
        'kind = "histogram"\ndomain = ["chrome", "firefox", "other"]',
        sv.Histogram(["chrome", "firefox", "other"]),
    ),
    "histogram of a range": (
        'kind = "histogram"\ndomain = {low = 18, high = 99}',
        sv.Histogram(Integers(18, 99)),
    ),
    "histogram with everything": (
        'kind = "histogram"\ndomain = ["a", "b"]\nmechanism = "oue"\ndeclinable = true',
        sv.Histogram(["a", "b"], "oue", declinable=True),
    ),
    "survey": (
        'kind = "survey"\nweights = [1, 3]\n'
        '[plan.domain]\npet = ["cat", "dog"]\nage = {low = 18, high = 99}',
        sv.Survey({"pet": ["cat", "dog"], "age": Integers(18, 99)}, [1, 3]),
    ),
    "table with a workload": (
        'kind = "table"\n'
        'workload = ["SELECT COUNT(*) FROM people", ["SELECT AVG(age) FROM people", 3]]\n'
        '[plan.columns]\nage = {low = 18, high = 99}\npet = ["cat", "dog"]',
        sv.Table(
            {"age": Integers(18, 99), "pet": ["cat", "dog"]},
            workload={"SELECT COUNT(*) FROM people": 1, "SELECT AVG(age) FROM people": 3},
        ),
    ),
    "mean": ('kind = "mean"\nlow = 0\nhigh = 120', sv.Mean(0, 120)),
    "mean with everything": (
        'kind = "mean"\nlow = -1.5\nhigh = 2.5\nmechanism = "duchi"\nclamped = true',
        sv.Mean(-1.5, 2.5, "duchi", clamped=True),
    ),
    "distribution": (
        'kind = "distribution"\nlow = 0\nhigh = 24\nbuckets = 48',
        sv.Distribution(0, 24, 48),
    ),
    "survey of questions with short names": (
        'kind = "survey"\n'
        '[plan.domain]\nlow = ["a", "b"]\nhigh = {low = 1, high = 3}\nbits = ["x", "y"]',
        sv.Survey({"low": ["a", "b"], "high": Integers(1, 3), "bits": ["x", "y"]}),
    ),
    "survey of one question named bits": (
        'kind = "survey"\n[plan.domain]\nbits = ["x", "y"]',
        sv.Survey({"bits": ["x", "y"]}),
    ),
    "heavy hitters of some bits": (
        'kind = "pem"\ndomain = {bits = 48}',
        sv.HeavyHitters(sv.Bits(48)),
    ),
    "heavy hitters of some bytes": (
        'kind = "pem"\ndomain = {bytes = 20}\nthreshold = 0.01',
        sv.HeavyHitters(sv.Strings(20), threshold=0.01),
    ),
    "heavy hitters of whole texts": (
        'kind = "pem"\ndomain = {bytes = 20, whole = true}\ntop = 32',
        sv.HeavyHitters(sv.Strings(20, whole=True), 32),
    ),
    "top items": (f'kind = "svim"\ndomain = {FOODS}\ntop = 3', sv.TopItems(FOODS, 3)),
    "top items of a range": (
        'kind = "svim"\ndomain = {low = 1, high = 900}',
        sv.TopItems(Integers(1, 900)),
    ),
    "itemsets": (
        f'kind = "svsm"\ndomain = {FOODS}\ntop = 5\npaper = true',
        sv.Itemsets(FOODS, 5, paper=True),
    ),
    "adaptive top items": (
        f'kind = "dbs"\ndomain = {FOODS}\nusers = 5_000\ntop = 2\n'
        "rounds = 4\neven = true\nbasket = 2.5",
        sv.AdaptiveTopItems(FOODS, 5000, 2, rounds=4, even=True, basket=2.5),
    ),
    "joint tables": (
        'kind = "marginals"\nusers = 50_000\n'
        '[plan.domain]\npet = ["cat", "dog"]\nage = {low = 1, high = 5}\nlow = ["a", "b"]',
        sv.Marginals({"pet": ["cat", "dog"], "age": Integers(1, 5), "low": ["a", "b"]}, 50_000),
    ),
    "joint tables with everything": (
        'kind = "marginals"\nusers = 900\norder = 2\nview_size = 2\n'
        '[plan.domain]\nlow = ["a", "b"]\nhigh = ["c", "d"]',
        sv.Marginals({"low": ["a", "b"], "high": ["c", "d"]}, 900, 2, 2),
    ),
}


def read(content):
    return taskfile.read(json.dumps(content), toml=False)


def plain(**rest):
    return {
        "name": "x",
        "epsilon": 1.0,
        "plan": {"kind": "histogram", "domain": ["a", "b"]},
        **rest,
    }


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_the_task_that_python_would_make(kind):
    plan, expected = FILES[kind]
    made = taskfile.read(f'name = "x"\nepsilon = 2.0\n[plan]\n{plan}\n', toml=True)
    assert made == Task("x", expected, 2.0, collection=Collection())


@pytest.mark.parametrize("kind", FILES)
def test_toml_and_json_say_the_same(kind):
    content = f'name = "x"\nepsilon = 2.0\n[plan]\n{FILES[kind][0]}\n'
    assert taskfile.read(json.dumps(tomllib.loads(content)), toml=False) == taskfile.read(
        content, toml=True
    )


def test_tracking_needs_the_number_of_distinct_values():
    plan = {"kind": "tracking", "domain": ["home", "office"], "epochs": 3}
    made = read({"name": "x", "epsilon": 4.0, "distinct": 2, "plan": plan})
    assert made == Task(
        "x", Tracking(["home", "office"], 3), 4.0, collection=Collection(), distinct=2
    )
    with pytest.raises(ParameterError, match="distinct"):
        read({"name": "x", "epsilon": 4.0, "plan": plan})


def test_what_a_file_leaves_out_has_its_default():
    made = read(plain())
    assert made.collection == Collection()
    assert (made.description, made.declares, made.distinct) == ("", (), None)
    assert read(plain(collection={"quota": 500})).collection == Collection(quota=500)


def test_every_setting_of_a_collection_can_be_set():
    settings = {
        "quota": 100,
        "seconds": 10,
        "grace": 5,
        "minimum": 60,
        "crowd": 7,
        "retention": 30,
        "enrolment": True,
        "sandbox": True,
    }
    assert read(plain(collection=settings)).collection == Collection(**settings)
    issuer = {"minimum": 60, "issuer": "A" * 456, "defence": "seeds"}
    assert read(plain(collection=issuer)).collection == Collection(**issuer)
    assert {*settings, *issuer} == set(Collection.__dataclass_fields__)


def test_descriptions_and_declared_fields_travel():
    made = read(plain(description="Which?", declares=["subject"]))
    assert (made.description, made.declares) == ("Which?", ("subject",))


def test_a_whole_document_is_read_as_it_is():
    task = counting()
    assert taskfile.read(text(task), toml=False) == task
    bare = Task("x", sv.Histogram(["a", "b"]), 1.0)
    assert taskfile.read(text(bare), toml=False) == Task(
        "x", sv.Histogram(["a", "b"]), 1.0, collection=Collection()
    )
    changed = json.loads(text(task)) | {"epsilon": "2.0"}
    with pytest.raises(SottovoceError):
        read(changed)


def joint(domain=None, **rest):
    traits = {"a": ["x", "y"], "b": {"low": 1, "high": 4}} if domain is None else domain
    return plain(plan={"kind": "marginals", "users": 9000, "order": 2, "domain": traits} | rest)


def searching(domain, kind="pem", **rest):
    return plain(plan={"kind": kind, "domain": domain, **rest})


BAD = {
    "an epsilon of nothing": (
        {"name": "x", "epsilon": None, "plan": {"kind": "histogram", "domain": ["a", "b"]}},
        CodecError,
        "`epsilon` must be a number",
    ),
    "no name": ({"epsilon": 1.0, "plan": {}}, CodecError, "name"),
    "no plan": ({"name": "x", "epsilon": 1.0}, CodecError, "plan"),
    "an unknown entry": (plain(quota=5), CodecError, "a task file has an unknown entry"),
    "a plan without a kind": (plain(plan={"domain": ["a", "b"]}), CodecError, "kind"),
    "an unknown kind": (
        plain(plan={"kind": "histogramm"}),
        ParameterError,
        "unknown plan kind.*one of .*pem.*Did you mean `histogram`",
    ),
    "a kind that is a path": (
        plain(plan={"kind": "../../etc"}),
        ParameterError,
        "unknown plan kind",
    ),
    "a kind that is another module": (
        plain(plan={"kind": "choose"}),
        ParameterError,
        "unknown plan kind",
    ),
    "an unknown setting of the plan": (
        plain(plan={"kind": "mean", "hihg": 3}),
        CodecError,
        "`Mean` has an unknown entry.*Did you mean `high`",
    ),
    "an unknown setting": (
        plain(collection={"qota": 3}),
        CodecError,
        "`Collection` has an unknown entry.*Did you mean `quota`",
    ),
    "a plan that is text": (plain(plan="histogram"), CodecError, "tables"),
    "a collection that is a list": (plain(collection=[1]), CodecError, "tables"),
    "epsilon true": (plain(epsilon=True), CodecError, "number"),
    "epsilon of text": (plain(epsilon="much"), ParameterError, "type"),
    "no epsilon at all": (plain(epsilon=0), ParameterError, "epsilon"),
    "epsilon below zero": (plain(epsilon=-1), ParameterError, "epsilon"),
    "a huge epsilon": (plain(epsilon=10**400), ParameterError, "type"),
    "one value": (
        plain(plan={"kind": "histogram", "domain": ["a"]}),
        ParameterError,
        "`labels` must have at least 2 entries",
    ),
    "the same value twice": (
        plain(plan={"kind": "histogram", "domain": ["a", "a"]}),
        ParameterError,
        "the entries of `labels` must differ",
    ),
    "a range the wrong way": (
        plain(plan={"kind": "histogram", "domain": {"low": 9, "high": 1}}),
        ParameterError,
        "`high` must be a whole number of at least",
    ),
    "joint tables of nobody": (joint(users=0), ParameterError, "`users`"),
    "joint tables of half a user": (joint(users=900.5), ParameterError, "`users`"),
    "joint tables of more than there is": (
        joint(order=3),
        ParameterError,
        "`order`",
    ),
    "joint tables of an order of text": (
        joint(order="two"),
        ParameterError,
        "`order`",
    ),
    "joint tables by magic": (
        joint(method="magic"),
        ParameterError,
        "`method` must be one of pooled, pooled-2, calm",
    ),
    "joint tables by a list": (
        joint(method=["pooled"]),
        ParameterError,
        "`method` must be one of pooled, pooled-2, calm",
    ),
    "joint tables of a list": (joint(["x", "y"]), ParameterError, "type"),
    "joint tables of one domain": (joint({"low": 1, "high": 4}), ParameterError, "type"),
    "joint tables of bits": (
        joint({"a": ["x", "y"], "b": {"bits": 8}}),
        ParameterError,
        "a list of labels or a range",
    ),
    "joint tables of one value": (
        joint({"a": ["x", "y"], "b": ["z"]}),
        ParameterError,
        "`labels` must have at least 2 entries",
    ),
    "joint tables with a loose threshold": (joint(threshold="much"), ParameterError, "`threshold`"),
    "joint tables for too few users": (
        joint(users=10, view_size=2, domain={f"a{n}": ["x", "y"] for n in range(9)}),
        ParameterError,
        "`view_size`",
    ),
    "joint tables by a baseline": (
        joint(method="fc"),
        ParameterError,
        "`method` must be one of pooled, pooled-2, calm",
    ),
    "a text of no bytes": (
        searching({"bytes": 0}),
        ParameterError,
        "`length` must be a whole number from 1 to 60",
    ),
    "bytes of text": (
        searching({"bytes": "20"}),
        ParameterError,
        "`length` must be a whole number from 1 to 60",
    ),
    "half whole": (
        searching({"bytes": 20, "whole": 1}),
        ParameterError,
        "`whole` must be true or false",
    ),
    "one bit": (
        searching({"bits": 1}),
        ParameterError,
        "`bits` must be a whole number from 2 to 480",
    ),
    "bits and bytes": (searching({"bits": 16, "bytes": 2}), ParameterError, "Bits or Strings"),
    "whole bits": (searching({"bits": 16, "whole": True}), ParameterError, "Bits or Strings"),
    "heavy hitters of a list": (searching(["a", "b"]), ParameterError, "Bits or Strings"),
    "more sought than there are": (
        searching(["a", "b"], kind="svim"),
        ParameterError,
        "`top`",
    ),
    "items that are bits": (
        searching({"bits": 16}, kind="svim"),
        ParameterError,
        "a list of labels or a range",
    ),
    "too few sets": (
        searching(["a", "b", "c"], kind="svsm", top=2),
        ParameterError,
        "`domain` must have at least 5 items",
    ),
    "adaptive items of nobody": (
        searching(["a", "b", "c"], kind="dbs", top=1, users=2),
        ParameterError,
        "`users`",
    ),
    "users of text": (
        searching(["a", "b", "c"], kind="dbs", top=1, users="9"),
        ParameterError,
        "`users`",
    ),
    "adaptive items without users": (
        searching(["a", "b", "c"], kind="dbs"),
        CodecError,
        "`AdaptiveTopItems` must have the entry `users`",
    ),
    "a name that is a number": (plain(name=7), ParameterError, "name"),
    "an empty name": (plain(name=""), ParameterError, "name"),
    "a long name": (plain(name="x" * 201), ParameterError, "200"),
    "a slash in the name": (plain(name="a/b"), ParameterError, "address"),
    "a quota of half a user": (
        plain(collection={"quota": 99.5}),
        ParameterError,
        "`quota` must be a whole number",
    ),
    "a quota below the minimum": (plain(collection={"quota": 10}), ParameterError, "quota"),
    "no retention": (
        plain(collection={"retention": 0}),
        ParameterError,
        "`retention` must be a whole number from 1",
    ),
    "a minimum of one": (
        plain(collection={"minimum": 1}),
        ParameterError,
        "`minimum` must be a whole number from 2",
    ),
    "an unknown field": (plain(declares=["address"]), ParameterError, "declare"),
    "too many distinct values": (plain(distinct=1 << 16), ParameterError, "distinct"),
    "a mean that is no mean": (
        plain(plan={"kind": "mean", "mechanism": "grr"}),
        ParameterError,
        "numbers",
    ),
    "another version": ({**json.loads(text(counting())), "version": 2}, CodecError, "version"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_file_that_cannot_work_is_refused_with_the_rule(what):
    content, kind, rule = BAD[what]
    with pytest.raises(kind, match=rule):
        read(content)


@pytest.mark.parametrize(
    "content", ["", "[]", "7", "{", "null", '"text"', "[" * 100_000, '{"a":' * 5000]
)
def test_what_is_no_json_table_is_refused(content):
    with pytest.raises(CodecError):
        taskfile.read(content, toml=False)


@pytest.mark.parametrize(
    "content", ["= 1", "[[[", 'name = "x', "a = 1\na = 2", "a." * 3000 + "a = 1"]
)
def test_what_is_no_toml_is_refused(content):
    with pytest.raises(CodecError):
        taskfile.read(content, toml=True)


@pytest.mark.parametrize(
    ("content", "toml", "place"),
    [('name = "x"\nepsilon 1', True, "line 2, column 9"), ('{"name":\n 7,]', False, "line 2")],
)
def test_an_error_says_where_reading_stopped(content, toml, place):
    with pytest.raises(CodecError, match=f"stopped at {place}"):
        taskfile.read(content, toml=toml)


HISTOGRAM = """kind = "histogram"
domain = [
  "kind",
  "b",
]"""
FILE = f"""
name = "x"                       # kind, qota
epsilon = 1.0

[plan]
{HISTOGRAM}

[collection]
quota = 500
"""
WRONG = {  # what is written instead of what, and the line that is wrong
    "a kind": ('kind = "histogram"', 'kind = "histogramm"', 6),
    "a missing kind": ('kind = "histogram"', "", 5),
    "a setting of the collection": ("quota = 500", "qota = 500", 13),
    "a value of the collection": ("quota = 500", "quota = -5", 13),
    "a setting of the plan": ("[collection]", "mechanisn = 3\n[collection]", 12),
    "a value of the plan": (HISTOGRAM, 'kind = "mean"\nlow = "low"', 7),
    "a missing setting of the plan": (HISTOGRAM, 'kind = "dbs"\ndomain = ["a", "b"]', 5),
    "labels of the plan": ('"b",', '"kind"', 5),
    "an entry of the file": ("epsilon = 1.0", "epsilon = 1.0\nqota = 5", 4),
    "a name": ('name = "x" ', 'name = ""', 2),
}


def wrong(what):
    right, mistake, line = WRONG[what]
    assert FILE.count(right) == 1
    return FILE.replace(right, mistake), line


@pytest.mark.parametrize("what", WRONG)
def test_an_error_names_the_line_of_its_entry(what):
    content, line = wrong(what)
    with pytest.raises((ParameterError, CodecError), match=rf"^line {line} of the task file: "):
        taskfile.read(content, toml=True)


def test_an_inline_table_stands_on_one_line():
    content = FILE.replace("[collection]\nquota = 500", "")
    content = f"collection = {{grace = 3, minimum = 1}}{content}"
    with pytest.raises(ParameterError, match=r"^line 1 of the task file: `minimum` must"):
        taskfile.read(content, toml=True)


def test_an_error_names_the_line_of_its_entry_in_json():
    content = json.dumps(plain(collection={"quota": 500, "qota": 3}), indent=1)
    line = content.split("\n").index('  "qota": 3') + 1
    with pytest.raises(CodecError, match=rf"^line {line} of .*`quota`\?$"):
        taskfile.read(content, toml=False)


@pytest.mark.parametrize("depth", [300, 900, 950, 980])
def test_a_deep_table_is_refused_and_not_a_crash(depth):
    for start, end in (("[", "]"), ('{"a":', "}")):
        domain = start * depth + "1" + end * depth
        with pytest.raises(SottovoceError):
            taskfile.read(
                f'{{"name":"x","epsilon":1,"plan":{{"kind":"survey","domain":{domain}}}}}',
                toml=False,
            )


def test_a_label_is_never_in_an_error():
    for content in (
        plain(plan={"kind": "histogram", "domain": ["Voldemort", "Voldemort"]}),
        plain(plan={"kind": "survey", "domain": {"pet": ["Voldemort"]}}),
        plain(plan={"kind": "histogram", "domain": ["Voldemort", 7]}),
    ):
        with pytest.raises(SottovoceError) as caught:
            read(content)
        assert "Voldemort" not in str(caught.value)


def test_an_error_shows_the_setting_that_is_wrong():
    with pytest.raises(SottovoceError, match="`low` must be a number, not 'low'"):
        read(plain(plan={"kind": "mean", "low": "low"}))


PLACES = [
    "name",
    "epsilon",
    "description",
    "declares",
    "distinct",
    "plan",
    "collection",
    "kind",
    "domain",
]
SETTINGS = [
    "low",
    "high",
    "mechanism",
    "buckets",
    "clamped",
    "weights",
    "declinable",
    "epochs",
    "quota",
    "minimum",
]
WORDS = [*PLACES, *SETTINGS, "enrolment", "labels"]
TEXTS = [
    "histogram",
    "survey",
    "mean",
    "distribution",
    "tracking",
    "grr",
    "oue",
    "hybrid",
    "a",
    "b",
    "",
    "\ud800",
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 300)
    | st.sampled_from([10**30, -(10**30), 1 << 53])
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.sampled_from(TEXTS)
    | st.text(max_size=3)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
)
PLANS = st.fixed_dictionaries(
    {"kind": st.sampled_from(["histogram", "survey", "mean", "distribution", "tracking"])},
    optional={word: VALUES for word in WORDS if word not in ("kind", "epsilon", "name", "plan")},
)
GOOD = st.just({"kind": "histogram", "domain": ["a", "b"]})
CONTENTS = VALUES | st.fixed_dictionaries(
    {
        "name": st.just("x") | VALUES,
        "epsilon": st.just(1.0) | VALUES,
        "plan": GOOD | PLANS | VALUES,
    },
    optional={
        "collection": VALUES,
        "description": VALUES,
        "declares": VALUES,
        "distinct": VALUES,
        "kind": VALUES,
    },
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    store = SqliteStore(folder / "collector.db")
    yield Collector(store, folder, Clock())
    store.close()


@given(content=CONTENTS)
@settings(max_examples=400)
def test_any_file_is_a_task_or_a_typed_error(fuzzed, content):
    """And what is published can be read again by devices and by the next start of the collector."""
    try:
        published, _ = fuzzed.create(json.dumps(content), toml=False)
    except (ParameterError, CodecError, DomainError):
        return
    except SottovoceError as error:
        assert "tasks do not change" in str(error)  # noqa: PT017
        return
    assert codec.notice(codec.parse(published.record.document)).name == published.record.name
    assert (
        Collector(fuzzed.store, fuzzed.folder, Clock()).find(published.record.name).task
        == published.task
    )


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: data.decode("latin-1")))
@settings(max_examples=200)
def test_any_text_is_a_task_or_a_typed_error(content):
    for toml in (True, False):
        with pytest.raises((ParameterError, CodecError)):
            taskfile.read(content, toml=toml)


SHUFFLE = """
name = "browser"
epsilon = 3.0
[plan]
kind = "histogram"
mechanism = "grr"
domain = {low = 0, high = 15}
[shuffle]
hops = ["https://mix-a.example#AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
users = 10_000
central = 0.5
delta = "1e-6"
fakes = 500
"""
KEY = "B" * 42 + "A"


def test_a_shuffled_task_is_read_and_its_document_is_read_again():
    task = taskfile.read(SHUFFLE, toml=True, collector_key=lambda: KEY)
    assert (task.shuffle.key, task.shuffle.users, task.shuffle.central) == (KEY, 10_000, 0.5)
    assert taskfile.read(text(task), toml=False) == task


def test_only_a_shuffled_task_may_leave_its_epsilon_out():
    with pytest.raises(CodecError, match="must have the entry `epsilon`"):
        read({"name": "browser", "plan": {"kind": "histogram", "domain": ["a", "b"]}})
    without = SHUFFLE.replace("epsilon = 3.0", "").replace("central = 0.5", "")
    with pytest.raises(ParameterError, match="must state `epsilon`, or `central`"):
        taskfile.read(without, toml=True, collector_key=lambda: KEY)


def test_a_shuffle_that_is_no_table_is_refused():
    with pytest.raises(CodecError, match="must be tables"):
        read(plain(shuffle=["https://mix-a.example"]))


def test_a_number_may_be_defended_by_graded_groups():
    text = """
        name = "hours"
        epsilon = 1.0
        plan = {kind = "distribution", low = 0, high = 24, defence = "graded", probe = 0.125}
        collection = {enrolment = true}
    """
    task = taskfile.read(text, toml=True)
    assert task.plan == sv.Distribution(0, 24, defence="graded", probe=0.125)
    assert task.opening.slots == 8
    assert task.concerns == ()

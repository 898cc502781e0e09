"""The statement: facts from the task's document, and sentences from one table."""

import json
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from string import Formatter

import pytest

import sottovoce as sv
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.spending import spending
from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.dates import Dates
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.budget import ConditionalSpend, Spend, SpendingWindow
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.shuffle import Hop, Shuffle
from sottovoce.wire import codec
from sottovoce.wire.statement import ENGLISH, LANGUAGES, explain, statement, texts, topics

TEXTS = texts()
OTHERS = tuple(language for language in LANGUAGES if language != ENGLISH)

PETS = sv.Histogram(["cat", "dog", "fish"])
IN_THE_LABORATORY = {"channels", "hcms", "product", "alpha_point", "channel", "parity"}


def facts(plan, epsilon=1.0, **settings):
    return statement(codec.publish(sv.Task("task", plan, epsilon, **settings)))


def assert_in_order(text, *parts):
    """Check that the parts stand in the text in this order."""
    position = 0
    for part in parts:
        found = text.find(part, position)
        assert found >= 0, f"{part!r} is missing, or too early, in: {text}"
        position = found + len(part)


def kinds_in(package):
    """Return the kinds that the modules of a package register."""
    folder = Path(import_module(package).__file__ or "").parent
    sources = [path.read_text("utf-8") for path in folder.glob("[a-z]*.py")]
    return {kind for source in sources for kind in re.findall(r'kind="([a-z_0-9]+)"', source)}


@pytest.mark.parametrize(
    ("table", "family", "package"),
    [
        ("mechanisms", Mechanism, "sottovoce.mechanisms"),
        ("encodings", Encoding, "sottovoce.encodings"),
        ("values", Domain, "sottovoce.domains"),
    ],
)
def test_every_registered_kind_has_an_entry(table, family, package):
    kinds = {kind for kind in kinds_in(package) if is_registered(family, kind)}
    assert set(TEXTS[table]) == kinds - IN_THE_LABORATORY
    assert list(TEXTS[table]) == sorted(TEXTS[table])


def is_registered(family, kind):
    """Return whether a kind belongs to a family; families of questions have kinds as well."""
    try:
        return issubclass(family.kinds[kind], family)
    except ParameterError:
        return False


def test_a_kind_without_an_entry_is_described_in_general_words():
    unknown = {"mechanisms": ["toy"], "encodings": ["toy"], "values": {"kind": "toy"}}
    assert_in_order(
        explain(facts(PETS) | unknown),
        "asks your device once for an answer.",
        "uses a value that it computes from your answer (toy).",
        "it sends a random report that depends on your answer (toy).",
    )


def test_a_domain_without_an_entry_is_described_by_its_own_phrases():
    values = {"kind": "toy", "count": 1200, "phrases": {"de": "eines von {count} Hemden"}}
    said = facts(PETS) | {"values": values}
    assert "eines von 1.200 Hemden" in explain(said, "de")
    assert "asks your device once for an answer." in explain(said)
    described = {"kind": "toy", "described": "one of {3} shirts"}
    assert "once for one of {3} shirts." in explain(facts(PETS) | {"values": described})


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_facts_of_a_domain_are_those_that_its_phrase_names(language):
    listed = Categories(("a", "b"))
    records = Records(("x",), (listed,))
    domains = [
        *(listed, records, sv.Bits(8), sv.Buckets(0.0, 1.0, 4), Dates("2024", "2025")),
        *(Integers(0, 3), Lists(records, 2), Numbers(0.0, 1.0, 11), sv.Sets(["a", "b"])),
        *(sv.Strings(4), Tables(("t",), (records,))),
    ]
    for domain in domains:
        phrase = texts(language)["values"][domain.kind]
        named = {name for _, name, _, _ in Formatter().parse(phrase) if name}
        assert named <= set(domain.statement_facts())
        assert json.loads(json.dumps(domain.statement_facts())) == domain.statement_facts()


def test_every_sentence_ends_and_is_used():
    source = Path(import_module("sottovoce.wire.statement").__file__).read_text("utf-8")
    for name, text in TEXTS["sentences"].items():
        assert f'"{name}"' in source, name
        phrase = name in ("where", "way", "other_way", "other_values", "and")
        assert phrase or text.endswith((".", "\u201d")), text


def test_the_text_leads_with_what_is_in_clear_and_the_price_and_ends_with_the_collectors_words():
    description = "Which pet? It costs nothing."
    promises = Collection(minimum=2000, retention=1, crowd=8, enrolment=True)
    text = explain(facts(PETS, description=description, collection=promises))
    assert_in_order(
        text,
        "Your device sends nothing in clear. Answering costs epsilon 1 of your privacy budget.",
        "a factor of at most 2.72.",
        "The task asks your device once for one of 3 possible answers.",
        "another possible answer (generalised randomised response).",
        "nothing about fewer than 2,000 people, and to erase the messages after 1 day.",
        "no value that it estimates for fewer than 8 people.",
        "Answering needs an enrolment token",
        "The collector calls this task \u201ctask\u201d and describes it like this:",
    )
    assert text.endswith(f"\u201c{description}\u201d")


def test_public_columns_come_first():
    table = sv.Table({"age": range(9)}, public={"os": ["a", "b"]}, name="users")
    text = explain(facts(table, declares=table.needs))
    clear = (
        "Your device sends these columns in clear, without any protection: \u201cusers.os\u201d."
    )
    assert text.startswith(f"{clear} Answering costs epsilon 1 ")


ODDS = {1.0: "2.72", 1.5: "4.49", 20.0: "485,165,195.41"}


@pytest.mark.parametrize(("epsilon", "odds"), ODDS.items())
def test_the_odds_are_never_rounded_down(epsilon, odds):
    assert f"a factor of at most {odds}." in explain(facts(PETS, epsilon))


ASKED = {
    "one of 2 possible answers": sv.Histogram(["a"], declinable=True),
    "a whole number from 18 to 1,000": sv.Histogram(range(18, 1001)),
    "a number from 0 to 2.5": sv.Mean(0, 2.5),
    "a number from -1 to 1, of which only one of 20 ranges is used": sv.Distribution(-1, 1, 20),
    "a record of 2 parts": sv.Survey({"a": ["x", "y"], "b": range(3)}),
    "a text of up to 20 bytes": sv.HeavyHitters(sv.Strings(20)),
    "a value of 48 bits": sv.HeavyHitters(sv.Bits(48)),
    "a set of items, out of 1,657": sv.TopItems(range(1657), 16),
    "your entries in \u201cpeople\u201d": sv.Table({"a": range(5)}, name="people"),
}


@pytest.mark.parametrize("values", ASKED)
def test_what_is_asked_follows_from_the_domain(values):
    assert f"The task asks your device once for {values}." in explain(facts(ASKED[values]))


SURVEY = sv.Survey({"a": ["x", "y"], "b": range(3)})
USED = {
    "only one part of your record; a public random draw picks which.": SURVEY,
    "only a part of your answer, such as its beginning; a public": sv.HeavyHitters(sv.Bits(48)),
    "only one of your items, drawn at random, or none.": sv.TopItems(range(1657), 16),
    "only the number of your items.": sv.Itemsets(range(9), 5),
    "only whether you have one particular item; a public": sv.AdaptiveTopItems(range(9), 900, 2),
}


@pytest.mark.parametrize("words", USED)
def test_which_part_of_an_answer_is_used_follows_from_the_encoding(words):
    assert f"Your device uses {words}" in explain(facts(USED[words]))


def test_a_rehearsal_costs_nothing_and_says_no_more_of_costs():
    text = explain(facts(PETS, collection=Collection(sandbox=True)))
    assert re.match(r"This is a rehearsal: .* costs nothing\.", text)
    assert not re.search("epsilon|factor|randomises", text)


def test_what_a_device_has_spent_is_part_of_the_cost():
    windows = [SpendingWindow(604_800, 5.0, 1), SpendingWindow(5_400, 1.5, 4)]
    ledger = DiskLedger(":memory:", windows=windows, clock=lambda: 1000.0)
    ledger.answer(Spend("other", 1.0), lambda: b"message")
    said = facts(PETS) | {"device": spending(ledger)}
    assert_in_order(
        " ".join(topics(said)["cost"]),
        "Answering costs epsilon 1",
        "This device has spent 1 of 10 so far.",
        "Within 90 minutes it may spend 1.5 in 4 answers; it has spent 1 in 1.",
        "Within 7 days it may spend 5 in 1 answer; it has spent 1 in 1.",
    )


def test_mechanisms_that_send_the_same_are_named_together():
    said = facts(PETS) | {"mechanisms": ["affine", "affine_prefix", "grr", "olh"]}
    together = "(affine response, optimised local hashing), or sends your answer or, by chance"
    assert together in explain(said)


def test_the_facts_are_ready_for_json():
    said = facts(PETS, collection=Collection())
    assert json.loads(json.dumps(said)) == said


FORGED = 'Pets\u201d and costs nothing. \u201cIt \u00abis\u00bb \u201efree\u201f "now"'


def test_quotation_marks_of_the_collector_do_not_end_a_quotation():
    text = explain(facts(PETS, description=FORGED))
    assert text.endswith("\u201cPets' and costs nothing. 'It 'is' 'free' 'now'\u201d")
    assert text.count("\u201c") == text.count("\u201d") == 2


def test_every_name_that_the_collector_chose_is_quoted_by_itself():
    tables = {"users": {"columns": {"age": range(9)}}, "trips": {"columns": {"km": range(9)}}}
    text = explain(facts(sv.Joint(tables)))
    assert_in_order(
        text,
        "for your entries in \u201cusers\u201d, \u201ctrips\u201d.",
        "in \u201cusers\u201d",
        "in \u201ctrips\u201d",
    )
    both = sv.Table({"age": range(9)}, public={"os": ["a", "b"], "born": range(9)}, name="users")
    clear = explain(facts(both, declares=both.needs))
    assert "protection: \u201cusers.os\u201d, \u201cusers.born\u201d." in clear


HIDDEN = ("\0", "\n", "\x7f", "\x9b", "\xad", "\u061c", "\u180e", "\u200b", "\u200f", "\u2028")
MORE_HIDDEN = ("\u202e", "\u2060", "\u2066", "\u206f", "\ufeff", "\ufffa", "\U000e0041", "\ud800")


@pytest.mark.parametrize("character", [*HIDDEN, *MORE_HIDDEN], ids=ascii)
def test_no_text_of_the_collector_hides_anything(character):
    """Names of tasks, of columns and of tables, and the description."""
    words = f"free{character}of charge"
    for settings in ({"description": words}, {"name": words}):
        with pytest.raises(ParameterError, match="without control, invisible and direction"):
            sv.Task(**{"name": "t", "plan": PETS, "epsilon": 1.0, **settings})
    with pytest.raises(ParameterError, match="without control, invisible and direction"):
        sv.Survey({words: ["x", "y"]})
    for names in ({"columns": {words: range(9)}}, {"columns": {"a": range(9)}}):
        with pytest.raises(ParameterError):
            sv.Joint({words: names})


def test_texts_of_the_collector_are_short():
    sv.Task("n" * 200, PETS, 1.0, description="d" * 500)
    sv.Survey({"c" * 100: ["x", "y"]})
    for settings in ({"name": "n" * 201}, {"description": "d" * 501}):
        with pytest.raises(ParameterError, match="of at most"):
            sv.Task(**{"name": "t", "plan": PETS, "epsilon": 1.0, **settings})
    with pytest.raises(ParameterError, match="of at most 100 characters"):
        sv.Survey({"c" * 101: ["x", "y"]})


# --- shuffled tasks ---

ISSUER = "A" * 456  # base64url of 342 bytes; a statement does not ask whether it is a key
HOPS = (
    Hop("https://mix-a.example.org", "A" * 43),
    Hop("https://mix-b.example.org:8443/mixes", "B" * 42 + "A"),
)
SHUFFLE = Shuffle(HOPS, "A" * 43, 100_000, 2_000, 0.5, 1.0, 1e-9)
BROWSERS = sv.Histogram([str(number) for number in range(16)], mechanism="grr")


def shuffled(collection=None, **changes):
    return facts(BROWSERS, 6.0, collection=collection, shuffle=replace(SHUFFLE, **changes))


def test_the_three_promises_of_a_shuffled_task_are_read_together():
    text = explain(shuffled(collection=Collection(issuer=ISSUER)))
    assert_in_order(
        text,
        "Answering costs epsilon 6 of your privacy budget.",
        "Whoever sees the message and knows that it is yours can change their odds about your"
        " answer by a factor of at most 403.43.",
        "passes \u201cmix-a.example.org\u201d and \u201cmix-b.example.org:8443\u201d, which"
        " mix the messages of at least 100,000 people before the collector sees them.",
        "Your device encrypts it only for keys that each of them has signed as the same for"
        " everybody, so that no key marks a message.",
        "If one of them does both honestly, the collector alone can change its odds by a factor of"
        " at most 1.65 (epsilon 0.5), except with a probability of 1 in 1,000,000,000.",
        "Every enrolled person can send one message only, and nobody can tell which.",
        "Even if all the others work with the collector or do not exist, the 2,000 made-up messages"
        " that an honest one adds keep the factor at 2.72 or less (epsilon 1).",
        "shows to the collector once, and not with the message.",
    )


def test_without_tokens_the_promise_rests_on_real_people_and_says_so():
    text = explain(shuffled(hops=HOPS[:1]))
    assert_in_order(
        text,
        "\u201cmix-a.example.org\u201d, which mixes the messages",
        "If it does both honestly,",
        "Nobody checks that the messages come from different people, so this rests on how many real"
        " people take part.",
        "keep the factor at 2.72 or less (epsilon 1).",
    )


def test_a_shuffle_that_promises_less_is_said_to():
    alone = explain(shuffled(fakes=0, against_users=6.0, central=0.6))
    assert (
        "If all the others work with the collector or do not exist, the mixing does not help"
        in alone
    )
    nothing = explain(shuffled(fakes=0, against_users=9.0, central=7.0))
    assert "does not promise that this protects your answer any further" in nothing
    assert "honestly" not in nothing


def test_the_facts_of_a_shuffle_never_promise_more_than_holds_anyway():
    said = shuffled(fakes=0, against_users=9.0, central=7.0)["shuffle"]
    assert (said["central"], said["against_users"]) == (6.0, 6.0)
    assert facts(PETS)["shuffle"] is None


def test_a_rehearsal_of_a_shuffled_task_promises_nothing_about_an_answer():
    assert topics(shuffled(collection=Collection(sandbox=True)))["shuffled"] == []


def test_what_collectors_have_learned_stands_beside_what_was_spent():
    ledger = DiskLedger(":memory:")
    conditional = ConditionalSpend(0.5, 1e-9)
    ledger.answer(Spend("old", 6.0, conditional=conditional), lambda: b"m")
    assert_in_order(
        explain(shuffled() | {"device": spending(ledger)}),
        "This device has spent 6 of 10 so far.",
        "If the shufflers are honest, collectors have learned at most epsilon 0.5 of it,"
        " except with a probability of 1 in 1,000,000,000.",
    )


def test_the_defence_is_told_in_one_sentence():
    issuer = "A" * 456
    plain = sv.Task("task", sv.Histogram(range(9)), 1.0, collection=Collection(issuer=issuer))
    rules = Collection(issuer=issuer, defence="seeds")
    defended = sv.Task("task", sv.Histogram(range(9)), 1.0, collection=rules)
    sentence = TEXTS["sentences"]["fixed_seeds"]
    before, after = (statement(codec.publish(task)) for task in (plain, defended))
    assert (before["collector"]["defence"], after["collector"]["defence"]) == ("", "seeds")
    assert sentence not in explain(before)
    assert sentence in explain(after)


# --- languages ---


def entries(table, path=()):
    """Yield every text of a table with its path; lists are walked by position."""
    if isinstance(table, str):
        yield path, table
        return
    pairs = table.items() if isinstance(table, dict) else enumerate(table)
    for key, part in pairs:
        if not isinstance(part, int):
            yield from entries(part, (*path, key))


def placeholders(text):
    return sorted(re.findall(r"{(\w+)}", text))


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_every_text_with_the_same_names_in_braces(language):
    english = {path: text for path, text in entries(TEXTS) if path != ("about",)}
    translated = dict(entries(texts(language)))
    assert list(translated) == list(english)  # in the same order, too
    for path, text in english.items():
        assert placeholders(translated[path]) == placeholders(text), path
        assert bool(translated[path]) == bool(text), path
    seconds = [[unit["seconds"] for unit in texts(name)["durations"]] for name in ("en", language)]
    assert seconds[0] == seconds[1]


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_was_left_in_english(language):
    english = dict(entries(TEXTS["sentences"]))
    translated = dict(entries(texts(language)["sentences"]))
    same = {path[0] for path, text in translated.items() if text == english[path]}
    assert same <= {"way", "where"}


@pytest.mark.parametrize("language", OTHERS)
def test_the_sentences_of_a_language_end_and_quote_with_its_marks(language):
    writing = texts(language)["writing"]
    task = f"{writing['open']}{{task}}{writing['close']}"
    for name, text in texts(language)["sentences"].items():
        phrase = name in ("where", "way", "other_way", "other_values", "and")
        assert phrase or text.endswith((".", writing["close"])), text
        assert ("{task}" in text) == (task in text), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_facts_stand_in_the_same_order_in_every_language(language):
    """What is in clear comes first, then the price; the collector's words come last."""
    table = sv.Table({"age": range(9)}, public={"os": ["a", "b"]}, name="users")
    rules = Collection(minimum=2345, retention=71, crowd=1678)
    settings = {"declares": table.needs, "collection": rules, "description": "D\u201e\u00bb"}
    said = facts(table, 1.5, **settings)
    said["device"] = {"spent": 0.25, "cap": 7.5, "collectors": None, "windows": []}
    text = explain(said, language)
    writing = texts(language)["writing"]
    opening, closing = writing["open"], writing["close"]
    written = str.maketrans({",": writing["thousands"], ".": writing["decimal"]})
    numbers = [n.translate(written) for n in ("1.5", "4.49", "0.25", "7.5", "2,345", "71", "1,678")]
    names = [f"{opening}{name}{closing}" for name in ("users.os", "users", "task")]
    clear, asked, task = names
    assert_in_order(text, clear, *numbers[:4], asked, *numbers[4:], task)
    assert text.startswith(" ".join(topics(said, language)["clear"]))
    assert text.endswith(f"{opening}D''{closing}")
    assert list(topics(said, language)) == list(topics(said))


def test_an_unknown_language_is_refused_with_those_that_exist():
    with pytest.raises(ParameterError, match="`language` must be one of en, de, es, fr, it, pt"):
        explain(facts(PETS), "xx")
    with pytest.raises(ParameterError, match="`language` must be one of"):
        explain(facts(PETS), "../en")


def test_every_table_of_a_language_is_offered():
    folder = Path(import_module("sottovoce.wire.statement").__file__).parent / "statement_texts"
    assert {path.stem for path in folder.iterdir()} == set(LANGUAGES)


DATES = {"1990": "2024", "2024-05": "2024-07", "2024-05-01T00": "2024-05-01T23"}
ASKED_DATES = {
    ("en", "1990"): "for a year from 1990 to 2024.",
    ("en", "2024-05-01T00"): "for an hour from 2024-05-01T00 to 2024-05-01T23.",
    ("de", "2024-05"): "nach einem Monat von 2024-05 bis 2024-07.",
    ("fr", "1990"): "une ann\u00e9e de 1990 \u00e0 2024.",
}


@pytest.mark.parametrize(("language", "first"), ASKED_DATES)
def test_a_unit_of_time_has_the_article_of_its_language(language, first):
    dates = sv.Histogram(sv.Dates(first, DATES[first]))
    assert ASKED_DATES[language, first] in explain(facts(dates), language)

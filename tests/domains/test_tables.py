"""The tables of several services: the same holdings whichever way they are given, and public values
as they are.
"""

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sottovoce.domains.base import Domain
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.records import Records
from sottovoce.domains.sets import Sets
from sottovoce.domains.strings import Strings
from sottovoce.domains.tables import MAX_PUBLIC, Tables
from sottovoce.errors import CodecError, DomainError, NoDataError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.wire import codec

PERSON = Records(("age", "state"), (Integers(18, 30), Categories(("NY", "WA"))))
TRADE = Records(("amount",), (Integers(1, 5),))
SEEN = Records(
    ("users.os", "users.height", "users.weight", "users.born"),
    (
        Categories(("iOS", "Ändroid")),
        Numbers(0.0, 2.5, 26),
        Buckets(-50.0, 300.0, 35, clamped=True),
        Integers(-5, 2000),
    ),
)
SHOP = Tables(("users", "trades"), (PERSON, Lists(TRADE, 3)), SEEN)
PLAIN = Tables(("users", "trades"), (PERSON, Lists(TRADE, 3)))

private = {"age": st.integers(18, 30), "state": st.sampled_from(["NY", "WA"])}
public = {
    "os": st.sampled_from(["iOS", "Ändroid"]),
    "height": st.floats(0, 2.5),
    "weight": st.floats(allow_nan=False),
    "born": st.integers(-5, 2000),
}
trades = st.lists(st.fixed_dictionaries({"amount": st.integers(1, 5)}), max_size=4)
people = st.lists(
    st.fixed_dictionaries({"users": st.fixed_dictionaries(private | public), "trades": trades}),
    min_size=1,
    max_size=5,
)
SOMEBODY = {
    "users": {
        "age": 20,
        "state": "WA",
        "os": "Ändroid",
        "height": 1.75,
        "weight": 1e3,
        "born": 1990,
    },
    "trades": [{"amount": 2}, {"amount": 5}],
}


def columns_of(held):
    """The same people as columns, rows of lists in any order of the people."""
    users = {name: [one["users"][name] for one in held] for name in (*private, *public)}
    owned = [
        (person, record["amount"])
        for person, one in reversed(list(enumerate(held)))
        for record in one["trades"]
    ]
    return {
        "users": users,
        "trades": {
            "uid": [person for person, _ in owned],
            "amount": [amount for _, amount in owned],
        },
    }


@given(people)
def test_columns_and_people_give_the_same_holdings(held):
    one, other = SHOP.indices(held), SHOP.indices(columns_of(held))
    assert np.array_equal(one.tables[0], other.tables[0])
    assert np.array_equal(one.tables[1].starts, other.tables[1].starts)
    assert np.array_equal(one.tables[1].cells, other.tables[1].cells)
    assert list(one.public) == list(other.public)


@given(people)
def test_the_holdings_are_those_of_the_tables(held):
    found = SHOP.indices(held)
    bare = [{name: one["users"][name] for name in private} for one in held]
    assert np.array_equal(found.tables[0], PERSON.indices(bare))
    assert found.tables[1].sizes.tolist() == [len(one["trades"]) for one in held]
    assert (len(found), len(found.public)) == (len(held), len(held))


def test_of_a_single_table_a_value_is_its_record_or_list():
    single = Tables(("users",), (PERSON,))
    assert single.indices([{"age": 19, "state": "WA"}]).tables[0].tolist() == [[1, 1]]
    assert single.indices({"age": [19, 18], "state": ["WA", "NY"]}).tables[0].tolist() == [
        [1, 1],
        [0, 0],
    ]
    trade = Tables(("trades",), (Lists(TRADE, 3),))
    assert trade.indices([[{"amount": 2}], []]).tables[0].sizes.tolist() == [1, 0]
    assert trade.indices({"uid": [2, 0], "amount": [1, 2]}).tables[0].sizes.tolist() == [1, 0, 1]


def test_a_row_of_a_record_is_its_persons_or_refused():
    """Other tables are joined by position: silence about a wrong order would join strangers."""
    trade = {"uid": [1], "amount": [3]}
    for right in ({}, {"uid": [0, 1]}):
        users = {"age": [18, 20], "state": ["NY", "WA"], **right}
        assert PLAIN.indices({"users": users, "trades": trade}).tables[1].sizes.tolist() == [0, 1]
    for wrong in ([1, 0], [0, 0], [1, 2], [0], ["a", "b"]):
        users = {"age": [18, 20], "state": ["NY", "WA"], "uid": wrong}
        with pytest.raises(DomainError):
            PLAIN.indices({"users": users, "trades": trade})


def altered(table, **changes):
    changed = {**SOMEBODY[table], **changes} if isinstance(SOMEBODY[table], dict) else [changes]
    return {
        **SOMEBODY,
        table: {name: one for name, one in changed.items() if one != "-"}
        if table == "users"
        else changed,
    }


@pytest.mark.parametrize(
    "value",
    [
        altered("users", age=77),
        altered("users", age="-"),
        altered("users", age=None),
        altered("users", state="secret-state"),
        altered("users", state=["secret-state"]),
        altered("users", os="secret-system"),
        altered("users", os="-"),
        altered("users", height=77.0),
        altered("users", height="secret"),
        altered("users", height=float("nan")),
        altered("users", born=77777),
        altered("users", born=19.5),
        altered("users", born=True),
        altered("users", more="secret"),
        altered("trades", amount=77),
        altered("trades", amount=1, more="secret"),
        {**SOMEBODY, "users": [SOMEBODY["users"]]},
        {**SOMEBODY, "users": "secret"},
        {**SOMEBODY, "trades": {"amount": 77}},
        {**SOMEBODY, "trades": "secret"},
        {**SOMEBODY, "secret": []},
        {"users": SOMEBODY["users"]},
        "secret",
        None,
        77,
    ],
)
def test_a_value_outside_is_refused_and_never_named(value):
    SHOP.indices([SOMEBODY])
    with pytest.raises(DomainError) as refused:
        SHOP.indices([value])
    assert "secret" not in str(refused.value)
    assert "77" not in str(refused.value)
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        ("users", {"age": [77]}),
        ("users", {"age": [20, 20]}),
        ("users", {"state": "-"}),
        ("users", {"age": "-"}),
        ("users", {"more": [77]}),
        ("users", {"state": ["secret"]}),
        ("users", {"os": ["secret"]}),
        ("users", {"os": ["iOS", "iOS"]}),
        ("users", {"height": ["secret"]}),
        ("trades", {"uid": "-"}),
        ("trades", {"uid": ["secret"]}),
        ("trades", {"uid": [0.5]}),
        ("trades", {"uid": [77]}),
        ("trades", {"uid": [-1]}),
        ("trades", {"uid": [0, 0]}),
        ("trades", {"uid": [[0]]}),
        ("trades", {"uid": 0}),
        ("trades", {"amount": [77]}),
        ("trades", {"amount": "-"}),
    ],
)
def test_columns_outside_are_refused_and_their_values_never_named(table, changes):
    right = columns_of([{**SOMEBODY, "trades": SOMEBODY["trades"][:1]}])
    SHOP.indices(right)
    wrong = {
        name: one
        for name, one in {**right[table], **changes}.items()
        if not (isinstance(one, str) and one == "-")
    }
    with pytest.raises((DomainError, ParameterError)) as refused:
        SHOP.indices({**right, table: wrong})
    assert "secret" not in str(refused.value)
    assert "77" not in str(refused.value)


def test_other_tables_and_nobody_are_refused():
    with pytest.raises(DomainError, match="users, trades"):
        PLAIN.indices({"users": {}})
    with pytest.raises(DomainError, match="users, trades"):
        PLAIN.indices({"users": [1], "trades": [2]})
    with pytest.raises(NoDataError):
        PLAIN.indices([])


@pytest.mark.parametrize(
    "names",
    [
        (),
        ("a", "A"),
        ("a", "a"),
        ("uid", "b"),
        ("UID", "b"),
        ("a b", "c"),
        ("1a", "b"),
        ("", "b"),
        ("a" * 64, "b"),
        ("é", "b"),
        (1, "b"),
        ("a.b", "c"),
        ("a",),
    ],
)
def test_names_of_tables_are_those_of_sql(names):
    with pytest.raises(ParameterError):
        Tables(names, (PERSON, PERSON))
    Tables(("a" * 63, "_b2"), (PERSON, PERSON))


@pytest.mark.parametrize("column", ["uid", "Uid", "a b", "1a", "a" * 64, "é", "a.b", "AGE", "age"])
def test_names_of_columns_are_those_of_sql_public_ones_too(column):
    if column.lower() != "age":
        with pytest.raises(ParameterError):
            Tables(("t",), (Records((column, "b"), PERSON.attributes),))
    with pytest.raises(ParameterError):
        Tables(("t",), (PERSON,), Records((f"t.{column}",), (Integers(0, 1),)))
    Tables(("t",), (PERSON,), Records(("t.size",), (Integers(0, 1),)))


@pytest.mark.parametrize(
    "name", ["os", "trades.os", "nothing.os", "users.", ".os", "users", "Users.os", "users.a.b"]
)
def test_a_public_column_is_of_a_table_with_one_record_per_person(name):
    with pytest.raises(ParameterError):
        Tables(("users", "trades"), (PERSON, Lists(TRADE, 3)), Records((name,), (Integers(0, 1),)))


@pytest.mark.parametrize(
    "table", [Integers(0, 5), Sets(("a", "b")), Records(("a",), (Strings(2),)), PLAIN]
)
def test_other_domains_are_no_tables_and_no_columns(table):
    with pytest.raises(ParameterError):
        Tables(("t",), (table,))
    with pytest.raises(ParameterError):
        Tables(("t",), (PERSON,), Records(("t.x",), (Strings(2),)))


def test_public_values_are_written_canonically_and_nothing_private_beside_them():
    (text,) = SHOP.indices([SOMEBODY]).public
    assert (
        text.decode()
        == '{"users.born":1990,"users.height":"1.75","users.os":"Ändroid","users.weight":"300.0"}'
    )
    assert text == codec.canonical(json.loads(text)).encode()
    codec.parse(text)  # a document like any other: no floating point
    assert set(json.loads(text)) == set(SEEN.names)


@given(people)
@example([SOMEBODY | {"users": SOMEBODY["users"] | {"height": -0.0, "weight": -0.0}}])
def test_what_a_device_writes_is_accepted_and_says_what_was_given(held):
    for person, text in zip(held, SHOP.indices(held).public, strict=True):
        SHOP.check_public(text)
        assert text == codec.canonical(json.loads(text)).encode()
        told, given_ = json.loads(text), person["users"]
        assert (told["users.os"], told["users.born"]) == (given_["os"], given_["born"])
        assert float(told["users.height"]) == given_["height"]
        assert float(told["users.weight"]) == min(max(given_["weight"], -50.0), 300.0)
        assert "-0.0" not in told.values()


@given(people, st.fixed_dictionaries(private), trades)
def test_public_values_do_not_depend_on_private_ones(held, own, listed):
    others = [{"users": one["users"] | own, "trades": listed} for one in held]
    assert list(SHOP.indices(held).public) == list(SHOP.indices(others).public)


RIGHT = {"users.born": 1990, "users.height": "1.75", "users.os": "iOS", "users.weight": "70.0"}


def written(**changes):
    content = {**RIGHT, **{f"users.{name}": value for name, value in changes.items()}}
    return codec.canonical(
        {name: value for name, value in content.items() if value != "-"}
    ).encode()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"7",
        b'"users.os"',
        b"\xff",
        b"[" * 4000,
        written(os="Linux"),
        written(os=None),
        written(os=["iOS"]),
        written(os="-"),
        written(more=1),
        written(born="1990"),
        written(born=True),
        written(born=2001),
        written(born=[1990]),
        written(born=10**40),
        written(height=1),
        written(height="1.750"),
        written(height="nan"),
        written(height="inf"),
        written(height="-0.0"),
        written(height="9.0"),
        written(height="1_0"),
        written(weight="301.0"),
        written(weight="1e999"),
        b" " + written(),
        written() + b"\n",
        written() + written(),
        written().replace(b'"users.born":1990', b'"users.born":1990.0'),
        written().replace(b"1990", b'1990,"users.born":1990'),
        written(os="Ändroid").replace("Ä".encode(), b"\\u00c4"),
        written(os="\u0041\u0308ndroid"),
        json.dumps(RIGHT).encode(),
        json.dumps(dict(reversed(RIGHT.items())), separators=(",", ":")).encode(),
        written(os="x" * MAX_PUBLIC),
    ],
)
def test_any_other_text_is_refused(text):
    SHOP.check_public(written())
    with pytest.raises(CodecError, match="public"):
        SHOP.check_public(text)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
texts = st.builds(
    lambda content, spaced: json.dumps(
        content, separators=(", ", ":") if spaced else (",", ":"), ensure_ascii=False
    ),
    st.fixed_dictionaries(
        {
            "users.born": st.integers(-5, 2000) | st.integers(-10, 2010) | junk,
            "users.height": st.floats(0, 2.5).map(repr)
            | st.floats(0, 3).map(repr)
            | st.decimals(0, 2, places=2).map(str)
            | junk,
            "users.os": st.sampled_from(["iOS", "Ändroid"])
            | st.sampled_from(["iOS", "Ändroid", "other"])
            | junk,
            "users.weight": st.floats(-50, 300).map(repr) | st.floats(-60, 310).map(repr),
        },
        optional={"users.other": junk},
    ),
    st.sampled_from([False, False, False, True]),
)


@given(texts)
@settings(max_examples=300)
def test_exactly_what_a_device_writes_is_accepted(text):
    """Read as the values it names and written by a device again: the same bytes, or the text is
    refused.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    if _rewritten(json.loads(text)) == encoded:
        SHOP.check_public(encoded)
    else:
        with pytest.raises(CodecError):
            SHOP.check_public(encoded)


def _rewritten(content):
    own = {name.partition(".")[2]: value for name, value in content.items()}
    reals = {
        name: float(own[name])
        for name in ("height", "weight")
        if isinstance(own[name], str) and _real(own[name])
    }
    try:
        return SHOP.indices(
            [{**SOMEBODY, "users": {"age": 20, "state": "NY", **own, **reals}}]
        ).public[0]
    except (TypeError, ValueError):
        return None


def _real(text):
    try:
        return isinstance(float(text), float)
    except ValueError:
        return False


def test_without_public_columns_there_is_no_public_text():
    found = PLAIN.indices([{"users": {"age": 20, "state": "NY"}, "trades": []}])
    assert list(found.public) == []
    for text in (b"", b"{}"):
        with pytest.raises(CodecError):
            PLAIN.check_public(text)


def test_a_rehearsal_sends_what_an_answer_could_have_sent():
    for seed in range(30):
        found = SHOP.random_value(SeededRng(seed))
        assert (len(found), found.tables[0].shape, found.tables[1].sizes.tolist()) == (
            1,
            (1, 2),
            [1],
        )
        SHOP.check_public(found.public[0])
    assert list(PLAIN.random_value(SeededRng(1)).public) == []


def test_the_document_restores_it():
    for domain in (SHOP, PLAIN):
        assert codec.read(Domain, codec.parse(codec.canonical(codec.document(domain)))) == domain
    assert (SHOP.most(0), SHOP.most(1), SHOP.records(1)) == (0, 3, TRADE)
    with pytest.raises(ParameterError, match="encoding"):
        assert SHOP.size

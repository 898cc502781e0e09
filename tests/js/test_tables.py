"""The JavaScript client answers about tables bit for bit as the Python one, and the collector reads
what it sends.
"""

import json
from base64 import b64encode
from itertools import product
from math import inf, nan

import numpy as np
import pytest

import sottovoce as sv
from js.node_worker import written
from plans.tables.plans import METHODS, SINGLE, collecting, layout
from sottovoce.domains.base import Domain
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.encodings.base import Encoding
from sottovoce.encodings.cell import Cell
from sottovoce.engine import memory
from sottovoce.engine.memory import batches_of
from sottovoce.errors import CodecError, DomainError, ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.plans.tables.joint import Joint
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.families.base import Family
from sottovoce.wire import codec, envelope

STREAM = 256  # bytes for one draw of everything

PLACES = Categories(("north", "süd", "東京", 'a"b\\c\n\x7f\u2028'))
PEOPLE = Records(
    ("age", "home", "height", "big"),
    (
        Integers(18, 99),
        Categories(("flat", "house", "other")),
        Buckets(-1.0, 2.5, 40),
        Integers(-5, (1 << 60) - 7),
    ),
)
ORDERS = Records(
    ("price", "kind"),
    (Numbers(0.0, 1000.0, 1001, clamped=True), Categories(("a", "b"), declinable=True)),
)
PUBLIC = Records(
    ("people.region", "people.score", "people.born", "people.weight"),
    (
        PLACES,
        Numbers(-1e300, 1e300, 11),
        Integers(1 - (1 << 53), (1 << 53) - 1),
        Buckets(0.0, 1e-3, 5, clamped=True),
    ),
)
SHOP = Tables(("people", "orders"), (PEOPLE, Lists(ORDERS, 5)), PUBLIC)


def person(rng, orders=0):
    """Return what somebody may hold."""

    def price():
        return float(rng.choice([rng.uniform(0, 1000), rng.integers(1001), -3.5, inf, 1e-9]))

    return {
        "people": {
            "age": int(rng.integers(18, 100)),
            "home": str(rng.choice(["flat", "house", "other"])),
            "height": float(rng.uniform(-1, 2.5)),
            "big": int(rng.integers(-5, (1 << 60) - 6)),
            "region": PLACES.labels[rng.integers(4)],
            "score": number(rng),
            "born": int(rng.integers(1 - (1 << 53), 1 << 53)),
            "weight": float(
                rng.choice([rng.uniform(0, 1e-3), 10 ** rng.uniform(-12, -3), inf, -1.0])
            ),
        },
        "orders": [
            {"price": price(), "kind": [None, "a", "b"][rng.integers(3)]} for _ in range(orders)
        ],
    }


def number(rng):
    """Return a number of any size, whole or not."""
    size = 10.0 ** rng.uniform(-300, 300) if rng.integers(2) else 10.0 ** rng.integers(-8, 22)
    drawn = float(rng.choice([-1, 1])) * size * float(rng.choice([1.0, rng.uniform()]))
    return float(round(drawn)) if rng.integers(4) == 0 else drawn


def listed(holdings):
    """Return what the JavaScript client calls the index of a value."""
    people, orders = holdings.tables
    return {
        "tables": [[written(one) for one in people[0].tolist()], orders.cells.tolist()],
        "public": holdings.public[0].decode(),
    }


def test_people_have_the_same_indices_and_the_same_public_text(worker):
    rng = np.random.default_rng(31)
    values = [person(rng, orders) for orders in [0, 1, 5, 9] * 60]
    found = worker.run("indices", {"domain": codec.document(SHOP), "values": values})
    holdings = [SHOP.indices([value]) for value in values]
    assert found == [listed(one) for one in holdings]
    for one in holdings:
        SHOP.check_public(one.public[0])


def test_numbers_are_written_as_they_are_in_python(worker):
    domain = Tables(
        ("t",),
        (Records(("a",), (Integers(0, 1),)),),
        Records(("t.x",), (Numbers(-1e308, 7e307, 5),)),
    )
    rng = np.random.default_rng(32)
    powers = [
        float(f"{sign}1e{power}")
        for sign in ("", "-")
        for power in (*range(-324, 308, 7), *range(-9, 23))
    ]
    numbers = [
        0.0,
        -0.0,
        5e-324,
        0.1,
        1 / 3,
        2.0**53,
        2.0**53 + 2,
        123456789012345.6,
        9999999999999998.0,
        *powers,
    ]
    values = [
        {"a": 1, "x": one}
        for one in [*numbers, *(number(rng) for _ in range(2000)), 3, -7]
        if one <= 7e307
    ]
    found = worker.run("indices", {"domain": codec.document(domain), "values": values})
    assert [one["public"] for one in found] == [
        domain.indices([value]).public[0].decode() for value in values
    ]


GOOD = person(np.random.default_rng(5), 2)


def wrong_values():
    """Return values that are none, by what is wrong with them."""
    people, orders = GOOD["people"], GOOD["orders"]
    for name, value in [
        *(
            ("age", one)
            for one in (17, 100, 18.5, "20", True, None, {}, nan, inf, 1 << 70, [20], [[20]], [])
        ),
        *(("home", one) for one in ("castle", "", None, 3, ["flat"], [["flat"]])),
        *(
            ("height", one)
            for one in (-1.1, 2.6, "1", nan, inf, None, True, [1.0], [[1.0]], [1.0, 2.0])
        ),
        *(("big", one) for one in (-6, (1 << 60) - 6, 0.5)),
        *(("region", one) for one in ("west", None, 0)),
        *(("score", one) for one in (nan, inf, "1.0", None, 1.1e300)),
        *(("born", one) for one in (1 << 53, -(1 << 53), 1.5, "3", None, [5], [[5]])),
        *(("weight", one) for one in (nan, "0.0", None, True)),
        ("more", 1),
    ]:
        yield {"people": {**people, name: value}, "orders": orders}
    for name in people:
        yield {
            "people": {key: value for key, value in people.items() if key != name},
            "orders": orders,
        }
    order = orders[0]
    for one in (
        *({**order, "price": price} for price in (nan, "3", None)),
        *({**order, "kind": kind} for kind in ("c", 0, ["a"])),
        *({**order, "uid": 1}, {"price": 3.0}, {}, None, [order], [], "order", 3),
    ):
        yield {"people": people, "orders": [order, one]}
    for held in (order, None, "orders", 3, {"orders": orders}, True):
        yield {"people": people, "orders": held}
    for held in ([people], [], None, "people", orders):
        yield {"people": held, "orders": orders}
    yield from (
        {**GOOD, "more": []},
        {"people": people},
        {"orders": orders},
        people,
        orders,
        [people, orders],
        None,
        3,
    )


def test_wrong_values_are_refused_alike_and_never_named(worker):
    values = [*wrong_values(), GOOD]
    *refused, good = worker.run("indices", {"domain": codec.document(SHOP), "values": values})
    assert good == listed(SHOP.indices([GOOD]))
    for value in values[:-1]:
        with pytest.raises(DomainError):
            SHOP.indices([value])
    rules = set(refused)
    assert all(message.startswith("DomainError: a value must be ") for message in rules), rules
    assert not any(
        word in message
        for message in rules
        for word in ("castle", "west", "100.", "2.6", "1.1e", "order,")
    )


def layers_of(rng):
    """Return a cell of the shop's tables: any columns, widths, coins, aligned or not."""
    table = int(rng.integers(2))
    attributes, most = SHOP.records(table).attributes, SHOP.most(table)
    columns = sorted(
        rng.choice(len(attributes), rng.integers(1, len(attributes) + 1), replace=False).tolist()
    )
    sizes = tuple(attributes[column].size for column in columns)
    mirrored = (columns[rng.integers(len(columns))],) if rng.integers(2) else ()
    rounded = tuple(column for column in columns if rng.integers(3) == 0 and column not in mirrored)
    widths = []
    for column, size in zip(columns, sizes, strict=True):
        fewest = 2 if size < 1 << 40 else 1 << int(rng.integers(1, 45))
        widths.append(
            int(rng.choice([1, 5, size, 5**26]) if size < 1 << 40 else max(1, size // fewest))
        )
        if column in mirrored and rng.integers(4) == 0:
            widths[-1] = 0
    weighted = bool(most and rng.integers(2))
    return Cell(
        table,
        tuple(columns),
        sizes,
        tuple(widths),
        most,
        weighted,
        rounded,
        mirrored,
        aligned=bool(rng.integers(2)),
    )


def test_cells_and_draws_are_the_same_under_the_same_words(worker):
    rng = np.random.default_rng(33)
    encodings = [layers_of(rng) for _ in range(400)]
    values = [person(rng, int(rng.choice([0, 1, 3, 5, 8]))) for _ in encodings]
    streams = [rng.bytes(STREAM) for _ in encodings]
    found = worker.run(
        "cells", {"domain": codec.document(SHOP), "rows": _rows(encodings, values, streams)}
    )
    wanted = [_encoded(*row) for row in zip(encodings, values, streams, strict=True)]
    assert found == wanted
    assert any(int(outputs) > 1 << 53 and int(index) > 1 << 53 for index, _, outputs in wanted)
    others = [_encoded(*row) for row in zip(encodings, values, streams[::-1], strict=True)]
    assert found != others  # other words, other draws


def _rows(encodings, values, streams):
    rows = zip(encodings, values, streams, strict=True)
    return [
        {"encoding": codec.document(encoding), "value": value, "stream": b64encode(stream).decode()}
        for encoding, value, stream in rows
    ]


def _encoded(encoding, value, stream):
    rng = RecordedRng(stream)
    (index,) = encoding(SHOP.indices([value]), rng).tolist()
    return [written(index), rng.consumed, written(encoding.outputs(SHOP))]


LABORATORY = ("amg",)  # methods whose families are documents of the laboratory


def families():
    """Return what every method asks of tables of either kind, small and large, and what somebody
    holds there.  What the laboratory alone asks is left out: no device reads it.
    """
    small = Tables(("people",), (Records(PEOPLE.names[:2], PEOPLE.attributes[:2]),))
    ages = {"age": 41, "home": "other"}
    long = Tables(("orders",), (Lists(ORDERS, 5),))
    orders = [{"price": 12.5, "kind": "b"}, {"price": 7, "kind": None}]
    large = Tables(
        ("p",), (Records(("a", "b", "c"), (Integers(0, (1 << 29) - 1),) * 2 + (Integers(0, 2),)),)
    )
    deep, both = {"a": (1 << 29) - 1, "b": 345678901, "c": 1}, {"people": ages, "orders": []}
    for method, published in product(METHODS, (False, True)):
        if method in LABORATORY:
            continue
        yield (
            (method, published),
            layout(small, (1,), method, fanout=5, published=published, epsilon=2.0),
            ages,
        )
        if method not in SINGLE:
            many = layout(long, (2,), method, fanout=5, published=published, epsilon=2.0)
            yield (method, published, "list"), many, orders
    for method, published in product(("hio", "mg", "ehio", "ahio"), (False, True)):
        vast = layout(large, (1,), method, fanout=1024, published=published, epsilon=1.0)
        yield (method, published, "large"), vast, deep
    shop = Tables(("people", "orders"), (small.tables[0], long.tables[0]))
    yield "both", layout(shop, (1, 3), "ahio", fanout=5, published=False, epsilon=2.0), both


def altered(rng, content, others):
    """Return a document with one entry changed: gone, taken from another, or with one number
    replaced.
    """
    made = json.loads(json.dumps(content))
    name = str(rng.choice([key for key in made if key != "kind"]))
    turn = rng.integers(4)
    if turn == 0:
        del made[name]
    elif turn == 1:
        made[name] = others[rng.integers(len(others))].get(name, 0)
    elif isinstance(made[name], list) and made[name]:
        place = int(rng.integers(len(made[name])))
        values = [
            made[name][0],
            made[name][-1],
            0,
            1,
            2,
            3,
            -1,
            True,
            None,
            "2",
            "uid",
            [1],
            [2, 1],
            [0, 5],
            {},
        ]
        made[name][place : place + int(turn == 2)] = [values[rng.integers(len(values))]]
    else:
        values = [
            0,
            1,
            2,
            -1,
            5,
            "one",
            "all",
            "mirror",
            "none",
            True,
            False,
            None,
            [],
            [0],
            [1],
            [0, 1],
            str(1 << 53),
        ]
        made[name] = values[rng.integers(len(values))]
    return made


def test_documents_are_read_or_refused_alike(worker):
    rng = np.random.default_rng(36)
    asked = [codec.document(one.members) for _, made, _ in families() for one in _choices(made.ask)]
    nouns = {
        Family: [one for one in asked if len(one["mechanisms"]) < 9],
        Encoding: [codec.document(layers_of(rng)) for _ in range(20)],
        Domain: [codec.document(one) for one in (SHOP, SHOP.tables[1], SHOP.public)],
    }
    given = [
        (noun, altered(rng, contents[rng.integers(len(contents))], contents))
        for noun, contents in nouns.items()
        for _ in range(500)
    ]
    documents = [{"noun": noun.__name__.lower(), "content": content} for noun, content in given]
    found = worker.run("documents", documents)
    assert {one.partition(":")[0] for one in found} == {"read", "CodecError", "ParameterError"}
    ours = [_reads(noun, content) for noun, content in given]
    different = [
        row for row in zip(given, ours, found, strict=True) if row[1] != (row[2] == "read")
    ]
    assert not different, different[0]
    assert min(sum(ours), len(ours) - sum(ours)) > 100  # some of either


def _reads(noun, content):
    return _judged(noun, content) == "read"


def _judged(noun, content):
    """Return whether a document is read, or why not, as the JavaScript client says it."""
    try:
        codec.read(noun, codec.parse(json.dumps(content)))
    except (CodecError, ParameterError) as error:
        return f"{type(error).__name__}: {error}"
    return "read"


def public_limits(more):
    """Return public columns at the limits of what may be public, or with more just beyond them."""
    exact, room = 1 << 53, 4096 - len("t.x") - 8 - len('""') + more
    for text, size in (
        ("x", 1),
        ("é", 2),
        ("\u2028", 3),
        ("\x7f", 1),
        ("\n", 2),
        ("\\", 2),
        ("\x01", 6),
        ("😀", 4),
    ):
        long = text * (room // size) + "x" * (room % size)
        yield Records(("t.x",), (Categories(("p", long)),))
        yield Records(("t.x",), (Categories((long, "p"), declinable=True),))
    for low, high in ((1 - exact - more, 0), (0, exact - 1 + more), (1 - exact - more, exact - 1)):
        yield Records(("t.x",), (Integers(low, high),))
    kinds = (Integers(0, 1), Buckets(0.0, 1.0, 3), Numbers(0.0, 1.0, 3))
    names = [f"t.{place:a>62}" for place in range(41)] + [
        "t." + "b" * (4096 - 41 * 98 - 34 - 2 + more)
    ]
    yield Records(tuple(names), tuple(kinds[place % 3] for place in range(42)))


def test_public_columns_have_the_same_limits_and_are_refused_in_the_same_words(worker):
    table = codec.document(Tables(("t",), (Records(("a",), (Integers(0, 1),)),)))
    within, beyond = (
        [table | {"public": codec.document(one)} for one in public_limits(more)] for more in (0, 1)
    )
    found = worker.run("documents", [{"noun": "domain", "content": one} for one in within + beyond])
    assert found == [_judged(Domain, content) for content in within + beyond]
    assert found[: len(within)] == ["read"] * len(within)
    rules = (
        "`public` columns must take at most 4096 bytes together",
        "public whole numbers lie between -2^53 and 2^53",
    )
    assert set(found[len(within) :]) == {f"ParameterError: {rule}" for rule in rules}


def test_a_column_that_is_both_mirrored_and_rounded_is_refused_in_the_same_words(worker):
    alone = [
        codec.document(Cell(0, (0, 1), (3, 5), (1, 1), rounded=(0,), mirrored=own))
        for own in ((), (1,))
    ]
    both = [
        one | {"rounded": rounded, "mirrored": [1]} for one in alone for rounded in ([1], [0, 1])
    ]
    found = worker.run("documents", [{"noun": "encoding", "content": one} for one in alone + both])
    assert found == [_judged(Encoding, content) for content in alone + both]
    assert found[:2] == ["read"] * 2
    assert set(found[2:]) == {
        "ParameterError: a column has one rounding coin: it is mirrored or rounded"
    }


def test_every_member_of_every_method_says_the_same(worker):
    rng, given, wanted = np.random.default_rng(34), [], []
    for _, made, value in families():
        ask = made.ask
        parts = {codec.canonical(codec.document(one.members)): one.members for one in _choices(ask)}
        for family in parts.values():
            places = range(min(len(family), 250))
            streams = [rng.bytes(STREAM) for _ in places]
            content = {
                "domain": codec.document(made.tables),
                "family": codec.document(family),
                "value": value,
            }
            given.append({**content, "streams": [b64encode(stream).decode() for stream in streams]})
            held = made.tables.indices([value])
            wanted.append(
                [_said(made.tables, family, place, held, streams[place]) for place in places]
            )
    assert worker.run("members", given) == wanted
    assert any(int(row[1]) > 1 << 53 for rows in wanted for row in rows)


def _choices(ask):
    return ask.parts if isinstance(ask, Bundle) else [ask]


def _said(domain, family, place, held, stream):
    question, rng = family[place], RecordedRng(stream)
    said = question.mechanism.pack(question.privatize(held, rng)).hex()
    return [
        len(family),
        written(question.encoding.outputs(domain)),
        repr(question.epsilon),
        said,
        rng.consumed,
    ]


USERS, MOST = 400, 4
ASKED = [("hio", (1, 1), USERS), ("ahio", (1, 2), 50)]


def shop(method="hio", epsilon=12.0, **settings):
    services = {
        "people": {
            "columns": {"age": range(16), "home": ["flat", "house"]},
            "public": {"region": ["north", "süd"]},
        },
        "orders": {"columns": {"price": range(10)}, "most": MOST},
    }
    plan = collecting(Joint(services=services, **settings), method)
    return sv.Task(f"shop {method}", plan, epsilon=epsilon, declares=plan.needs)


def customers():
    """Return what some people hold: none to more than the most orders."""
    rng = np.random.default_rng(35)
    return [
        {
            "people": {
                "age": int(rng.integers(16)),
                "home": "house" if rng.uniform() < 0.7 else "flat",
                "region": "süd" if rng.uniform() < 0.4 else "north",
            },
            "orders": [
                {"price": int(rng.integers(10))} for _ in range(rng.choice([0, 1, 2, MOST]))
            ],
        }
        for _ in range(USERS)
    ]


def answered(worker, task, values):
    """Return the messages of people who hold these values."""
    text = codec.canonical(codec.document(task))
    return worker.messages("answerEach", {"text": text, "values": values})


@pytest.fixture(scope="module")
def sent(worker):
    tasks = [(shop(method, rows=rows), users) for method, rows, users in ASKED]
    return {task.name: answered(worker, task, customers()[:users]) for task, users in tasks}


@pytest.mark.parametrize(("method", "rows", "users"), ASKED)
def test_the_collector_reads_what_everybody_sends(method, rows, users, sent):
    task = shop(method, rows=rows)
    messages, reports = sent[task.name], task.opening.slots
    public = [text.decode() for message in messages for text in _only(message, task).public]
    assert public == [
        json.dumps(
            {"people.region": one["people"]["region"]}, ensure_ascii=False, separators=(",", ":")
        )
        for one in customers()[:users]
        for _ in range(reports)
    ]
    for text in set(public):
        task.plan.domain.check_public(text.encode())
    owners = [{row.tobytes() for row in _only(message, task).subjects} for message in messages]
    assert all(len(one) == 1 for one in owners)
    assert len(set.union(*owners)) == users
    assert all(_only(message, task).slots.tolist() == list(range(reports)) for message in messages)
    batches = batches_of(task, task.opening, messages)
    assert sum(len(batch.reports) for batch in batches.values()) == reports * users
    for slot in range(reports):
        family = task.opening.ask.parts[slot].members
        assert {address.member for address in batches if address.slot == slot} <= set(
            range(len(family))
        )


def _only(message, task):
    (group,) = envelope.read([message], task.opening.width)
    return group


QUESTIONS = {
    "SELECT COUNT(*) FROM people WHERE home = 'house'": lambda one: (
        one["people"]["home"] == "house"
    ),
    "SELECT COUNT(*) FROM people WHERE age >= 4 AND region = 'süd'": (
        lambda one: one["people"]["age"] >= 4 and one["people"]["region"] == "süd"
    ),
    "SELECT SUM(age) FROM people": lambda one: one["people"]["age"],
    "SELECT COUNT(*) FROM orders WHERE price >= 5": lambda one: sum(
        each["price"] >= 5 for each in one["orders"]
    ),
    "SELECT COUNT(*) FROM people JOIN orders ON people.uid = orders.uid WHERE home = 'house'": (
        lambda one: len(one["orders"]) * (one["people"]["home"] == "house")
    ),
}


@pytest.mark.parametrize("text", QUESTIONS)
def test_answers_in_sql_hold_the_truth(text, sent):
    task = shop()
    figure = memory.answer(task, sent[task.name]).sql(text).figure
    truth = sum(map(QUESTIONS[text], customers()))
    print(f"{text}: {figure.value:.1f} +- {figure.error:.1f}, in truth {truth}")
    assert abs(figure.value - truth) < 5 * figure.error


def test_an_answer_to_another_question_is_not_taken_for_the_truth(sent):
    """The two counts lie more than ten standard errors apart."""
    task = shop()
    figure = (
        memory.answer(task, sent[task.name])
        .sql("SELECT COUNT(*) FROM people WHERE home = 'flat'")
        .figure
    )
    assert (
        abs(figure.value - sum(one["people"]["home"] == "house" for one in customers()))
        > 5 * figure.error
    )


def test_a_message_is_as_long_whatever_somebody_holds(worker):
    task = shop("ahio", rows=(1, 2))
    held = [
        {"people": {"age": age, "home": home, "region": region}, "orders": [{"price": 9}] * orders}
        for age, home, orders, region in (
            *((0, "flat", orders, "north") for orders in (0, 1, MOST, 3 * MOST)),
            *((15, "house", orders, "north") for orders in (0, 1, MOST, 3 * MOST)),
            (0, "flat", 0, "süd"),
        )
    ]
    *messages, public = answered(worker, task, held)
    shapes = {(len(message), len(_only(message, task))) for message in messages}
    assert [reports for _, reports in shapes] == [task.opening.slots] == [3]
    assert len(public) == len(messages[0]) - 3  # what everybody may see is as long as it is

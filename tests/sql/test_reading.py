"""Questions become exactly the sets, sums and names that they mean; the rest is refused, each by
its own rule.
"""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.sql.aggregates.avg import Avg
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.count import Count
from sottovoce.sql.aggregates.freq import Freq
from sottovoce.sql.aggregates.stddev import Stddev
from sottovoce.sql.aggregates.sum import Sum
from sottovoce.sql.errors import RULES
from sottovoce.sql.query import (
    AllOf,
    AnyOf,
    Column,
    Compared,
    GroupBy,
    Listed,
    Monomial,
    Not,
    Options,
    Query,
    SortItem,
)
from sottovoce.sql.reading import QueryError, read

SHOP = Tables(
    names=("users", "txn"),
    tables=(
        Records(
            ("age", "income", "state"),
            (Integers(1, 125), Buckets(0.0, 250000.0, 125), Categories(("NY", "WA", "CA"))),
        ),
        Lists(
            Records(
                ("amount", "category"), (Integers(1, 625), Categories(("Sports", "Books", "Food")))
            ),
            most=10,
        ),
    ),
    public=Records(
        ("users.os", "users.Year"), (Categories(("iOS", "Android")), Integers(1900, 2030))
    ),
)
FROM_BOTH = "FROM users JOIN txn USING (UID)"
OTHER = Tables(
    names=("Left1", "right1"),
    tables=(
        Records(
            ("shade", "Rate", "far"),
            (Categories(("red", "café")), Numbers(0.0, 1.0, 11), Integers(-5, 5)),
        ),
        Records(
            ("shade", "long", "wide"),
            (Integers(0, 9), Integers(0, 2000), Numbers(0.0, 1.0, 1 << 21)),
        ),
    ),
)
AGE, INCOME, STATE = (Column(0, place) for place in range(3))
AMOUNT, CATEGORY = Column(1, 0), Column(1, 1)
OS, YEAR = Column(0, 0, "users.os"), Column(0, 1, "users.Year")
AGES, MIDDLES = np.arange(1, 126), np.arange(1000, 250000, 2000)
STATES, CATEGORIES = np.array(["NY", "WA", "CA"]), np.array(["Sports", "Books", "Food"])
TWENTIES = (AGES >= 20) & (AGES <= 40)
COUNT = Count("count")
BUCKETS = (
    "users.income is kept in 125 buckets: a bucket is counted if its middle meets the condition"
)


def plain(query):
    """A question as data that can be compared."""
    where = [
        (one.factor, {key: held.tolist() for key, held in one.sets.items()}, one.public)
        for one in query.where
    ]
    return {**vars(query), "where": where}


def one(**sets_and_public):
    return (Monomial(1.0, **sets_and_public),)


EXAMPLES = {
    "SELECT COUNT(*) FROM users WHERE Age BETWEEN 20 AND 40 AND State = 'NY';": Query(
        (0,), (COUNT,), one(sets={AGE: TWENTIES, STATE: STATES == "NY"}), shown=("count",)
    ),
    "SELECT SUM(Income) FROM users WHERE Age BETWEEN 20 AND 40;": Query(
        (0,),
        (Sum("sum_income", (MeasureTerm(1.0, INCOME),)),),
        one(sets={AGE: TWENTIES}),
        shown=("sum_income",),
    ),
    "SELECT AVG(Income) FROM users WHERE Income >= 1000 AND OS = 'iOS';": Query(
        (0,),
        (Avg("avg_income", (MeasureTerm(1.0, INCOME),)),),
        one(),
        among=Compared(OS, "=", "iOS"),
        shown=("avg_income",),
        notices=(BUCKETS,),
    ),
    """SELECT AVG(Amount) FROM txn JOIN users ON users.UID = txn.UID
        WHERE Category = 'Sports' AND Age IN [20, 40];""": Query(
        (1, 0),
        (Avg("avg_amount", (MeasureTerm(1.0, AMOUNT),)),),
        one(sets={AGE: TWENTIES, CATEGORY: CATEGORIES == "Sports"}),
        shown=("avg_amount",),
    ),
    "SELECT SUM(Income) FROM users JOIN txn USING (UID) WHERE Category = 'Books';": Query(
        (0, 1),
        (Sum("sum_income", (MeasureTerm(1.0, INCOME),)),),
        one(sets={CATEGORY: CATEGORIES == "Books"}),
        shown=("sum_income",),
    ),
    "SELECT COUNT(*) FROM txn WHERE Amount > 100;": Query(
        (1,), (COUNT,), one(sets={AMOUNT: np.arange(1, 626) > 100}), shown=("count",)
    ),
    "SELECT State, COUNT(*) AS c FROM users JOIN txn USING (UID)"
    " GROUP BY State ORDER BY c DESC;": Query(
        (0, 1),
        (Count("c"),),
        group_by=(GroupBy(STATE, "state"),),
        shown=(0, "c"),
        order_by=(SortItem("c", descending=True),),
    ),
    "SELECT COUNT(*) FROM users WHERE Age < 20 OR State = 'WA' WITH (METHOD = BLUE);": Query(
        (0,),
        (COUNT,),
        (Monomial(1.0), Monomial(-1.0, {AGE: AGES >= 20, STATE: STATES != "WA"})),
        shown=("count",),
        options=Options(method="blue"),
    ),
}


@pytest.mark.parametrize(
    ("text", "expected"), EXAMPLES.items(), ids=[f"E{n}" for n in range(1, len(EXAMPLES) + 1)]
)
def test_examples_are_read_exactly(text, expected):
    assert plain(read(text, SHOP)) == plain(expected)
    assert plain(read(f"explain {text}", SHOP)) == {**plain(expected), "explain": True}


def test_a_wrong_set_would_be_noticed():
    text, right = next(iter(EXAMPLES.items()))
    wrong = Query(
        (0,), (COUNT,), one(sets={AGE: TWENTIES, STATE: STATES == "WA"}), shown=("count",)
    )
    assert plain(read(text, SHOP)) == plain(right) != plain(wrong)


def sets(condition, services=SHOP, tables="users JOIN txn USING (uid)"):
    """The only product of a condition, and the notices."""
    query = read(f"SELECT COUNT(*) FROM {tables} WHERE {condition}", services)
    (only,) = query.where
    assert only.factor == 1.0
    return only.sets, query.notices


@pytest.mark.parametrize(
    ("condition", "column", "expected"),
    [
        ("age = 5", AGE, AGES == 5),
        ("age <> 5", AGE, AGES != 5),
        ("5 < age", AGE, AGES > 5),
        ("age <= 5.5", AGE, AGES <= 5),
        ("age != 5 AND users.age < 8", AGE, (AGES != 5) & (AGES < 8)),
        ("age NOT BETWEEN 20 AND 40", AGE, ~TWENTIES),
        ("NOT age IN [20, 40]", AGE, ~TWENTIES),
        ("age IN (1, 2, 3) OR age = 120", AGE, np.isin(AGES, [1, 2, 3, 120])),
        ("age NOT IN (1, 2)", AGE, AGES > 2),
        ("age > -5 AND age < +9", AGE, AGES < 9),
        ("state IN ('NY', 'CA')", STATE, STATES != "WA"),
        ("NOT (state = 'NY' OR state = 'CA')", STATE, STATES == "WA"),
        ("state NOT IN ('NY')", STATE, STATES != "NY"),
        ("income < 2000", INCOME, MIDDLES < 2000),
        ("income >= 2000 AND income < 4e3", INCOME, MIDDLES == 3000),
    ],
)
def test_a_condition_on_one_column_is_a_set_of_its_values(condition, column, expected):
    found, notices = sets(condition)
    assert list(found) == [column]
    assert found[column].tolist() == expected.tolist()
    assert notices == ()


@pytest.mark.parametrize(
    ("condition", "expected", "noticed"),
    [
        ("income > 1000", MIDDLES > 1000, True),
        ("income <= 1000", MIDDLES <= 1000, True),
        ("income < 2500", MIDDLES < 2500, True),
        ("income = 3000", MIDDLES == 3000, True),
        ("income <> 3000", MIDDLES != 3000, True),
        ("income < 2000", MIDDLES < 2000, False),
        ("income >= 2000", MIDDLES > 2000, False),
        ("income BETWEEN 2000 AND 7000", (MIDDLES > 2000) & (MIDDLES <= 7000), True),
    ],
)
def test_a_bound_within_a_bucket_counts_its_middle_and_says_so(condition, expected, noticed):
    found, notices = sets(condition)
    assert found[INCOME].tolist() == expected.tolist()
    assert notices == ((BUCKETS,) if noticed else ())


def test_people_at_the_edge_of_a_bucket_are_told_to_be_in_the_one_above():
    for condition in ("income <= 2000", "income > 2000", "income BETWEEN 2000 AND 6000"):
        assert sets(condition)[1] == (
            "users.income: people exactly at the edge of a bucket are in the one above",
        )


@pytest.mark.parametrize(
    ("condition", "first", "last", "noticed"),
    [
        ("rate <= 0.3", 0, 3, True),
        ("rate < 0.3", 0, 2, True),
        ("rate = 0.7", 7, 7, True),
        ("rate > 0.65", 7, 10, False),
        ("rate BETWEEN 0.05 AND 0.95", 1, 9, False),
        ("rate > 0", 1, 10, True),
    ],
)
def test_numbers_at_points_count_by_their_points_whatever_their_last_digit(
    condition, first, last, noticed
):
    found, notices = sets(condition, OTHER, "left1")
    assert np.flatnonzero(found[Column(0, 1)]).tolist() == list(range(first, last + 1))
    assert bool(notices) == noticed


@pytest.mark.parametrize(
    ("condition", "notice"),
    [
        ("state = 'TX'", "users.state: there is no label 'TX'"),
        ("state = 'ny'", "users.state: there is no label 'ny': did you mean 'NY'?"),
        ("age > 200", "users.age: no value lies in the range of the condition"),
        ("age BETWEEN 40 AND 20", "users.age: no value lies in the range of the condition"),
        ("age = 2.5", "users.age: no value lies in the range of the condition"),
        ("income = 1500", "users.income: no value lies in the range of the condition"),
        (f"state = '{'x' * 90}'", f"users.state: there is no label '{'x' * 40}...'"),
    ],
)
def test_what_no_value_meets_is_exactly_nothing_with_a_notice(condition, notice):
    query = read(f"SELECT COUNT(*) FROM users WHERE {condition}", SHOP)
    assert query.where == ()
    assert query.notices == (notice,)
    query = read(f"SELECT COUNT(*) FROM users WHERE NOT {condition}", SHOP)
    assert [(one.factor, one.sets) for one in query.where] == [(1.0, {})]


def test_unknown_labels_in_a_list_leave_the_others():
    found, notices = sets("state IN ('NY', 'TX', 'XX')")
    assert found[STATE].tolist() == [True, False, False]
    assert len(notices) == 2


def test_labels_are_compared_in_one_normal_form():
    found, notices = sets("left1.shade = 'cafe\u0301'", OTHER, "left1")
    assert found[Column(0, 0)].tolist() == [False, True]
    assert not notices


def test_public_conditions_stay_conditions():
    def read_one(condition):
        query = read(f"SELECT COUNT(*) FROM users WHERE {condition}", SHOP)
        return query.among, [(one.factor, one.public) for one in query.where]

    ios, old = Compared(OS, "=", "iOS"), Compared(YEAR, "<", 1950.0)
    assert read_one("os = 'iOS' AND year < 1950") == (AllOf((ios, old)), [(1.0, AllOf())])
    assert read_one("os = 'iOS' OR 1950 > YEAR") == (AnyOf((ios, old)), [(1.0, AllOf())])
    assert read_one("NOT os = 'iOS'") == (Not(ios), [(1.0, AllOf())])
    assert read_one("os <> 'iOS'") == (Compared(OS, "<>", "iOS"), [(1.0, AllOf())])
    assert read_one("users.os IN ('iOS', 'Android')")[0] == Listed(OS, ("iOS", "Android"))
    assert read_one("year BETWEEN 1950 AND 2000")[0] == AllOf(
        (Compared(YEAR, ">=", 1950.0), Compared(YEAR, "<=", 2000.0))
    )
    among, products = read_one("year < 1950 AND (os = 'iOS' OR age < 20)")
    assert among == old
    assert products == [(1.0, AllOf()), (-1.0, Not(ios))]
    assert read("SELECT COUNT(*) FROM users WHERE os = 'BeOS'", SHOP).notices == (
        "users.os: there is no label 'BeOS'",
    )


def asked(items, tables="users JOIN txn USING (uid)", services=SHOP, rest=""):
    return read(f"SELECT {items} FROM {tables} {rest}", services)


@pytest.mark.parametrize(
    ("linear", "terms"),
    [
        ("2*income - amount", ((2.0, INCOME), (-1.0, AMOUNT))),
        ("-(income - 3 * (amount + age)) * 2", ((-2.0, INCOME), (6.0, AMOUNT), (6.0, AGE))),
        ("income + income * 0.5", ((1.5, INCOME),)),
        ("2 * 3 * income", ((6.0, INCOME),)),
        ("income + 5 - 5 + 0 * age", ((1.0, INCOME),)),
        ("income / 4 + 3", ((0.25, INCOME), (3.0, None))),
        ("year - age", ((1.0, YEAR), (-1.0, AGE))),
    ],
)
def test_sums_are_linear_in_columns_of_any_service(linear, terms):
    assert asked(f"SUM({linear})").aggregates[0].measure == tuple(
        MeasureTerm(*term) for term in terms
    )


def test_numbers_have_names_of_their_own():
    query = asked(
        "COUNT(*), COUNT(*), freq(*), SUM(age+income), stddev(2*AGE), AVG(age) AS count_2, "
        "COUNT(*) AS Total"
    )
    names = [one.name for one in query.aggregates]
    assert names == ["count", "count_3", "freq", "sum_age_income", "stddev_age", "count_2", "Total"]
    assert query.shown == tuple(names)
    assert [type(one) for one in query.aggregates] == [Count, Count, Freq, Sum, Stddev, Avg, Count]


def test_a_number_is_never_named_like_a_group():
    counted = Tables(("t",), (Records(("count", "age"), (Integers(0, 9), Integers(0, 9))),))
    query = asked("COUNT(*), count", "t", counted, "GROUP BY count ORDER BY t.count")
    assert (query.shown, query.order_by) == (("count_2", 0), (SortItem("count"),))


def test_aliases_and_cases_do_not_matter():
    query = read(
        'select SUM(T.AMOUNT) from USERS as U inner join "txn" t on T.uid = u.Uid'
        ' where u."Age" = 5',
        SHOP,
    )
    assert query.tables == (0, 1)
    assert query.aggregates[0].measure == (MeasureTerm(1.0, AMOUNT),)
    assert list(query.where[0].sets) == [AGE]


def test_items_may_be_groups_and_numbers_in_any_order():
    query = asked("COUNT(*), state, os", rest="GROUP BY os, users.state ORDER BY STATE LIMIT 7")
    assert query.group_by == (GroupBy(OS, "os"), GroupBy(STATE, "state"))
    assert query.shown == ("count", 1, 0)
    assert (query.order_by, query.limit) == ((SortItem("state"),), 7)


@pytest.mark.parametrize(
    ("order", "name", "descending"),
    [
        ("COUNT", "count", False),
        ("Mean ASC", "Mean", False),
        ("count(*) desc", "count", True),
        ("AVG(age) DESC", "Mean", True),
        ("age", "age", False),
        ("users.AGE DESC", "age", True),
    ],
)
def test_the_order_is_by_a_name_a_number_or_a_group(order, name, descending):
    query = asked("COUNT(*), AVG(age) AS Mean", rest=f"GROUP BY age ORDER BY {order}")
    assert query.order_by == (SortItem(name, descending),)


def test_options_are_read():
    options = (
        "METHOD = BLUE, k = 4, MEASURE = lin, SCALE = 'HAJEK', MAX_CELLS = 2000, CONFIDENCE = 0.9"
    )
    expected = Options("blue", 4, "lin", "hajek", 2000, 0.9)
    assert asked("COUNT(*)", rest=f"LIMIT 0 WITH ({options})").options == expected


FROM = "FROM users JOIN txn USING (uid)"
REFUSED = {
    "unknown-table": [
        "SELECT COUNT(*) FROM ^people",
        "SELECT COUNT(*) FROM users JOIN ^people USING (uid)",
        "SELECT SUM(^txn.amount) FROM users",
        "SELECT COUNT(*) FROM users u WHERE ^users.age = 5",
        "SELECT COUNT(*) FROM users JOIN txn ON users.uid = ^other.uid",
    ],
    "unknown-column": [
        f"SELECT SUM(^height) {FROM}",
        f"SELECT SUM(^users.amount) {FROM}",
        "SELECT COUNT(*) FROM users WHERE ^amount = 5",
        "SELECT COUNT(*) FROM users GROUP BY ^amount",
    ],
    "self-join": [
        "SELECT COUNT(*) FROM users JOIN ^Users USING (uid)",
        "SELECT COUNT(*) FROM txn a JOIN ^txn b USING (uid)",
    ],
    "duplicate-alias": ["SELECT COUNT(*) FROM users a JOIN ^txn A USING (uid)"],
    "join-key": [
        "SELECT COUNT(*) FROM users JOIN txn USING (^age)",
        "SELECT COUNT(*) FROM users JOIN txn USING (uid, ^age)",
        "SELECT COUNT(*) FROM users JOIN txn ON ^users.age = txn.amount",
        "SELECT COUNT(*) FROM users JOIN txn ON users.uid = ^txn.amount",
        "SELECT COUNT(*) FROM users JOIN txn ON ^uid = txn.uid",
        "SELECT COUNT(*) FROM users JOIN txn ON ^txn.uid = txn.uid",
        "SELECT COUNT(*) FROM users JOIN txn ON ^users.uid = users.uid",
        "SELECT COUNT(*) FROM users JOIN txn ON ^1 = 1",
        "SELECT COUNT(*) FROM users JOIN txn ON ^users.uid < txn.uid",
        "SELECT COUNT(*) FROM users JOIN txn ON ^users.uid = 5",
    ],
    "subquery": ["SELECT COUNT(*) FROM users WHERE ^age IN (SELECT age FROM users)"],
    "inner-query": [
        "SELECT AVG(n) FROM (SELECT ^COUNT(*) AS n FROM txn) t",
        "WITH x AS (^SELECT age FROM users ORDER BY age) SELECT AVG(age) FROM x",
    ],
    "semi-join": ["SELECT COUNT(*) FROM users WHERE ^uid IN (SELECT uid FROM txn)"],
    "exists-key": [
        "SELECT COUNT(*) FROM txn WHERE ^EXISTS (SELECT 1 FROM users WHERE age > 5)",
    ],
    "outer-join": [
        "SELECT SUM(amount) FROM users LEFT JOIN txn ON users.uid = txn.uid AND ^amount > 5",
    ],
    "outer-list": ["SELECT ^COUNT(*) FROM users LEFT JOIN txn USING (uid)"],
    "join-without-key": ["SELECT COUNT(*) FROM users^, txn"],
    "public-quantile": ["SELECT MEDIAN(^year + 1) FROM users"],
    "quantile-formula": [
        "SELECT ^MEDIAN(age) * COUNT(*) FROM users",
        "SELECT 1 + ^MAX(age) / MIN(age) FROM users",
        "SELECT ^MEDIAN(age) / 0 FROM users",
    ],
    "parameter": ["SELECT COUNT(*) FROM users WHERE age > ^?"],
    "share": ["SELECT QUANTILE(age, ^2) FROM users"],
    "uid": [
        "SELECT ^uid, COUNT(*) FROM users GROUP BY state",
        "SELECT COUNT(*) FROM users WHERE ^UID = 5",
        "SELECT COUNT(*) FROM users GROUP BY ^users.uid",
        "SELECT SUM(^uid) FROM users",
        "SELECT COUNT(*) FROM users ORDER BY ^uid",
    ],
    "not-grouped": [
        "SELECT ^state, COUNT(*) FROM users",
        "SELECT state, ^age, COUNT(*) FROM users GROUP BY state",
    ],
    "no-aggregate": [
        "^SELECT state FROM users GROUP BY state",
        "EXPLAIN ^SELECT os FROM users GROUP BY os",
    ],
    "duplicate-name": [
        "SELECT COUNT(*) AS a, SUM(age) AS ^A FROM users",
        "SELECT state, ^state, COUNT(*) FROM users GROUP BY state",
        "SELECT COUNT(*) AS ^state, state FROM users GROUP BY state",
        "SELECT COUNT(*) AS ^State FROM users GROUP BY state",
    ],
    "name": ['SELECT COUNT(*) AS ^"<b>" FROM users', f"SELECT COUNT(*) AS ^{'a' * 64} FROM users"],
    "product": [
        "SELECT SUM(^income * age * income) FROM users",
        "SELECT SUM(income / (^age + year)) FROM users",
    ],
    "distinct": [
        "SELECT COUNT(^DISTINCT state) FROM users",
        "SELECT SUM(^DISTINCT age) FROM users",
    ],
    "distinct-people": ["SELECT COUNT(^DISTINCT uid) FROM txn"],
    "function": [
        "SELECT COUNT(*) FROM users WHERE ^LOWER(state) = 'ny'",
        "SELECT SUM(^SUM(age)) FROM users",
        "SELECT ^middle(age) FILTER (WHERE age > 5) + COUNT(*) FROM users",
    ],
    "arguments": [
        "SELECT ^SUM(age, income) FROM users",
        "SELECT COUNT(*) FROM users WHERE ^ABS(age, 2) = 5",
    ],
    "aggregate-condition": ["SELECT COUNT(*) FROM users WHERE ^COUNT(*) > 5"],
    "column-comparison": [
        "SELECT COUNT(*) FROM users WHERE ^age = income",
        "SELECT COUNT(*) FROM users WHERE ^age > year",
        "SELECT COUNT(*) FROM users WHERE ^age BETWEEN income AND 5",
    ],
    "bare-column": [
        "SELECT COUNT(*) FROM users WHERE ^age",
        "SELECT COUNT(*) FROM users WHERE NOT ^age AND age = 5",
        "SELECT COUNT(*) FROM users WHERE ^age + 1",
        "SELECT COUNT(*) FROM users WHERE ^5",
        "SELECT COUNT(*) AS c FROM users HAVING ^c",
    ],
    "case-types": [
        "SELECT SUM(^CASE WHEN age > 5 THEN 1 ELSE 'old' END) FROM users",
    ],
    "like": [
        "SELECT COUNT(*) FROM users WHERE ^age LIKE '5%'",
        "SELECT COUNT(*) AS c FROM users HAVING ^c LIKE '5%'",
    ],
    "select-expression": [
        "SELECT ^1, COUNT(*) FROM users",
        "SELECT ^ABS(COUNT(*)) FROM users",
    ],
    "expression": ["SELECT COUNT(*) FROM users WHERE ABS(^*) = 5"],
    "group-expression": [
        "SELECT COUNT(*) FROM users GROUP BY ^age + income",
        "SELECT COUNT(*) AS c FROM users GROUP BY ^c",
        "SELECT COUNT(*) FROM users GROUP BY ^'x'",
    ],
    "public-filter": [
        "SELECT COUNT(*) FILTER (WHERE ^os = 'iOS') FROM users",
        "SELECT COUNT_IF(^year > 1950) FROM users",
        "SELECT SUM(CASE WHEN ^os = 'iOS' THEN age END) FROM users",
    ],
    "ordinal": [
        "SELECT COUNT(*) FROM users GROUP BY ^2",
        "SELECT COUNT(*) FROM users ORDER BY ^0",
    ],
    "public-expression": [
        "SELECT SUM(age / ^year) FROM users",
        "SELECT AVG(1 / ^year) FROM users",
    ],
    "having-item": [
        "SELECT COUNT(*) FROM users HAVING ^age > 5",
        "SELECT COUNT(*) FROM users GROUP BY state HAVING ^state = 'NY'",
    ],
    "empty-sum": ["SELECT SUM(^income - income) FROM users", "SELECT SUM(^0 * age) FROM users"],
    "number": [
        "SELECT SUM(^1e999 * age) FROM users",
        "SELECT SUM(^1e308 * 10 * age) FROM users",
        "SELECT COUNT(*) FROM users WHERE age < ^1e999",
        "SELECT COUNT(*) FROM users WHERE age < ^1e",
    ],
    "category-measure": [
        "SELECT SUM(^state) FROM users",
        "SELECT AVG(age + ^os) FROM users",
        "SELECT STDDEV(^state) FROM users",
    ],
    "one-column": ["SELECT ^STDDEV(age + income) FROM users"],
    "range-category": [
        "SELECT COUNT(*) FROM users WHERE ^state < 'NY'",
        "SELECT COUNT(*) FROM users WHERE ^state BETWEEN 'A' AND 'B'",
        "SELECT COUNT(*) FROM users WHERE NOT ^os >= 'A'",
        "SELECT COUNT(*) FROM users WHERE ^state IN ['A', 'B']",
    ],
    "literal-type": [
        "SELECT COUNT(*) FROM users WHERE age = ^'5'",
        "SELECT COUNT(*) FROM users WHERE state = ^5",
        "SELECT COUNT(*) FROM users WHERE os IN ('iOS', ^-5)",
        "SELECT COUNT(*) FROM users WHERE year BETWEEN 5 AND ^'6'",
        "SELECT COUNT(*) FROM users HAVING COUNT(*) > ^'5'",
        "SELECT COUNT(*) AS c FROM users HAVING c IN (5, ^'6')",
    ],
    "duplicate-group": ["SELECT COUNT(*) FROM users GROUP BY state, ^users.State"],
    "too-many-groups": ["SELECT COUNT(*) FROM users GROUP BY state, age, ^income"],
    "too-many-numbers": [
        "SELECT COUNT(*), SUM(age), AVG(age), FREQ(*), SUM(income), ^AVG(income), STDDEV(age)"
        " FROM users GROUP BY state, os, age",
    ],
    "order-item": [
        "SELECT COUNT(*) AS c FROM users ORDER BY ^d",
        "SELECT COUNT(*) FROM users ORDER BY ^age",
        "SELECT COUNT(*) AS c FROM users ORDER BY ^c + 1",
        "SELECT COUNT(*) FROM users ORDER BY ^'c'",
    ],
    "unknown-option": ["SELECT COUNT(*) FROM users WITH (K = 3, ^SEED = 4)"],
    "option-twice": ["SELECT COUNT(*) FROM users WITH (K = 3, ^k = 4)"],
    "option-value": [
        "SELECT COUNT(*) FROM users WITH (METHOD = ^BEST)",
        "SELECT COUNT(*) FROM users WITH (METHOD = ^5)",
        "SELECT COUNT(*) FROM users WITH (K = ^0)",
        "SELECT COUNT(*) FROM users WITH (K = ^2.5)",
        "SELECT COUNT(*) FROM users WITH (MAX_CELLS = ^many)",
        f"SELECT COUNT(*) FROM users WITH (MAX_CELLS = ^{'9' * 5000})",
        "SELECT COUNT(*) FROM users WITH (CONFIDENCE = ^1)",
        "SELECT COUNT(*) FROM users WITH (SCALE = ^'')",
    ],
}
CASES = [(rule, text) for rule, texts in REFUSED.items() for text in texts]


def check_refused(rule, text, services):
    before = text.partition("^")[0]
    with pytest.raises(QueryError) as refused:
        read(text.replace("^", "", 1), services)
    assert (refused.value.rule, refused.value.line, refused.value.column) == (
        rule,
        1,
        len(before) + 1,
    )
    assert str(refused.value).startswith(RULES[rule].broken)
    assert RULES[rule].instead in str(refused.value)
    assert str(refused.value).endswith(f" (line 1, column {len(before) + 1})")


@pytest.mark.parametrize(
    ("rule", "text"), CASES, ids=[f"{rule}-{text[:60]}" for rule, text in CASES]
)
def test_what_makes_no_sense_here_is_refused_where_it_stands(rule, text):
    check_refused(rule, text, SHOP)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("ambiguous-column", "SELECT COUNT(*) FROM left1 JOIN right1 USING (uid) WHERE ^shade = 5"),
        ("too-many-groups", "SELECT COUNT(*) FROM right1 GROUP BY ^long"),
        (
            "order-item",
            "SELECT COUNT(*) FROM left1 a JOIN right1 b USING (uid) GROUP BY a.shade, b.shade "
            "ORDER BY ^a.shade",
        ),
        ("large-column", "SELECT COUNT(*) FROM right1 WHERE ^wide < 5"),
        ("large-column", "SELECT SUM(^SQRT(wide)) FROM right1"),
    ],
)
def test_other_tables_have_other_limits(rule, text):
    check_refused(rule, text, OTHER)


def test_refusals_say_what_there_is():
    with pytest.raises(QueryError, match=r"there are users, txn; use SHOW TABLES"):
        read("SELECT COUNT(*) FROM people", SHOP)
    with pytest.raises(QueryError, match=r"there are txn\.amount, txn\.category; use DESCRIBE"):
        read("SELECT SUM(age) FROM txn", SHOP)
    with pytest.raises(QueryError, match=r"left1\.shade|Left1\.shade, right1\.shade"):
        read("SELECT SUM(shade) FROM left1 JOIN right1 USING (uid)", OTHER)
    with pytest.raises(QueryError, match="METHOD is AUTO, ADD, SIGNED, RDC, GLS, BLUE"):
        read("SELECT COUNT(*) FROM users WITH (METHOD = BEST)", SHOP)


def test_conditions_that_fall_apart_are_refused():
    names = [f"c{place}" for place in range(18)]
    wide = Tables(("t",), (Records(tuple(names), (Integers(0, 1),) * 18),))
    pairs = [
        f"{one} = 1 AND {other} = 1" for one, other in zip(names[::2], names[1::2], strict=True)
    ]
    assert len(read(f"SELECT COUNT(*) FROM t WHERE {' OR '.join(pairs[:8])}", wide).where) == 255
    check_refused("too-many-terms", f"SELECT COUNT(*) FROM t WHERE ^{' OR '.join(pairs)}", wide)


def test_every_rule_has_a_test():
    from sql.test_grammar import REFUSED as GRAMMAR

    elsewhere = {"ambiguous-column", "large-column", "too-many-terms"}
    # Those about dates and public buckets are in questions.sql.
    dates = {"date", "date-arithmetic", "date-difference", "date-measure", "date-part", "date-unit"}
    dates |= {"interval", "not-a-date", "now", "public-group"}
    assert set(RULES) == {*REFUSED, *GRAMMAR, *elsewhere, *dates}


ATOMS = [
    "age < 20",
    "age IN (5, 6)",
    "state = 'NY'",
    "state <> 'WA'",
    "amount BETWEEN 5 AND 9",
    "category = 'Food'",
    "os = 'iOS'",
]
expressions = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(
            lambda parts: "(" + " ".join(parts) + ")"
        ),
        inner.map(lambda part: f"NOT {part}"),
    ),
    max_leaves=8,
)
WORLD = {AGE: AGES, STATE: STATES, AMOUNT: np.arange(1, 626), CATEGORY: CATEGORIES}
PEOPLE = [
    {"age": age, "state": state, "amount": amount, "category": category, "os": os}
    for age in (5, 19, 20)
    for state in ("NY", "WA")
    for amount in (4, 9)
    for category in ("Food", "Books")
    for os in ("iOS", "Android")
]


def holds(expression):
    """Whom a condition holds for, by SQLite."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE people ({', '.join(PEOPLE[0])})")
        database.executemany(
            "INSERT INTO people VALUES (?, ?, ?, ?, ?)", [tuple(one.values()) for one in PEOPLE]
        )
        return [
            bool(found)
            for (found,) in database.execute(f"SELECT {expression} FROM people ORDER BY rowid")
        ]


def seen(public, person):
    match public:
        case Compared(_, "=", value):
            return person["os"] == value
        case Not(part):
            return not seen(part, person)
        case AllOf(parts):
            return all(seen(part, person) for part in parts)
        case AnyOf(parts):
            return any(seen(part, person) for part in parts)


def counted(query, person):
    total = 0.0
    names = {AGE: "age", STATE: "state", AMOUNT: "amount", CATEGORY: "category"}
    for product in query.where:
        inside = [
            held[np.flatnonzero(WORLD[column] == person[names[column]])[0]]
            for column, held in product.sets.items()
        ]
        total += product.factor * seen(product.public, person) * all(inside)
    return total * seen(query.among, person)


def meant(expression):
    query = read(f"SELECT COUNT(*) {FROM} WHERE {expression}", SHOP)
    return [counted(query, person) for person in PEOPLE]


@settings(max_examples=100)
@given(expressions)
def test_conditions_mean_what_they_say(expression):
    assert meant(expression) == holds(expression)


def test_conditions_that_mean_something_else_are_told_apart():
    assert meant("NOT age < 20 OR state = 'NY'") == holds("NOT age < 20 OR state = 'NY'")
    assert meant("NOT age < 20 OR state = 'NY'") != holds("NOT (age < 20 OR state = 'NY')")


ITEMS = [
    "COUNT(*)",
    "SUM(age)",
    "AVG(2*income-amount)",
    "state",
    "os",
    "uid",
    "COUNT(*) AS c",
    "MIN(age)",
    "*",
]
PARTS = [
    "WHERE",
    *ATOMS,
    "AND",
    "OR",
    "NOT",
    "(",
    ")",
    "GROUP BY",
    "state",
    "ORDER BY c",
    "LIMIT 5",
    "WITH (K = 3)",
    ",",
    "HAVING",
]


def answer(text):
    """The question, or the refusal; nothing else may come out."""
    try:
        return read(text, SHOP)
    except QueryError as refused:
        return refused


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(ITEMS), min_size=1, max_size=3),
    st.lists(st.sampled_from(PARTS), max_size=8),
)
def test_no_soup_of_parts_raises_anything_else(items, parts):
    found = answer(f"SELECT {', '.join(items)} {FROM} {' '.join(parts)}")
    assert isinstance(found, Query) or found.rule in RULES


def test_parameters_stand_for_literals_in_order_or_by_name():
    text = "SELECT COUNT(*) FROM users WHERE age > ? AND state = ?"
    plain = read("SELECT COUNT(*) FROM users WHERE age > 20 AND state = 'NY'", SHOP)
    asked = [
        read(text, SHOP, (20, "NY")),
        read(
            "SELECT COUNT(*) FROM users WHERE age > :low AND state = :place",
            SHOP,
            {"low": 20, "place": "NY"},
        ),
    ]
    for query in asked:
        (monomial,), (other,) = query.where, plain.where
        assert {column: chosen.tolist() for column, chosen in monomial.sets.items()} == {
            column: chosen.tolist() for column, chosen in other.sets.items()
        }
    with pytest.raises(QueryError, match="has no value"):
        read(text, SHOP, (20,))
    with pytest.raises(QueryError, match="has no value"):
        read(text, SHOP, (20, ["NY"]))
    assert read("SELECT COUNT(*) FROM users WHERE age > ?", SHOP, (-3,)).where


def test_null_is_an_answer_that_was_declined():
    plan = Tables(("t",), (Records(("pet",), (Categories(("cat", "dog"), declinable=True),)),))
    (monomial,) = read("SELECT COUNT(*) FROM t WHERE pet IS NULL", plan).where
    (chosen,) = monomial.sets.values()
    assert chosen.tolist() == [False, False, True]
    (aggregate,) = read("SELECT COUNT(pet) FROM t", plan).aggregates
    (moment,) = aggregate.moments
    (chosen,) = moment.measure[0].where[0].sets.values()
    assert chosen.tolist() == [True, True, False]

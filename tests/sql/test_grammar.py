"""What is not in the grammar is refused by its own rule, where it stands."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from sottovoce.errors import ParameterError
from sottovoce.sql.errors import RULES, QueryError
from sottovoce.sql.grammar import DEEPEST, LONGEST, MOST_COMPARISONS, MOST_TERMS, parsed, start

PLACE = "^"  # stands before what is refused

REFUSED = {
    "outer-join": [
        "SELECT COUNT(*) FROM users u ^RIGHT OUTER JOIN txn USING (uid)",
        "SELECT COUNT(*) FROM users ^FULL JOIN txn USING (uid)",
        "SELECT COUNT(*) FROM users ^SEMI JOIN txn USING (uid)",
    ],
    "cross-join": [
        "SELECT COUNT(*) FROM users ^CROSS JOIN txn",
        "SELECT COUNT(*) FROM users ^NATURAL JOIN txn",
    ],
    "join-without-key": [
        "SELECT COUNT(*) FROM users ^JOIN txn WHERE age = 1",
        "SELECT COUNT(*) FROM a ^INNER JOIN b",
    ],
    "subquery": [
        "SELECT COUNT(*) FROM users WHERE age = (^SELECT 1)",
        "SELECT COUNT(*) FROM users WHERE (^SELECT 1) = 2",
        "^(SELECT COUNT(*) FROM users)",
    ],
    "union": [
        "SELECT COUNT(*) FROM users ^UNION SELECT COUNT(*) FROM txn",
        "SELECT COUNT(*) FROM users WHERE age = 1 ^EXCEPT SELECT COUNT(*) FROM txn",
    ],
    "distinct": ["SELECT ^DISTINCT state FROM users"],
    "function": [
        "SELECT COUNT(*) FROM ^generate_series(1, 2)",
        'SELECT ^"count"(*) FROM users',
    ],
    "window": [
        "SELECT COUNT(*) ^OVER (PARTITION BY state) FROM users",
        "SELECT COUNT(*) FROM users ^WINDOW w AS (PARTITION BY age)",
        "SELECT COUNT(*) FROM users ^QUALIFY 1",
    ],
    "chained-comparison": ["SELECT COUNT(*) FROM users WHERE 20 < age ^< 40"],
    "select-star": ["SELECT ^* FROM users", "SELECT ^users.* FROM users"],
    "like": ["SELECT COUNT(*) FROM users WHERE state ^SIMILAR TO 'N'"],
    "null": [
        "SELECT COUNT(*) FROM users WHERE state IS ^'NY'",
        "SELECT COUNT(*) FROM users WHERE state ^ISNULL",
    ],
    "cast": [
        "SELECT SUM(^CAST(age AS INT)) FROM users",
        "SELECT SUM(age^::int) FROM users",
        "SELECT COUNT(*) FROM users WHERE age^::int = 5",
        "SELECT COUNT(*) FROM users WHERE ^TRY_CAST(age AS INT) = 5",
    ],
    "offset": ["SELECT COUNT(*) FROM users ^FETCH FIRST 5 ROWS ONLY"],
    "limit": [
        "SELECT COUNT(*) FROM users LIMIT ^1.5",
        "SELECT COUNT(*) FROM users LIMIT ^-1",
        "SELECT COUNT(*) FROM users LIMIT ^ALL",
        f"SELECT COUNT(*) FROM users LIMIT ^{'9' * 5000}",
    ],
    "option-value": ["SELECT COUNT(*) FROM users WITH (METHOD = ^(1))"],
    "not-select": [
        "^ELSE COUNT(*) FROM users",
        "^DROP TABLE users",
        "^INSERT INTO users VALUES (1)",
        "^CREATE TABLE x (a INT)",
        "EXPLAIN ^DELETE FROM users",
        "^FROM users SELECT COUNT(*)",
        "EXPLAIN^",
        "^VALUES (1)",
        "^SHOW INDEXES",
    ],
    "several-statements": [
        "SELECT COUNT(*) FROM users^; DROP TABLE users",
        "SELECT COUNT(*) FROM users^;;",
    ],
    "empty": ["^", "^  \n ", "^-- nothing", "^;"],
    "syntax": [
        "SELECT COUNT(*) FROM users WHERE age BETWEEN 1 ^2",
        "SELECT COUNT(*), ^FROM users",
        "SELECT COUNT(*) FROM users WHERE age =^",
        "SELECT COUNT(*) FROM users WHERE state = ^'NY",
        "SELECT COUNT(*) people ^more FROM users",
        "SELECT COUNT(^) FROM users",
        "SELECT COUNT(*) FROM users WHERE state = 'a' ^|| 'b'",
        "SELECT COUNT(*) FROM users LIMIT 5^, 10",
        "SELECT SUM(CASE ^END) FROM users",
        "SELECT SUM(CASE WHEN age > 5 ^END) FROM users",
        "SELECT COUNT(*) FROM db^.users",
        "SELECT COUNT(*) FROM users WHERE age IN [1, 2^, 3]",
        "SELECT COUNT(*) FROM users WHERE age IN (1, 2^]",
        "SELECT COUNT(*) FROM users WHERE age IN ^5",
        "SELECT COUNT(*) FROM users WHERE age = ^@x",
        "SELECT COUNT(*) FROM users WHERE age = 1 ^age = 2",
        "SELECT COUNT(*) FROM users LIMIT 5 ^LIMIT 6",
        "SELECT COUNT(*) FROM users LIMIT 5 ^WHERE age = 5",
        "SELECT COUNT(*) FROM users WHERE ^!age = 5",
        "SELECT COUNT(*) FROM users WHERE age = ^= 5",
        "SELECT COUNT(*) FROM users WITH ^METHOD = BLUE",
        "SELECT COUNT(*^",
        "SELECT COUNT(*) FROM users ^/* open ",
    ],
    "nesting": [
        f"SELECT COUNT(*) FROM users WHERE {'(' * DEEPEST}^{'(' * 2000}",
        f"SELECT COUNT(*) FROM users WHERE {'NOT ' * DEEPEST}^{'NOT ' * 2000}",
        f"SELECT SUM({'(' * (DEEPEST - 1)}^{'(' * 2000}",
    ],
    "too-long": [
        f"SELECT COUNT(*) FROM users WHERE age = 5{' OR age = 5' * (MOST_COMPARISONS - 1)} OR ^age "
        "= 6",
        f"SELECT SUM(^age{' + age' * MOST_TERMS}) FROM users",
        f"SELECT SUM(^age{' * 2' * MOST_TERMS}) FROM users",
        "^" + " " * (LONGEST + 1),
    ],
}
CASES = [(rule, text) for rule, texts in REFUSED.items() for text in texts]


def placed(text):
    """The text without its mark, and the line and column of the mark."""
    before = text.partition(PLACE)[0].split("\n")
    return text.replace(PLACE, "", 1), len(before), len(before[-1]) + 1


@pytest.mark.parametrize(
    ("rule", "text"), CASES, ids=[f"{rule}-{text[:60]}" for rule, text in CASES]
)
def test_what_is_not_in_the_grammar_is_refused_where_it_stands(rule, text):
    text, line, column = placed(text)
    with pytest.raises(QueryError) as refused:
        parsed(text)
    found = refused.value
    assert (found.rule, found.line, found.column) == (rule, line, column)
    broken, instead = RULES[rule]
    assert str(found) == f"{broken}; {instead} (line {line}, column {column})"
    assert isinstance(found, ParameterError)
    assert found.__cause__ is None


def test_the_place_is_counted_in_lines_and_columns():
    with pytest.raises(QueryError, match=r"\(line 3, column 4\)"):
        parsed("SELECT COUNT(*)\nFROM users -- é comment\n   UNION SELECT 5")


def test_every_node_knows_where_it_begins():
    condition = "NOT (state = 'NY' OR 5 < age) AND t.age IN [1, 2]"
    text = f"SELECT AVG(2 * amount) AS a FROM txn t WHERE {condition}"
    tree = parsed(text)
    for kind, begins in (
        (exp.Anonymous, "AVG"),
        (exp.Mul, "2 *"),
        (exp.Table, "txn"),
        (exp.And, "NOT ("),
        (exp.Or, "state ="),
        (exp.LT, "5 <"),
        (exp.Between, "t.age"),
    ):
        assert text[start(tree.find(kind)) :].startswith(begins)


def test_words_of_sql_that_the_grammar_does_not_need_are_names():
    tree = parsed(
        "SELECT SUM(date) FROM table1 AS left_ WHERE year = 5 AND \"select\" = 'it''s' AND format "
        "<> 1.5e2"
    )
    assert {column.name for column in tree.find_all(exp.Column)} == {
        "date",
        "year",
        "select",
        "format",
    }
    assert {one.name for one in tree.find_all(exp.Literal)} == {"5", "it's", "1.5e2"}


def test_a_literal_may_stand_in_front():
    node = parsed("SELECT COUNT(*) FROM users WHERE 5 < age").args["where"].this
    assert type(node) is exp.LT
    assert (node.this.name, node.expression.name) == ("5", "age")


def test_chains_as_long_as_they_may_be_are_read():
    parsed(f"SELECT COUNT(*) FROM users WHERE age = 5{' OR age = 5' * (MOST_COMPARISONS - 1)}")
    parsed(f"SELECT SUM(age{' + age' * (MOST_TERMS - 1)}) FROM users;")
    parsed(f"SELECT COUNT(*) FROM users WHERE {'(' * DEEPEST}age = 5{')' * DEEPEST}")


SOUP = [
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP BY",
        "ORDER BY",
        "LIMIT",
        "WITH",
        "JOIN",
        "ON",
        "USING",
        "AS",
        "AND",
        "OR",
        "NOT",
    ),
    *(
        "BETWEEN",
        "IN",
        "EXPLAIN",
        "HAVING",
        "CASE",
        "IS NULL",
        "LIKE",
        "COUNT(*)",
        "SUM(",
        "AVG(",
        "FREQ(*)",
        "MIN(",
    ),
    *(
        "users",
        "txn",
        "u",
        "uid",
        "age",
        "income",
        "state",
        "os",
        "amount",
        "'NY'",
        "'",
        '"',
        "5",
        "1e999",
        "1e",
        "-",
        "+",
    ),
    *(
        "(",
        ")",
        "[",
        "]",
        "*",
        "/",
        ",",
        ".",
        ";",
        "=",
        "<",
        ">=",
        "<>",
        "::",
        "--",
        "/*",
        "*/",
        "{{",
        "{%",
        "?",
        "@x",
        "\\",
    ),
]


def refusal(text):
    """The refusal of a text, if there is one; nothing else may come out."""
    try:
        parsed(text)
    except QueryError as refused:
        return refused
    return None


@settings(max_examples=300)
@given(st.lists(st.sampled_from(SOUP), max_size=25).map(" ".join) | st.text(max_size=40))
def test_no_soup_of_words_raises_anything_else(text):
    found = refusal(text)
    assert found is None or (found.line >= 1 and found.column >= 1 and len(str(found)) < 200)

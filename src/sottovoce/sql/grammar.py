"""The grammar of queries: text becomes a tree of sqlglot nodes, each of which knows where it
begins.

A strict recursive descent over sqlglot's tokens: what the grammar does not know is refused at its
position, by the rule that the word breaks.  Why sqlglot's own parser is not enough, and which of
its internal names are used here: docs/decisions/0021-grammar-of-sql.md.
"""

from collections.abc import Callable
from typing import ClassVar, NoReturn, TypeVar

from sqlglot import exp, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.parsers.base import BaseParser
from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

from sottovoce.sql.aggregates.base import aggregates
from sottovoce.sql.errors import Refusal, located

LONGEST = 10_000  # characters
DEEPEST = 40  # parentheses and signs within each other
MOST_TERMS = 64  # of a sum, and factors of a product
MOST_COMPARISONS = 256

Node = TypeVar("Node", bound=exp.Expr)

_GRAMMAR = (
    *(
        "SELECT",
        "FROM",
        "JOIN",
        "INNER",
        "ON",
        "USING",
        "WHERE",
        "GROUP BY",
        "ORDER BY",
        "LIMIT",
        "WITH",
        "AS",
    ),
    *(
        "AND",
        "OR",
        "NOT",
        "BETWEEN",
        "IN",
        "ASC",
        "DESC",
        "<=",
        ">=",
        "<>",
        "!=",
        "::",
        "||",
        "DIV",
    ),
)
_REFUSED = {
    "outer-join": ("LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI"),
    "cross-join": ("CROSS", "NATURAL", "LATERAL"),
    "union": ("UNION", "INTERSECT", "EXCEPT"),
    "like": ("LIKE", "ILIKE", "RLIKE", "GLOB", "SIMILAR TO"),
    "null": ("IS", "NULL", "ISNULL", "NOTNULL"),
    "boolean": ("TRUE", "FALSE"),
    "offset": ("OFFSET", "FETCH"),
    "window": ("OVER", "WINDOW", "QUALIFY"),
    "subquery": ("EXISTS",),
    "having": ("HAVING",),
    "distinct": ("DISTINCT",),
    "case": ("CASE",),
    "cast": ("::",),
    "filter": ("FILTER",),
}
_WORDS = tokens.Tokenizer.KEYWORDS
_KEPT = (*_GRAMMAR, *(word for words in _REFUSED.values() for word in words))
_RULES = {_WORDS[word]: rule for rule, words in _REFUSED.items() for word in words}
_FUNCTIONS = {
    **dict.fromkeys(("CAST", "TRY_CAST", "SAFE_CAST", "CONVERT"), "cast"),
    **dict.fromkeys(
        ("MIN", "MAX", "MEDIAN", "QUANTILE", "PERCENTILE_CONT", "PERCENTILE_DISC"),
        "order-statistic",
    ),
}
_COMPARISONS: dict[T, type[exp.Binary]] = {
    T.EQ: exp.EQ,
    T.NEQ: exp.NEQ,
    T.LT: exp.LT,
    T.LTE: exp.LTE,
    T.GT: exp.GT,
    T.GTE: exp.GTE,
}
_MIRRORED: dict[type[exp.Binary], type[exp.Binary]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
_DIVISIONS = (T.SLASH, T.DIV, T.MOD)
_ARITHMETIC = (T.PLUS, T.DASH, T.STAR, T.DPIPE, T.CARET, *_DIVISIONS)
_NAMES = (T.VAR, T.IDENTIFIER)
_ENDS = (T.AND, T.OR, T.R_PAREN, T.GROUP_BY, T.ORDER_BY, T.LIMIT, T.WITH)


def parsed(text: str) -> exp.Expr:
    """Return the tree of a query: a Select, or a Describe of one."""
    with located(text):
        if len(text) > LONGEST:
            raise Refusal("too-long", 0)
        tokenized = _tokens(text)
        if not tokenized:
            raise Refusal("empty", 0)
        tree = Sottovoce().parser().parse(tokenized, text)[0]
        assert tree is not None
        return tree


def start(node: exp.Expr) -> int:
    """Return the offset at which a node begins."""
    return int(node.meta["start"])


def _tokens(text: str) -> list[Token]:
    tokenizer = Sottovoce().tokenizer()
    try:
        tokenized = tokenizer.tokenize(text)
    except SqlglotError:
        read_up_to = tokenizer.tokens[-1].end + 1 if tokenizer.tokens else 0
        raise Refusal("syntax", len(text) - len(text[read_up_to:].lstrip())) from None
    if tokenized and tokenized[-1].token_type == T.SEMICOLON:
        tokenized = tokenized[:-1]
    semicolon = next((token for token in tokenized if token.token_type == T.SEMICOLON), None)
    if semicolon:
        raise Refusal("several-statements", semicolon.start)
    return tokenized


class _Grammar(BaseParser):
    """Recursive descent over the tokens; what is not in the grammar is never reached."""

    deep = 0
    comparisons = 0

    def _parse_statement(self) -> exp.Expr:
        first = self._curr
        if self._match(T.DESCRIBE):
            return self._at(first, exp.Describe(this=self._select()))
        return self._select()

    def _select(self) -> exp.Select:
        first = self._curr
        if first.token_type == T.WITH:
            self._refuse("cte")
        if not self._match(T.SELECT):
            self._refuse("subquery" if first.token_type == T.L_PAREN else "not-select")
        select = self._at(first, exp.Select(expressions=self._several(self._item)))
        self._expect(T.FROM)
        select.set("from_", exp.From(this=self._table()))
        select.set("joins", self._joined())
        self._clauses(select)
        if self._curr:
            self._unexpected()
        return select

    def _clauses(self, select: exp.Select) -> None:
        if self._match(T.WHERE):
            select.set("where", exp.Where(this=self._either()))
        if self._match(T.GROUP_BY):
            select.set("group", exp.Group(expressions=self._several(self._grouped)))
        if self._match(T.ORDER_BY):
            select.set("order", exp.Order(expressions=[self._ordered()]))
        if self._match(T.LIMIT):
            select.set("limit", exp.Limit(expression=self._limit()))
        if self._match(T.WITH):
            self._expect(T.L_PAREN)
            select.set("options", self._several(self._option))
            self._expect(T.R_PAREN)

    def _item(self) -> exp.Expr:
        first = self._curr
        if self._is_call():
            node: exp.Expr = self._aggregate()
        elif first.token_type in _NAMES:
            node = self._column()
        else:
            rules = {
                T.STAR: "select-star",
                T.NUMBER: "select-expression",
                T.STRING: "select-expression",
            }
            self._unexpected({**rules, T.DASH: "select-expression", T.L_PAREN: "select-expression"})
        if self._match_set(_ARITHMETIC, advance=False):
            self._refuse("select-expression")
        if not self._match(T.ALIAS):
            return node
        if isinstance(node, exp.Column):
            self._refuse("column-alias", self._prev)
        return self._at(first, exp.Alias(this=node, alias=self._name()))

    def _aggregate(self) -> exp.Anonymous:
        first = self._curr
        name = first.text.upper()
        if name not in aggregates() or first.token_type != T.VAR:
            self._refuse(_FUNCTIONS.get(name, "function"))
        self._advance(2)
        argument = self._star() if aggregates()[name].argument == "star" else self._sum()
        self._expect(T.R_PAREN)
        return self._at(first, exp.Anonymous(this=name, expressions=[argument]))

    def _star(self) -> exp.Star:
        first = self._curr
        if not self._match(T.STAR):
            self._refuse("distinct" if first.token_type == T.DISTINCT else "count-column", first)
        return self._at(first, exp.Star())

    def _sum(self) -> exp.Expr:
        first = self._curr
        node = self._product()
        terms = 1
        while self._match_set((T.PLUS, T.DASH)):
            kind = exp.Add if self._prev.token_type == T.PLUS else exp.Sub
            node = self._at(first, kind(this=node, expression=self._product()))
            terms += 1
            if terms > MOST_TERMS:
                self._refuse("too-long", first)
        return node

    def _product(self) -> exp.Expr:
        first = self._curr
        node = self._factor()
        factors = 1
        while self._match(T.STAR):
            node = self._at(first, exp.Mul(this=node, expression=self._factor()))
            factors += 1
            if factors > MOST_TERMS:
                self._refuse("too-long", first)
        if self._match_set(_DIVISIONS, advance=False):
            self._refuse("division")
        return node

    def _factor(self) -> exp.Expr:
        first = self._curr
        if self._match(T.DASH):
            return self._at(first, exp.Neg(this=self._nested(self._factor)))
        if self._match(T.L_PAREN):
            return self._inside(self._sum)
        if self._match(T.NUMBER):
            return self._at(first, exp.Literal.number(first.text))
        return self._column()

    def _column(self) -> exp.Column:
        first = self._curr
        if self._is_call():
            self._refuse(_FUNCTIONS.get(first.text.upper(), "function"))
        if not self._next or self._next.token_type != T.DOT:
            return self._at(first, exp.Column(this=self._name()))
        table = self._name()
        self._advance()
        if self._match(T.STAR, advance=False):
            self._refuse("select-star", first)
        return self._at(first, exp.Column(this=self._name(), table=table))

    def _table(self) -> exp.Table:
        first = self._curr
        if first.token_type == T.L_PAREN:
            self._refuse("subquery")
        if self._is_call():
            self._refuse("function")
        table = self._at(first, exp.Table(this=self._name()))
        if self._match(T.ALIAS) or self._match_set(_NAMES, advance=False):
            table.set("alias", exp.TableAlias(this=self._name()))
        return table

    def _joined(self) -> list[exp.Join]:
        joins = []
        while self._match_set((T.JOIN, T.INNER)):
            first = self._prev
            if first.token_type == T.INNER:
                self._expect(T.JOIN)
            joins.append(self._at(first, exp.Join(this=self._table(), **self._key(first))))
        if self._match(T.COMMA, advance=False):
            self._refuse("comma-join")
        return joins

    def _key(self, join: Token) -> dict[str, object]:
        if self._match(T.USING):
            self._expect(T.L_PAREN)
            names = self._several(self._name)
            self._expect(T.R_PAREN)
            return {"using": names}
        if not self._match(T.ON):
            self._refuse("join-without-key", join)
        first = self._curr
        sides = []
        for wanted in (T.EQ, None):
            if self._curr.token_type not in _NAMES or self._is_call():
                self._refuse("join-key")
            sides.append(self._column())
            if wanted and not self._match(wanted):
                self._refuse("join-key")
        if self._match_set((T.AND, T.OR, *_COMPARISONS, *_ARITHMETIC), advance=False):
            self._refuse("join-key")
        return {"on": self._at(first, exp.EQ(this=sides[0], expression=sides[1]))}

    def _either(self) -> exp.Expr:
        return self._connected(T.OR, exp.Or, self._both)

    def _both(self) -> exp.Expr:
        return self._connected(T.AND, exp.And, self._negated)

    def _connected(
        self, word: T, kind: type[exp.Connector], part: Callable[[], exp.Expr]
    ) -> exp.Expr:
        first = self._curr
        node = part()
        while self._match(word):
            node = self._at(first, kind(this=node, expression=part()))
        return node

    def _negated(self) -> exp.Expr:
        first = self._curr
        if self._match(T.NOT):
            return self._at(first, exp.Not(this=self._nested(self._negated)))
        if self._match(T.L_PAREN):
            return self._inside(self._either)
        return self._comparison()

    def _comparison(self) -> exp.Expr:
        self.comparisons += 1
        if self.comparisons > MOST_COMPARISONS:
            self._refuse("too-long")
        first = self._curr
        left = self._operand()
        if self._match_set(_COMPARISONS):
            node = self._compared(_COMPARISONS[self._prev.token_type], left)
        else:
            negative = self._match(T.NOT)
            node = self._ranged(left, negative=negative)
            node = self._at(first, exp.Not(this=node)) if negative else node
        if self._match_set(_COMPARISONS, advance=False):
            self._refuse("chained-comparison")
        return self._at(first, node)

    def _compared(self, kind: type[exp.Binary], left: exp.Expr) -> exp.Expr:
        right = self._operand()
        if isinstance(left, exp.Column) == isinstance(right, exp.Column):
            rule = "column-comparison" if isinstance(left, exp.Column) else "literal-comparison"
            raise Refusal(rule, start(left))
        if isinstance(left, exp.Column):
            return kind(this=left, expression=right)
        return _MIRRORED.get(kind, kind)(this=right, expression=left)

    def _ranged(self, left: exp.Expr, *, negative: bool) -> exp.Expr:
        if not isinstance(left, exp.Column):
            raise Refusal("literal-comparison", start(left))
        begin = self._curr
        if self._match(T.BETWEEN):
            low = self._literal()
            self._expect(T.AND)
            return self._at(begin, exp.Between(this=left, low=low, high=self._literal()))
        if not self._match(T.IN):
            if not negative and (not begin or begin.token_type in _ENDS):
                raise Refusal("bare-column", start(left))
            self._unexpected()
        if self._match(T.L_BRACKET):
            low = self._literal()
            self._expect(T.COMMA)
            node: exp.Expr = exp.Between(this=left, low=low, high=self._literal())
            self._expect(T.R_BRACKET)
            return self._at(begin, node)
        self._expect(T.L_PAREN)
        node = exp.In(this=left, expressions=self._several(self._literal))
        self._expect(T.R_PAREN)
        return self._at(begin, node)

    def _literal(self) -> exp.Expr:
        node = self._operand()
        if isinstance(node, exp.Column):
            raise Refusal("column-comparison", start(node))
        return node

    def _operand(self) -> exp.Expr:
        first = self._curr
        if self._is_call() and first.text.upper() in aggregates():
            self._refuse("aggregate-condition")
        if self._match(T.STRING):
            node: exp.Expr = exp.Literal.string(first.text)
        elif self._match_set((T.DASH, T.PLUS)):
            if not self._match(T.NUMBER):
                self._refuse("condition-arithmetic", first)
            node = exp.Literal.number(self._prev.text)
            node = exp.Neg(this=self._at(first, node)) if first.token_type == T.DASH else node
        elif self._match(T.NUMBER):
            node = exp.Literal.number(first.text)
        else:
            node = self._column()
        if self._match_set(_ARITHMETIC, advance=False):
            self._refuse("condition-arithmetic")
        return self._at(first, node)

    def _grouped(self) -> exp.Column:
        if self._curr.token_type not in _NAMES or self._is_call():
            rules = dict.fromkeys(
                (T.NUMBER, T.STRING, T.L_PAREN, T.DASH, T.VAR), "group-expression"
            )
            self._unexpected(rules)
        node = self._column()
        if self._match_set((*_ARITHMETIC, *_COMPARISONS), advance=False):
            self._refuse("group-expression")
        return node

    def _ordered(self) -> exp.Ordered:
        first = self._curr
        if first.token_type not in _NAMES:
            self._unexpected(dict.fromkeys((T.NUMBER, T.STRING, T.L_PAREN, T.DASH), "order-item"))
        node = self._aggregate() if self._is_call() else self._column()
        descending = not self._match(T.ASC) and self._match(T.DESC)
        if self._match(T.COMMA, advance=False):
            self._refuse("order-several")
        if self._match_set(_ARITHMETIC, advance=False):
            self._refuse("order-item")
        return self._at(first, exp.Ordered(this=node, desc=descending))

    def _limit(self) -> exp.Expr:
        first = self._curr
        if not self._match(T.NUMBER) or not first.text.isdigit() or len(first.text) > 18:
            self._refuse("limit", first)
        if self._match(T.COMMA, advance=False):
            self._refuse("offset")
        return self._at(first, exp.Literal.number(first.text))

    def _option(self) -> exp.QueryOption:
        first = self._curr
        name = self._name()
        self._expect(T.EQ)
        value = self._curr
        if not self._match_set((T.NUMBER, T.VAR, T.STRING)):
            self._refuse("option-value")
        node = (
            exp.Literal.number(value.text)
            if value.token_type == T.NUMBER
            else exp.Literal.string(value.text)
        )
        return self._at(first, exp.QueryOption(this=name, expression=self._at(value, node)))

    def _name(self) -> exp.Identifier:
        first = self._curr
        if not self._match_set(_NAMES):
            self._unexpected()
        return self._at(
            first, exp.Identifier(this=first.text, quoted=first.token_type == T.IDENTIFIER)
        )

    def _several(self, part: Callable[[], Node]) -> list[Node]:
        parts = [part()]
        while self._match(T.COMMA):
            parts.append(part())
        return parts

    def _inside(self, part: Callable[[], Node]) -> Node:
        node = self._nested(part)
        self._expect(T.R_PAREN)
        return node

    def _nested(self, part: Callable[[], Node]) -> Node:
        if self.deep >= DEEPEST:
            self._refuse("nesting", self._prev)
        self.deep += 1
        node = part()
        self.deep -= 1
        return node

    def _at(self, first: Token, node: Node) -> Node:
        return node.update_positions(first)

    def _is_call(self) -> bool:
        return (
            self._curr.token_type in _NAMES
            and bool(self._next)
            and self._next.token_type == T.L_PAREN
        )

    def _expect(self, kind: T) -> None:
        if not self._match(kind):
            self._unexpected()

    def _unexpected(self, rules: dict[T, str] | None = None) -> NoReturn:
        """Refuse the current token: by the rule that its word breaks, or as out of place."""
        known = {**_RULES, **(rules or {}), T.SELECT: "subquery", T.SEMICOLON: "several-statements"}
        kind = self._curr.token_type if self._curr else None
        if kind == T.L_PAREN and self._next and self._next.token_type in (T.SELECT, T.WITH):
            kind = T.SELECT
        if self._is_call():
            self._refuse(
                _FUNCTIONS.get(self._curr.text.upper(), (rules or {}).get(T.VAR, "function"))
            )
        self._refuse(known.get(kind, "syntax") if kind else "syntax")

    def _refuse(self, rule: str, token: Token | None = None) -> NoReturn:
        where = token or self._curr
        raise Refusal(rule, where.start if where else self._prev.end + 1)


class Sottovoce(Dialect):
    """Queries over privately collected tables."""

    parser_class = _Grammar

    class Tokenizer(tokens.Tokenizer):
        """Only words of the grammar, and words with a rule of their own, cannot be names."""

        COMMANDS: ClassVar[set[T]] = set()
        SINGLE_TOKENS: ClassVar[dict[str, T]] = {
            **tokens.Tokenizer.SINGLE_TOKENS,
            "!": T.EXCLAMATION,
        }
        KEYWORDS: ClassVar[dict[str, T]] = {
            **{word: _WORDS[word] for word in _KEPT},
            "EXPLAIN": T.DESCRIBE,
        }

"""The grammar of queries: text becomes a tree of sqlglot nodes, each of which knows where it
begins.

A strict recursive descent over sqlglot's tokens: what the grammar does not know is refused at its
position, by the rule that the word breaks.  Why sqlglot's own parser is not enough, and which of
its internal names are used here: docs/decisions/0021-grammar-of-sql.md.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, ClassVar, NoReturn, TypeAlias, TypeVar

from sqlglot import exp, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.parsers.base import BaseParser
from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

from sottovoce.sql.errors import Refusal, located

LONGEST = 10_000  # characters
DEEPEST = 40  # parentheses and signs within each other
MOST_TERMS = 64  # of a sum, and factors of a product
MOST_COMPARISONS = 256

Node = TypeVar("Node", bound=exp.Expr)
Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]

_GRAMMAR = (
    "SELECT",
    "FROM",
    "JOIN",
    "INNER",
    "LEFT",
    "OUTER",
    "EXISTS",
    "ON",
    "USING",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "LIMIT",
    "OFFSET",
    "WITH",
    "AS",
    "AND",
    "OR",
    "NOT",
    "BETWEEN",
    "IN",
    "LIKE",
    "ILIKE",
    "IS",
    "NULL",
    "TRUE",
    "FALSE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "FILTER",
    "DISTINCT",
    "ASC",
    "DESC",
    "<=",
    ">=",
    "<>",
    "!=",
    "::",
    "||",
    "DIV",
)
_REFUSED = {
    "outer-join": ("RIGHT", "FULL", "SEMI", "ANTI"),
    "cross-join": ("CROSS", "NATURAL", "LATERAL"),
    "union": ("UNION", "INTERSECT", "EXCEPT"),
    "like": ("RLIKE", "GLOB", "SIMILAR TO"),
    "null": ("ISNULL", "NOTNULL"),
    "offset": ("FETCH",),
    "window": ("OVER", "WINDOW", "QUALIFY"),
    "distinct": ("DISTINCT",),
    "cast": ("::",),
}
_WORDS = tokens.Tokenizer.KEYWORDS
_KEPT = dict.fromkeys((*_GRAMMAR, *(word for words in _REFUSED.values() for word in words)))
_RULES = {_WORDS[word]: rule for rule, words in _REFUSED.items() for word in words}
_FUNCTIONS = {
    **dict.fromkeys(("TRY_CAST", "SAFE_CAST", "CONVERT"), "cast"),
}
_COMPARISONS: dict[T, type[exp.Binary]] = {
    T.EQ: exp.EQ,
    T.NEQ: exp.NEQ,
    T.LT: exp.LT,
    T.LTE: exp.LTE,
    T.GT: exp.GT,
    T.GTE: exp.GTE,
}
_TERMS: dict[T, type[exp.Binary]] = {T.PLUS: exp.Add, T.DASH: exp.Sub}
_FACTORS: dict[T, type[exp.Binary]] = {
    T.STAR: exp.Mul,
    T.SLASH: exp.Div,
    T.DIV: exp.IntDiv,
    T.MOD: exp.Mod,
}
_NAMES = (T.VAR, T.IDENTIFIER)
_TYPES = ("DATE", "TIMESTAMP")
_DATED = (*_TYPES, "INTERVAL")
_AFTER_DATED = (T.STRING, T.NUMBER, T.PLACEHOLDER, T.COLON)
_NOW = ("CURRENT_DATE", "CURRENT_TIMESTAMP", "NOW", "TODAY", "GETDATE")


def parsed(text: str, parameters: Parameters = ()) -> exp.Expr:
    """Return the tree of a query: a Select, a Describe of one, or a Show of tables.

    ``parameters`` are the values of ``?`` in order, or of ``:name`` by name.
    """
    with located(text):
        if len(text) > LONGEST:
            raise Refusal("too-long", 0)
        tokenized = _tokens(text)
        if not tokenized:
            raise Refusal("empty", 0)
        parser = Sottovoce().parser()
        parser.parameters = parameters  # type: ignore[attr-defined]
        trees = parser.parse(tokenized, text)
        if not trees or trees[0] is None:  # sqlglot skips an ELSE at the beginning
            raise Refusal("not-select", tokenized[0].start)
        return trees[0]


def start(node: exp.Expr) -> int:
    """Return the offset at which a node begins."""
    return int(node.meta["start"])


def _date_text(value: date) -> str:
    """Return a date or a datetime as queries write it."""
    return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()


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

    parameters: Parameters = ()
    placeholders = 0
    deep = 0
    inner = 0
    comparisons = 0

    def _parse_statement(self) -> exp.Expr:
        first = self._curr
        if self._match_text("SHOW"):
            if not self._match_text("TABLES") or self._curr:
                self._refuse("not-select", first)
            return self._at(first, exp.Show(this="*"))
        if self._match(T.DESCRIBE):
            return self._at(first, exp.Describe(this=self._select()))
        if self._match_text("DESCRIBE"):
            name = self._name().name
            if self._curr:
                self._unexpected()
            return self._at(first, exp.Show(this=name))
        return self._select()

    def _select(self) -> exp.Select:
        named = self._named_queries() if self._match(T.WITH) else []
        select = self._one_select()
        select.set("ctes", named)
        if self._curr:
            self._unexpected()
        return select

    def _named_queries(self) -> list[exp.CTE]:
        """Return the queries of WITH name AS (SELECT ...)."""
        return self._several(self._named_query)

    def _named_query(self) -> exp.CTE:
        first = self._curr
        name = self._name()
        self._expect(T.ALIAS)
        self._expect(T.L_PAREN)
        query = self._inside(self._inner_select)
        return self._at(first, exp.CTE(this=query, alias=exp.TableAlias(this=name)))

    def _inner_select(self) -> exp.Select:
        self.inner += 1
        select = self._one_select()
        self.inner -= 1
        return select

    def _one_select(self) -> exp.Select:
        first = self._curr
        if not self._match(T.SELECT):
            self._refuse("subquery" if first.token_type == T.L_PAREN else "not-select")
        if self._match(T.DISTINCT) and not self.inner:
            self._refuse("distinct", self._prev)
        select = self._at(first, exp.Select(expressions=self._several(self._item)))
        self._expect(T.FROM)
        select.set("from_", exp.From(this=self._table()))
        select.set("joins", self._joined())
        self._clauses(select)
        return select

    def _clauses(self, select: exp.Select) -> None:
        if self._match(T.WHERE):
            select.set("where", exp.Where(this=self._expression()))
        if self._match(T.GROUP_BY):
            select.set("group", exp.Group(expressions=self._several(self._expression)))
        if self._match(T.HAVING):
            select.set("having", exp.Having(this=self._expression()))
        if self._match(T.ORDER_BY):
            select.set("order", exp.Order(expressions=self._several(self._ordered)))
        if self._match(T.LIMIT):
            select.set("limit", exp.Limit(expression=self._whole_number()))
        if self._match(T.OFFSET):
            select.set("offset", exp.Offset(expression=self._whole_number()))
        if self._match(T.WITH):
            self._expect(T.L_PAREN)
            select.set("options", self._several(self._option))
            self._expect(T.R_PAREN)

    def _item(self) -> exp.Expr:
        first = self._curr
        if first.token_type == T.STAR and not self.inner:
            self._refuse("select-star")
        if self._match(T.STAR):
            return self._at(first, exp.Star())
        node = self._expression()
        if self._match(T.ALIAS) or (self._curr and self._curr.token_type in _NAMES):
            return self._at(first, exp.Alias(this=node, alias=self._name()))
        return node

    def _expression(self) -> exp.Expr:
        """Return any expression: its type is found out when it is read.

        From loosest to tightest: OR, AND, NOT, comparisons, sums, products, signs.
        """
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
        return self._comparison()

    def _comparison(self) -> exp.Expr:
        first = self._curr
        left = self._sum()
        node = self._compared(first, left)
        if node is left:
            return left
        self.comparisons += 1
        if self.comparisons > MOST_COMPARISONS:
            self._refuse("too-long", first)
        if self._match_set(_COMPARISONS, advance=False):
            self._refuse("chained-comparison")
        return self._at(first, node)

    def _compared(self, first: Token, left: exp.Expr) -> exp.Expr:
        """Return the comparison that begins with an operand, or the operand if there is none."""
        if self._match_set(_COMPARISONS):
            kind = _COMPARISONS[self._prev.token_type]
            return kind(this=left, expression=self._sum())
        if self._match(T.IS):
            return self._compared_with_null(first, left)
        negative = self._match(T.NOT)
        node = self._ranged(first, left)
        if node is None and negative:
            self._unexpected()
        if node is None:
            return left
        return self._at(first, exp.Not(this=node)) if negative else node

    def _compared_with_null(self, first: Token, left: exp.Expr) -> exp.Expr:
        negative = self._match(T.NOT)
        if not self._match(T.NULL):
            self._refuse("null")
        node = self._at(first, exp.Is(this=left, expression=exp.Null()))
        return exp.Not(this=node) if negative else node

    def _ranged(self, first: Token, left: exp.Expr) -> exp.Expr | None:
        """Return BETWEEN, IN or LIKE of an operand; None if none of them follows."""
        if self._match(T.BETWEEN):
            symmetric = self._match_text("SYMMETRIC")
            low = self._sum()
            self._expect(T.AND)
            return self._at(
                first, exp.Between(this=left, low=low, high=self._sum(), symmetric=symmetric)
            )
        if self._match(T.IN):
            return self._at(first, self._listed(left))
        if self._match_set((T.LIKE, T.ILIKE)):
            kind = exp.Like if self._prev.token_type == T.LIKE else exp.ILike
            return self._at(first, kind(this=left, expression=self._sum()))
        return None

    def _listed(self, left: exp.Expr) -> exp.Expr:
        """Return IN: a list in parentheses, or a range in brackets."""
        if self._match(T.L_BRACKET):
            low = self._sum()
            self._expect(T.COMMA)
            between = exp.Between(this=left, low=low, high=self._sum())
            self._expect(T.R_BRACKET)
            return between
        self._expect(T.L_PAREN)
        if self._match(T.SELECT, advance=False):
            return exp.In(this=left, query=self._inside(self._inner_select))
        node = exp.In(this=left, expressions=self._several(self._sum))
        self._expect(T.R_PAREN)
        return node

    def _sum(self) -> exp.Expr:
        return self._chain(_TERMS, self._product)

    def _product(self) -> exp.Expr:
        return self._chain(_FACTORS, self._factor)

    def _chain(self, kinds: dict[T, type[exp.Binary]], part: Callable[[], exp.Expr]) -> exp.Expr:
        first = self._curr
        node = part()
        length = 1
        while self._match_set(kinds):
            kind = kinds[self._prev.token_type]
            node = self._at(first, kind(this=node, expression=part()))
            length += 1
            if length > MOST_TERMS:
                self._refuse("too-long", first)
        return node

    def _factor(self) -> exp.Expr:
        first = self._curr
        if self._match(T.DASH):
            return self._at(first, exp.Neg(this=self._nested(self._factor)))
        if self._match(T.PLUS):
            return self._nested(self._factor)
        if self._match(T.L_PAREN):
            if self._match_set((T.SELECT, T.WITH), advance=False):
                self._refuse("subquery")
            return self._inside(self._expression)
        if self._match(T.EXISTS):
            self._expect(T.L_PAREN)
            return self._at(first, exp.Exists(this=self._inside(self._inner_select)))
        if self._match(T.CASE):
            return self._at(first, self._nested(self._case))
        if self._is_call():
            return self._cast(first, self._call())
        if self._is_word(_DATED) and self._next and self._next.token_type in _AFTER_DATED:
            return self._dated()
        if self._is_word(_NOW):
            self._refuse("now")
        return self._cast(first, self._constant() or self._column())

    def _is_word(self, words: Sequence[str]) -> bool:
        """Return whether one of some words stands here that are no keywords."""
        return bool(self._curr) and (
            self._curr.token_type == T.VAR and self._curr.text.upper() in words
        )

    def _dated(self) -> exp.Expr:
        """Return DATE '...', TIMESTAMP '...' or INTERVAL '7 days', INTERVAL 7 DAY."""
        first = self._curr
        name = first.text.upper()
        self._advance()
        value = self._constant()
        assert value is not None
        if name != "INTERVAL":
            return self._at(first, exp.Anonymous(this=name, expressions=[value]))
        if self._curr and self._curr.token_type == T.VAR:
            unit = self._at(self._curr, exp.Literal.string(self._curr.text))
            self._advance()
            if value.is_string:
                value = self._at(first, exp.Literal.number(value.name))
            arguments = [value, unit]
        else:
            arguments = [exp.Null(), value]
        return self._at(first, exp.Anonymous(this=name, expressions=arguments))

    def _cast(self, first: Token, node: exp.Expr) -> exp.Expr:
        """Return a node, or the date that ``::DATE`` after it makes of it."""
        while self._curr and self._curr.token_type == T.DCOLON:
            cast = self._curr
            self._advance()
            node = self._typed(first, node, cast)
        return node

    def _typed(self, first: Token, node: exp.Expr, cast: Token) -> exp.Expr:
        """Return a node as a DATE or a TIMESTAMP, whichever word stands here."""
        if not self._is_word(_TYPES):
            self._refuse("cast", cast)
        name = self._curr.text.upper()
        self._advance()
        return self._at(first, exp.Anonymous(this=name, expressions=[node]))

    def _constant(self) -> exp.Expr | None:
        """Return a literal, TRUE, FALSE or NULL; None if something else stands here."""
        first = self._curr
        if self._match(T.NUMBER):
            return self._at(first, exp.Literal.number(first.text))
        if self._match(T.STRING):
            return self._at(first, exp.Literal.string(first.text))
        if self._match_set((T.TRUE, T.FALSE)):
            return self._at(first, exp.Boolean(this=first.token_type == T.TRUE))
        if self._match(T.NULL):
            return self._at(first, exp.Null())
        if self._match_set((T.PLACEHOLDER, T.COLON)):
            return self._at(first, self._parameter(first))
        return None

    def _parameter(self, first: Token) -> exp.Expr:
        """Return the literal that a parameter stands for."""
        key: int | str = self.placeholders
        if first.token_type == T.COLON:
            key = self._name().name
        else:
            self.placeholders += 1
        try:
            value = self.parameters[key]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            self._refuse("parameter", first)
        if value is None or isinstance(value, bool):
            return exp.Null() if value is None else exp.Boolean(this=value)
        if isinstance(value, (str, date)):
            return exp.Literal.string(value if isinstance(value, str) else _date_text(value))
        if not isinstance(value, (int, float)):
            self._refuse("parameter", first)
        number = self._at(first, exp.Literal.number(repr(abs(value))))
        return exp.Neg(this=number) if value < 0 else number

    def _case(self) -> exp.Case:
        """Return CASE up to END, with conditions or with values of an operand."""
        operand = None if self._match(T.WHEN, advance=False) else self._sum()
        branches = []
        while self._match(T.WHEN):
            first = self._curr
            condition = self._expression()
            if operand is not None:
                condition = self._at(first, exp.EQ(this=operand.copy(), expression=condition))
            self._expect(T.THEN)
            branches.append(self._at(first, exp.If(this=condition, true=self._sum())))
        if not branches:
            self._unexpected()
        default = self._sum() if self._match(T.ELSE) else None
        self._expect(T.END)
        return exp.Case(ifs=branches, default=default)

    def _call(self) -> exp.Expr:
        """Return a function or an aggregate of some arguments, perhaps with FILTER."""
        first = self._curr
        name = first.text.upper()
        if name in ("EXTRACT", "CAST") and first.token_type == T.VAR:
            self._advance(2)
            if name == "EXTRACT":
                return self._nested(self._extract)
            return self._nested(lambda: self._cast_call(first))
        if first.token_type != T.VAR or name in _FUNCTIONS:
            self._refuse(_FUNCTIONS.get(name, "function"))
        self._advance(2)
        if name in _NOW:
            self._refuse("now", first)
        arguments = self._several(lambda: self._nested(self._argument))
        self._expect(T.R_PAREN)
        if self._match_text("WITHIN"):
            arguments = self._within_group(arguments)
        call = self._at(first, exp.Anonymous(this=name, expressions=arguments))
        if not self._match(T.FILTER):
            return call
        self._expect(T.L_PAREN)
        self._expect(T.WHERE)
        condition = exp.Where(this=self._nested(self._expression))
        self._expect(T.R_PAREN)
        return self._at(first, exp.Filter(this=call, expression=condition))

    def _extract(self) -> exp.Expr:
        """Return EXTRACT(part FROM date) after its opening parenthesis."""
        word = self._curr
        if not self._match_set((T.VAR, T.STRING)):
            self._unexpected()
        part = self._at(word, exp.Literal.string(word.text.lower()))
        self._expect(T.FROM)
        node = self._expression()
        self._expect(T.R_PAREN)
        return self._at(word, exp.Anonymous(this="DATE_PART", expressions=[part, node]))

    def _cast_call(self, first: Token) -> exp.Expr:
        """Return CAST(text AS DATE) after its opening parenthesis."""
        node = self._expression()
        self._expect(T.ALIAS)
        made = self._typed(first, node, first)
        self._expect(T.R_PAREN)
        return made

    def _within_group(self, arguments: list[exp.Expr]) -> list[exp.Expr]:
        """Return the arguments of PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY column)."""
        if not self._match_text("GROUP"):
            self._unexpected()
        self._expect(T.L_PAREN)
        self._expect(T.ORDER_BY)
        first = self._curr
        ordered = self._ordered()
        self._expect(T.R_PAREN)
        if ordered.args["desc"]:
            one = self._at(first, exp.Literal.number("1"))
            arguments = [self._at(first, exp.Sub(this=one, expression=arguments[0]))]
        return [ordered.this, *arguments]

    def _argument(self) -> exp.Expr:
        first = self._curr
        if self._match(T.STAR):
            return self._at(first, exp.Star())
        if self._match(T.DISTINCT):
            return self._at(first, exp.Distinct(expressions=[self._expression()]))
        return self._expression()

    def _column(self) -> exp.Column:
        first = self._curr
        if not self._next or self._next.token_type != T.DOT:
            return self._at(first, exp.Column(this=self._name()))
        table = self._name()
        self._advance()
        if self._match(T.STAR, advance=False):
            self._refuse("select-star", first)
        return self._at(first, exp.Column(this=self._name(), table=table))

    def _table(self) -> exp.Expr:
        first = self._curr
        if self._match(T.L_PAREN):
            query = self._at(first, exp.Subquery(this=self._inside(self._inner_select)))
            if self._match(T.ALIAS) or self._match_set(_NAMES, advance=False):
                query.set("alias", exp.TableAlias(this=self._name()))
            return query
        if self._is_call():
            self._refuse("function")
        table = self._at(first, exp.Table(this=self._name()))
        if self._match(T.ALIAS) or self._match_set(_NAMES, advance=False):
            table.set("alias", exp.TableAlias(this=self._name()))
        return table

    def _joined(self) -> list[exp.Join]:
        joins = []
        while self._match_set((T.JOIN, T.INNER, T.LEFT, T.COMMA)):
            first = self._prev
            if first.token_type == T.COMMA:
                joins.append(self._at(first, exp.Join(this=self._table())))
                continue
            if first.token_type == T.LEFT:
                self._match(T.OUTER)
            if first.token_type != T.JOIN:
                self._expect(T.JOIN)
            side = "LEFT" if first.token_type == T.LEFT else ""
            table = self._table()
            joins.append(self._at(first, exp.Join(this=table, side=side, **self._key(first))))
        return joins

    def _key(self, join: Token) -> dict[str, object]:
        if self._match(T.USING):
            self._expect(T.L_PAREN)
            names = self._several(self._name)
            self._expect(T.R_PAREN)
            return {"using": names}
        if not self._match(T.ON):
            self._refuse("join-without-key", join)
        return {"on": self._expression()}

    def _ordered(self) -> exp.Ordered:
        first = self._curr
        node = self._expression()
        descending = not self._match(T.ASC) and self._match(T.DESC)
        return self._at(first, exp.Ordered(this=node, desc=descending))

    def _whole_number(self) -> exp.Expr:
        """Return the number of LIMIT or OFFSET."""
        first = self._curr
        if not self._match(T.NUMBER) or not first.text.isdigit() or len(first.text) > 18:
            self._refuse("limit", first)
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

    def _match_text(self, word: str) -> bool:
        """Step over a word that is no keyword, if it stands here."""
        found = bool(self._curr) and self._curr.text.upper() == word
        if found:
            self._advance()
        return found

    def _is_call(self) -> bool:
        return (
            self._curr.token_type in _NAMES
            and bool(self._next)
            and self._next.token_type == T.L_PAREN
        )

    def _expect(self, kind: T) -> None:
        if not self._match(kind):
            self._unexpected()

    def _unexpected(self) -> NoReturn:
        """Refuse the current token: by the rule that its word breaks, or as out of place."""
        known = {**_RULES, T.SELECT: "subquery", T.SEMICOLON: "several-statements"}
        kind = self._curr.token_type if self._curr else None
        if kind == T.L_PAREN and self._next and self._next.token_type in (T.SELECT, T.WITH):
            kind = T.SELECT
        if self._is_call():
            self._refuse(_FUNCTIONS.get(self._curr.text.upper(), "function"))
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

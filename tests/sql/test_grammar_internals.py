"""Which internal names of sqlglot the grammar stands on: an upgrade that changes one of them fails
here.

The reason for using them is in docs/decisions/0021-grammar-of-sql.md.
"""

import ast
from inspect import getsource

from sqlglot.dialects.dialect import Dialect
from sqlglot.parsers.base import BaseParser
from sqlglot.tokenizer_core import Token, TokenType

from sottovoce.sql import grammar

CURSOR = {"_curr", "_next", "_prev"}  # the tokens around the position
MOVES = {"_advance", "_match", "_match_set"}  # what moves it
ENTRY = {"_parse_statement"}  # what the parser calls for a statement
MODULES = {"sqlglot.parsers.base", "sqlglot.tokenizer_core"}


def used():
    """The private attributes that the grammar reads of itself without defining them."""
    (parser,) = [
        node
        for node in ast.parse(getsource(grammar)).body
        if getattr(node, "name", "") == "_Grammar"
    ]
    defined = {node.name for node in parser.body if isinstance(node, ast.FunctionDef)}
    attributes = [node for node in ast.walk(parser) if isinstance(node, ast.Attribute)]
    own = {
        node.attr
        for node in attributes
        if isinstance(node.value, ast.Name) and node.value.id == "self"
    }
    return {name for name in own if name.startswith("_")} - defined, defined


def test_the_grammar_uses_these_private_names_of_the_base_parser_and_no_others():
    inherited, defined = used()
    assert inherited == CURSOR | MOVES
    assert {name for name in defined if hasattr(BaseParser, name)} == ENTRY


def test_the_base_parser_has_them():
    parser = BaseParser()
    assert all(callable(getattr(BaseParser, name)) for name in MOVES | ENTRY)
    assert all(hasattr(parser, name) for name in CURSOR)
    assert "parser_class" in vars(Dialect)
    assert {"start", "end", "text", "token_type"} <= set(dir(Token))


def test_the_grammar_imports_these_modules_of_sqlglot_that_are_not_its_public_face():
    imported = {
        node.module
        for node in ast.parse(getsource(grammar)).body
        if isinstance(node, ast.ImportFrom)
    }
    internal = {name for name in imported if name.startswith("sqlglot.")}
    assert internal - {"sqlglot.dialects.dialect", "sqlglot.errors"} == MODULES


def test_every_word_of_the_grammar_is_a_token_of_sqlglot():
    kept = grammar.Sottovoce.Tokenizer.KEYWORDS
    assert all(isinstance(token, TokenType) for token in kept.values())
    assert {"SELECT", "GROUP BY", "EXPLAIN"} <= set(kept)

"""The catalogue of everything that can be refused: it has every code that the software says, and a
page for people.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sottovoce import errors
from sottovoce.collector.operations import OPERATIONS
from sottovoce.collector.store.base import Verdict
from sottovoce.core.too_few_users import TooFewUsersError
from sottovoce.errors import SottovoceError
from sottovoce.web import problems
from sottovoce.web.problem_response import respond
from sottovoce.web.problems import (
    CATALOGUE,
    REPORTS,
    REQUESTS,
    RequestError,
    document,
    page,
    problem_of,
)

ROOT = Path(problems.__file__).parents[3]
SOURCES = sorted(
    path
    for room in ("web", "collector")
    for path in (ROOT / "src" / "sottovoce" / room).glob("*.py")
)
_CODE = re.compile(r"[a-z]+(-[a-z]+)*")


def said(tree):
    """The codes in a module: arguments of RequestError and refuse, and what admission returns or
    enters.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if name == "RequestError":
                yield from strings(node.args[0])
            if name == "refuse":
                yield from strings(node.args[1])


def strings(node):
    """All texts that an expression may be."""
    return {
        one.value
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


def returned(path, *functions):
    """The texts that some functions of a module may return."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    wanted = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name in functions
    ]
    for value in (
        one.value for node in wanted for one in ast.walk(node) if isinstance(one, ast.Return)
    ):
        branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        yield from (branch.value for branch in branches if isinstance(branch, ast.Constant))


def test_every_code_in_the_sources_is_in_the_catalogue():
    codes = {code for path in SOURCES for code in said(ast.parse(path.read_text(encoding="utf-8")))}
    assert {"busy", "malformed", "too-large"} <= codes, "the scan finds codes at all"
    assert codes <= set(CATALOGUE)


def test_every_code_of_admission_and_of_the_store_stands_beside_a_report():
    admission = ROOT / "src" / "sottovoce" / "collector" / "admission.py"
    codes = {code for code in returned(admission, "refusal_of_shape", "refusal_of_ticket") if code}
    assert {"other-task", "not-asked", "token-missing"} <= codes
    verdicts = {verdict.value for verdict in Verdict} - {"accepted", "duplicate"}
    beside = {one.code for one in REPORTS}
    assert codes | verdicts <= beside
    assert all(one.status == 200 for one in REPORTS)


def test_every_code_that_the_document_mentions_is_in_the_catalogue():
    assert {code for one in OPERATIONS for code in one.problems} <= {one.code for one in REQUESTS}


def test_no_row_of_the_catalogue_is_useless():
    """Each is said somewhere: by a store, by the service, or by an error of the library."""
    said_here = {
        code for path in SOURCES for code in strings(ast.parse(path.read_text(encoding="utf-8")))
    }
    verdicts = {verdict.value for verdict in Verdict}
    outside = "\n".join(
        path.read_text(encoding="utf-8") for path in SOURCES if path.name != "problems.py"
    )
    classes = [*error_classes(), TooFewUsersError]
    by_class = {problem_of(kind("why")).code for kind in classes}
    for code in CATALOGUE:
        assert code in said_here
        assert code in verdicts | by_class or f'"{code}"' in outside, code


def error_classes():
    """Every class of errors of the library."""
    listed = [value for value in vars(errors).values() if isinstance(value, type)]
    return [kind for kind in listed if issubclass(kind, SottovoceError)]


def test_every_error_of_the_library_has_a_row_of_its_own_status():
    for kind in error_classes():
        row = problem_of(kind("why"))
        if kind in (
            SottovoceError,
            errors.BudgetError,
        ):  # the second is a device's, and never leaves one
            assert row.code == "internal"
        else:
            assert row.status == kind.status, kind


@pytest.mark.parametrize("problem", [*REPORTS, *REQUESTS], ids=lambda one: one.code)
def test_a_row_says_what_it_means_and_who_does_what(problem):
    assert _CODE.fullmatch(problem.code)
    assert problem.title
    assert problem.remedy
    assert problem.actor in ("client", "caller", "operator", "analyst")
    assert list(CATALOGUE).count(problem.code) == 1


def test_the_detail_is_the_rule_and_stays_away_where_there_is_none():
    made = document(CATALOGUE["invalid"], "a level is a number")
    assert (made["type"], made["detail"]) == ("/errors#invalid", "a level is a number")
    assert "detail" not in document(CATALOGUE["invalid"])
    assert "detail" not in document(CATALOGUE["busy"], str(RequestError("busy")))


def test_the_type_is_an_address_where_a_proxy_serves_the_catalogue():
    assert document(CATALOGUE["busy"], "", "/site")["type"] == "/site/errors#busy"


@pytest.mark.parametrize(
    ("error", "header"),
    [
        (RequestError("busy", retry_after=1.2), "2"),
        (errors.UnavailableError("full"), "1"),
        (errors.UnavailableError("full", retry_after=30), "30"),
        (errors.StateError("early"), None),
    ],
)
def test_who_may_try_again_is_told_when(error, header):
    assert respond(error, "").headers.get("retry-after") == header


def test_an_error_of_ours_never_says_its_message():
    assert b"secret" not in respond(SottovoceError("secret"), "").body


def test_the_page_of_the_documentation_is_the_catalogue():
    assert (ROOT / "docs" / "errors.md").read_text(encoding="utf-8") == page()
    run = [sys.executable, "-m", "sottovoce.web.problems"]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == page()
    assert all(f'<a id="{code}"></a>' in page() for code in CATALOGUE)

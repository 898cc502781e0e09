"""What the house promises of itself: who imports what, who may say privatize, and that no concept
lacks its test.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.mechanisms import __path__ as mechanisms_path
from sottovoce.mechanisms.base import Mechanism

BOOTSTRAPS = (
    "plans/numbers/graded_estimate.py",
    "core/noise.py",
    "core/fake_votes.py",
    "mechanisms/bloom.py",
    "mechanisms/square_wave.py",
    "postprocess/bootstrap.py",
    "plans/marginals/pooled_tables.py",
    "plans/marginals/view_tables.py",
    "plans/marginals/shrunken_components.py",
)
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sottovoce"
MODULES = sorted(SOURCE.rglob("*.py"))
TRACKED = [
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    if name
]


def kinds():
    """Every mechanism kind: modules that define one."""
    names = [path.stem for folder in mechanisms_path for path in Path(folder).glob("[a-z]*.py")]
    return sorted(
        name
        for name in names
        if f'kind="{name}"' in (SOURCE / "mechanisms" / f"{name}.py").read_text()
    )


def test_all_kinds_of_the_literature_are_here():
    expected = {
        "grr",
        "sue",
        "oue",
        "the",
        "blh",
        "olh",
        "affine",
        "affine_prefix",
        "rmp",
        "bloom",
        "hadamard",
        "subset",
        "duchi",
        "piecewise",
        "hybrid",
        "square_wave",
    }
    assert set(kinds()) == expected


@pytest.mark.parametrize("kind", kinds())
def test_a_kind_is_named_after_its_module_and_has_a_test(kind):
    assert Mechanism.kinds[kind].__module__ == f"sottovoce.mechanisms.{kind}"
    assert (ROOT / "tests" / "mechanisms" / f"test_{kind}.py").exists()


def test_a_client_loads_none_of_the_extras():
    """Fetch a task, answer it, resend: NumPy and the standard library are enough."""
    script = """
import sys, sottovoce as sv
from sottovoce.wire import codec
task = sv.Task("pets", sv.Histogram([str(n) for n in range(500)]), epsilon=1.0)
text = codec.canonical(codec.document(task))
loaded = ("sottovoce.plans.frequencies", "sottovoce.engine")
for name in [name for name in sys.modules if name.startswith(loaded)]:
    del sys.modules[name]
client = sv.Client(text, ":memory:")
assert client.answer("7") == client.resend()
heavy = {"numba", "llvmlite", "scipy", "sklearn", "pyarrow", "pandas", "polars", "duckdb"}
heavy |= {"matplotlib", "click", "cryptography", "gmpy2"}
others = ("sottovoce.plans.frequencies", "sottovoce.lab", "sottovoce.kernels")
plans = {name for name in sys.modules if name.startswith(others)}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert not plans, plans
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_only_devices_the_laboratory_and_mechanisms_may_randomise():
    allowed = re.compile(r"(client|lab|mechanisms|tasks)/|arrays\.py")
    callers = [
        path
        for path in MODULES
        if "privatize" in path.read_text() and not allowed.search(path.as_posix())
    ]
    assert not callers


def test_pseudo_randomness_stays_in_the_laboratory():
    """No client, mechanism or noun touches random, secrets or np.random; only rng and ledger ask
    the system.
    """
    for path in MODULES:
        inside = path.relative_to(SOURCE).as_posix()
        text = path.read_text()
        if not inside.startswith(("lab/", *BOOTSTRAPS)):
            assert "np.random" not in text, inside
        names = {
            alias.name
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert not {"random", "secrets"} & names, inside
        if "os.urandom" in text:
            assert inside in ("core/rng.py", "client/ledger.py")


def test_every_module_says_what_it_is():
    for path in MODULES:
        tree = ast.parse(path.read_text())
        assert not tree.body or ast.get_docstring(tree), path


def test_functions_stay_readable():
    """Sixty lines of body at most, docstring apart: a state machine or a table may need them."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert lines <= 60, f"{path.name}:{node.lineno} {node.name} has {lines} lines"


def test_public_names_are_all_real_and_all_in_the_manual():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    manual = "".join(page.read_text() for page in pages)
    for name in sv.__all__:
        assert getattr(sv, name) is not None
        assert f"sv.{name}" in manual, name


def test_public_names_are_listed_before_they_are_used():
    script = "import sottovoce; assert set(sottovoce.__all__) <= set(dir(sottovoce))"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_make_targets_named_in_the_readme_exist():
    makefile, readme = (ROOT / "Makefile").read_text(), (ROOT / "README.md").read_text()
    named = set(re.findall(r"`?make ([a-z-]+)`?", readme))
    assert {"demo", "test"} <= named
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in named), named


def test_links_between_documents_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"


def test_sources_are_listed_among_the_references():
    listed = (ROOT / "docs" / "references.md").read_text()
    for path in MODULES:
        for source in re.findall(r"^Source: (.+)$", path.read_text(), re.MULTILINE):
            for work in re.split(r"; ", source.rstrip(".")):
                name = re.split(r",? (?:sections?|equations?|chapters?)\b| \(", work)[0].strip()
                assert name in listed, f"{path.name}: {name}"


@pytest.mark.skipif(not TRACKED, reason="not a git checkout: nothing to read")
def test_nothing_private_to_a_workplace_is_committed():
    """No machine paths, no hosts of package registries, no marks of unfinished work."""
    forbidden = re.compile("/wo" + r"rk/|/ro" + r"ot/|pypi\.|TO" + r"DO|FIX" + "ME|XX" + "X")
    for path in TRACKED:
        if path.suffix in (".py", ".md", ".toml", ".json", ".lock", "") and path.is_file():
            found = forbidden.search(path.read_text(errors="ignore"))
            assert not found, f"{path}: {found.group()}"

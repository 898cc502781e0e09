"""The documentation site: its navigation and its pages agree, and what it is made of is up to date.

The site itself is built by `make docs`, strictly; these checks need no MkDocs.
"""

import ast
import importlib.util
import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
GUIDES = sorted((DOCS / "guides").glob("*.md"))
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
LISTED_BY_THEMSELVES = ("evidence", "decisions")  # by scripts/site_hooks.py
MADE_WITH_THE_SITE = {
    "api.md",
    "changelog.md",
    *(f"notebooks/{path.stem}.md" for path in NOTEBOOKS),
}


def script(name):
    """Return a script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_navigation(entries):
    """Yield the pages of a navigation, whatever its depth."""
    for entry in entries:
        for target in entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from in_navigation(target)


def test_every_page_is_in_the_navigation_and_every_entry_is_there():
    named = list(in_navigation(CONFIG["nav"]))
    assert len(set(named)) == len(named)
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    own = {page for page in pages if page.split("/")[0] not in LISTED_BY_THEMSELVES}
    assert set(named) == own | MADE_WITH_THE_SITE


def test_pages_of_the_folders_have_titles():
    for folder in LISTED_BY_THEMSELVES:
        for path in (DOCS / folder).glob("*.md"):
            assert path.read_text(encoding="utf-8").startswith("# "), path.name


def anchors(path):
    """Return the anchors of a page, as the site makes them from its headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.replace("`", "")).strip() for heading in headings)
    return {re.sub(r"[\s]+", "-", heading).lower() for heading in plain}


BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINKED = [
    *sorted(DOCS.rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    ROOT / "clients" / "js" / "README.md",
]


def test_links_with_anchors_lead_to_headings():
    """On all pages; a link without a file leads to a heading of its own page."""
    astray, count = [], 0
    for page in LINKED:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", text):
            count += 1
            there = page.parent / target if target else page
            if there.suffix == ".md" and anchor not in anchors(there):
                astray.append(f"{page.relative_to(ROOT)} -> {target}#{anchor}")
    assert count > 100
    assert not astray, "\n".join(astray)


def test_every_picture_of_the_dashboard_is_taken_in_three_ways():
    names = {path.stem for path in (DOCS / "images").glob("dashboard-*.png")}
    states = {name.removesuffix("-dark").removesuffix("-narrow") for name in names}
    assert len(states) > 5
    assert names == {f"{state}{look}" for state in states for look in ("", "-dark", "-narrow")}


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_the_code_of_the_guides_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope = {}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        exec(compile(block, page.name, "exec"), scope)
    assert bool(capsys.readouterr().out) == bool(blocks)


def test_the_changelog_is_written_from_the_fragments():
    written = script("changelog").page(ROOT / "changes")
    assert written == (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), "make docs writes it"


def test_a_fragment_with_a_heading_keeps_it(tmp_path):
    (tmp_path / "0001-one-thing.md").write_text("One thing. See [x](../docs/x.md).\n")
    (tmp_path / "0002-sql.md").write_text("# Queries\n\n## More\n\nText.\n")
    page = script("changelog").page(tmp_path)
    assert page.index("## Queries") < page.index("## One thing")
    assert "### More" in page
    assert "[x](docs/x.md)" in page


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_run_and_its_code_is_python(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in code)
    for cell in code:
        ast.parse("".join(cell["source"]))


@pytest.mark.papers
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    kept = json.loads(path.read_text(encoding="utf-8"))
    for before, after in zip(kept["cells"], script("notebooks").run(kept)["cells"], strict=True):
        assert shown(before) == shown(after)
        assert len(before.get("outputs", [])) == len(after.get("outputs", []))


def shown(cell):
    """Return what a cell prints, and its value as HTML; pictures differ between machines."""
    outputs = cell.get("outputs", [])
    printed = [output["text"] for output in outputs if "text" in output]
    return printed, [output["data"].get("text/html") for output in outputs if "data" in output]


def test_the_notebooks_show_what_analysts_use():
    """Values as HTML, a collector elsewhere, and pictures in axes of one's own."""
    cells = [cell for path in NOTEBOOKS for cell in json.loads(path.read_text())["cells"]]
    source = "\n".join("".join(cell["source"]) for cell in cells)
    assert "sv.Collector(" in source
    assert ".plot(ax=" in source
    assert any(
        "<table>" in line for cell in cells for html in shown(cell)[1] for line in html or ()
    )


def test_the_value_of_a_cell_is_shown_as_html():
    class Shown:
        def _repr_html_(self):
            return "<b>7</b>"

    notebooks = script("notebooks")
    for source, html in (("print(1)\nvalue", [["<b>7</b>"]]), ("value; 3", []), ("x = value", [])):
        outputs = notebooks.outputs({"source": [source]}, {"value": Shown()})
        assert shown({"outputs": outputs})[1] == html


def test_the_dependencies_of_the_site_are_locked_apart():
    lock = (ROOT / "requirements" / "docs.lock").read_text(encoding="utf-8")
    daily = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")
    assert "mkdocs-material==" in lock
    assert "mkdocs" not in daily
    pinned = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", daily, re.MULTILINE))
    for name, version in re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.MULTILINE):
        assert pinned.get(name, version) == version, f"{name} differs from requirements/dev.lock"

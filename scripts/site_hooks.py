"""What MkDocs does not do by itself: see mkdocs.yml.

Pages in docs/ are written for a reader of the repository, and link to sources beside them.  In the
site such a link leads to a copy of the file, and a link to a folder to a list of its files.  A link
that leads nowhere ends the build.
"""

import html
import json
import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDERS = {"Evidence": "evidence", "Decisions": "decisions"}
LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")

copied: set[Path] = set()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the folders whose pages are listed by themselves."""
    for title, folder in FOLDERS.items():
        pages = sorted(path.name for path in (DOCS / folder).glob("*.md"))
        ordered = [name for name in pages if name != "README.md"]
        listed = [{_title(DOCS / folder / name): f"{folder}/{name}"} for name in ordered]
        first = [f"{folder}/README.md"] if "README.md" in pages else []
        config["nav"].append({title: [*first, *listed]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made while the site is built."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    made = {"api.md": api_page(), "changelog.md": changelog.replace("](docs/", "](")}
    for path in sorted((DOCS / "notebooks").glob("*.ipynb")):
        made[f"notebooks/{path.stem}.md"] = notebook_page(path)
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to files outside docs/ lead to their copies in the site."""
    folder = posixpath.dirname(page.file.src_uri)

    def led(match: re.Match[str]) -> str:
        picture, text, target, _ = match.groups()
        inside = posixpath.normpath(posixpath.join(folder, target))
        if picture or not inside.startswith("../"):
            return match.group()
        path = (DOCS / inside).resolve()
        if not path.exists():
            raise PluginError(f"{page.file.src_uri} links to {target}, which is not there")
        copied.add(path)
        up = "../" * page.file.dest_uri.count("/")
        shown = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
        return f'<a href="{up}{copy_of(path)}">{shown}</a>'

    return LINK.sub(led, markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Copy the sources that pages link to."""
    site = Path(config["site_dir"])
    for path in sorted(copied):
        target = site / copy_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            names = sorted(f"{child.name}{'/' * child.is_dir()}" for child in path.iterdir())
            items = "".join(
                f"<li>{html.escape(name)}</li>" for name in names if name[0] not in "._"
            )
            title = html.escape(path.relative_to(ROOT).as_posix())
            target.write_text(
                f"<!doctype html><title>{title}</title><h1>{title}</h1><ul>{items}</ul>"
            )
        else:
            shutil.copyfile(path, target)


def copy_of(path: Path) -> str:
    """Return where the copy of a file, or the list of a folder, stands in the site."""
    name = path.relative_to(ROOT).as_posix()
    return f"source/{name}/index.html" if path.is_dir() else f"source/{name}.txt"


def api_page() -> str:
    """Return the reference of the public names; mkdocstrings fills it from the docstrings."""
    import sottovoce

    lines = ["# Python API", "", "The public names, `import sottovoce as sv`.", ""]
    for name in sottovoce.__all__:
        found = getattr(sottovoce, name)
        lines += [f"## sv.{name}", "", f"::: {found.__module__}.{found.__qualname__}", ""]
    return "\n".join(lines)


def notebook_page(path: Path) -> str:
    """Return a notebook with its outputs as Markdown."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [_output(output) for output in cell.get("outputs", [])]
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output["data"]
    if "text/html" in data:
        return "".join(data["text/html"])
    if "image/png" in data:
        return f"![figure](data:image/png;base64,{''.join(data['image/png']).strip()})"
    return f"```text\n{''.join(data['text/plain']).rstrip()}\n```"


def _title(path: Path) -> str:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line.removeprefix("# ")
    return path.stem

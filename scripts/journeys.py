"""Run the journeys of docs/journeys and write what they print: real commands, a real browser.

    python scripts/journeys.py [PAGE ...]

A page is run from top to bottom in one shell, in an empty folder.  In a block of the kind
``console`` a line that begins with "$ " is a command, lines with "> " go on with it, and what it
prints replaces the lines below, folded as a terminal folds them.  A line of the form

    <!-- screen NAME ADDRESS TOKEN-FILE BUTTON -->

takes three pictures of an address: NAME.png, NAME-dark.png and NAME-narrow.png, on a screen of 390
pixels.  With a file that holds a token (not "-"), somebody logs in with it first; a button, if one
is named, is pressed.  A command that fails stops the run, unless the page shows its exit code.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from pictures import chromium, log_in, save
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "journeys"
PICTURES = ROOT / "docs" / "images" / "journeys"
COLUMNS = 100
MAX_HEIGHT = 1200  # pixels of a picture
SETTLING = 1_000  # milliseconds for what a button starts
_STEP = re.compile(r"```console\n(.*?)```|<!-- screen .*? -->", re.DOTALL)
_SCREEN = re.compile(r"<!-- screen (\S+) (\S+) (\S+)(?: (.+))? -->")
_AS_IT_IS: dict[str, Any] = {
    "replace_whitespace": False,
    "drop_whitespace": True,
    "break_long_words": False,
    "break_on_hyphens": False,
}
_END = "\x01end of the command "


@dataclass(frozen=True)
class Look:
    """One way to look at a page."""

    suffix: str
    width: int
    scheme: str = "light"


LOOKS = (Look("", 1080), Look("-dark", 1080, "dark"), Look("-narrow", 390))


class Shell:
    """A shell in a folder; servers that it starts end with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        environment = {
            **os.environ,
            "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "COLUMNS": str(COLUMNS),
            "TERM": "dumb",
            "NO_COLOR": "1",
            "HOME": str(folder),
        }
        self._process = subprocess.Popen(
            ["bash", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> "Shell":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.communicate()

    def run(self, command: str) -> tuple[str, int]:
        """Return what a command prints, and its exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command}\necho '{_END}'$?\n")
        self._process.stdin.flush()
        printed = ""
        while _END not in printed:
            line = self._process.stdout.readline()
            if not line:
                raise RuntimeError(f"the shell has ended: {printed}")
            printed += line
        text, _, code = printed.partition(_END)
        return text, int(code)


def commands(block: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the output below it.

    >>> commands("$ echo a\\na\\n$ cat <<END\\n> b\\n> END\\nb\\n")
    [('echo a', 'a\\n'), ('cat <<END\\nb\\nEND', 'b\\n')]
    """
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
            continue
        command, output = found[-1]
        if line.startswith("> ") and not output:
            found[-1] = (f"{command}\n{line[2:]}", output)
        else:
            found[-1] = (command, f"{output}{line}\n")
    return found


def written(command: str, output: str, code: int) -> str:
    """Return a command and its output as a page shows them."""
    first, *more = command.splitlines()
    lines = [f"$ {first}", *(f"> {line}" for line in more)]
    for line in output.rstrip("\n").splitlines():
        lines += textwrap.wrap(line, COLUMNS, **_AS_IT_IS) or [""]
    if code:
        lines.append(f"(exit code {code})")
    return "\n".join(lines) + "\n"


def run_page(path: Path, browser: Browser) -> None:
    """Run a page, and write what its commands printed into it."""
    with tempfile.TemporaryDirectory() as folder, Shell(Path(folder)) as shell:

        def run_block(match: re.Match[str]) -> str:
            parts = []
            for command, before in commands(match[1]):
                output, code = shell.run(command)
                if code and f"(exit code {code})" not in before:
                    raise RuntimeError(f"{path.name}: {command}: exit code {code}\n{output}")
                parts.append(written(command, output, code))
            return f"```console\n{''.join(parts)}```"

        def follow(match: re.Match[str]) -> str:
            screen = _SCREEN.fullmatch(match[0])
            if screen is None:
                return run_block(match)
            take(browser, shell.folder, Screen(*screen.groups()))
            return match[0]

        text = path.read_text(encoding="utf-8")
        path.write_text(_STEP.sub(follow, text), encoding="utf-8")


@dataclass(frozen=True)
class Screen:
    """What a picture shows: an address, who has logged in there, and what was pressed."""

    name: str
    address: str
    token_file: str
    button: str | None


def take(browser: Browser, folder: Path, screen: Screen) -> None:
    """Save the pictures of a screen."""
    for look in LOOKS:
        size = {"width": look.width, "height": 400}
        with browser.new_context(viewport=size, color_scheme=look.scheme) as context:
            page = context.new_page()
            page.goto(screen.address)
            if screen.token_file != "-":
                log_in(page, (folder / screen.token_file).read_text().strip())
            if screen.button is not None:
                page.wait_for_load_state("networkidle")
                page.get_by_role("button", name=screen.button, exact=True).click()
                page.wait_for_timeout(SETTLING)
            page.wait_for_load_state("networkidle")
            path = PICTURES / f"{screen.name}{look.suffix}.png"
            if "#" in page.url:  # an answer further below: the window shows it, not the top
                page.set_viewport_size({"width": look.width, "height": MAX_HEIGHT})
                page.evaluate("document.querySelector(location.hash).scrollIntoView()")
                save(page, path)
            else:
                save(page, path, full=True, max_height=MAX_HEIGHT)


def main(pages: list[Path]) -> None:
    """Run the pages."""
    with chromium() as browser:
        for page in pages:
            started = time.monotonic()
            run_page(page, browser)
            print(f"{page.name}  {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or sorted(PAGES.glob("*.md")))

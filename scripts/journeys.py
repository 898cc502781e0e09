"""Run the journeys of docs/journeys and write what they print: real commands, a real browser.

    python scripts/journeys.py [PAGE ...]

A page is run from top to bottom in one shell, in an empty folder.  In a block of the kind
``console`` a line that begins with "$ " is a command, lines with "> " go on with it, and what it
prints replaces the lines below, folded as a terminal folds them.  A line of the form

    <!-- screen NAME ADDRESS TOKEN-FILE BUTTON -->

takes three pictures of an address: NAME.png, NAME-dark.png and NAME-narrow.png, on a screen of 390
pixels.  With a file that holds a token (not "-"), somebody logs in with it first; a button, if one
is named, is pressed.  Three browsers take the pictures, and each of them does this once.

Where lines of steps follow, before the "-->", one browser makes the steps once, and then shows its
page in three ways:

    fill LABEL = FILE        write the content of a file into a field
    write LABEL = TEXT       write a text into a field
    tick LABEL               tick a box
    press NAME               press the first button whose name begins like this

A command that fails stops the run, unless the page shows its exit code.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from console_blocks import COLUMNS, commands, written
from pictures import chromium, log_in, save
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "journeys"
PICTURES = ROOT / "docs" / "images" / "journeys"
MAX_HEIGHT = 1200  # pixels of a picture
SETTLING = 1_000  # milliseconds for what a button starts
_STEP = re.compile(r"```console\n(.*?)```|<!-- screen .*?\s-->", re.DOTALL)
_SCREEN = re.compile(r"<!-- screen (\S+) (\S+) (\S+)(?: ([^\n]+?))?(?:\n(.*?))?\s-->", re.DOTALL)
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
            name, address, token_file, button, steps = screen.groups()
            shown = Screen(name, address, token_file, button, tuple((steps or "").splitlines()))
            if shown.steps:
                follow_steps(browser, shell.folder, shown)
            else:
                take(browser, shell.folder, shown)
            return match[0]

        text = path.read_text(encoding="utf-8")
        path.write_text(_STEP.sub(follow, text), encoding="utf-8")


@dataclass(frozen=True)
class Screen:
    """What a picture shows: an address, who has logged in there, and what was done there."""

    name: str
    address: str
    token_file: str
    button: str | None
    steps: tuple[str, ...] = ()


def follow_steps(browser: Browser, folder: Path, screen: Screen) -> None:
    """Make the steps of a screen in one browser, and save pictures of where they lead."""
    size = {"width": LOOKS[0].width, "height": 400}
    with browser.new_context(viewport=size) as context:
        page = context.new_page()
        page.goto(screen.address)
        if screen.token_file != "-":
            log_in(page, (folder / screen.token_file).read_text().strip())
        for step in screen.steps:
            make_step(page, folder, step)
            page.wait_for_load_state("networkidle")
        for look in LOOKS:
            page.emulate_media(color_scheme=look.scheme)
            page.set_viewport_size({"width": look.width, "height": 400})
            save_looked(page, look, screen.name)


def make_step(page: Page, folder: Path, step: str) -> None:
    """Do what a line of a screen says."""
    action, _, rest = step.strip().partition(" ")
    label, _, entry = rest.partition(" = ")
    if action == "fill":
        page.get_by_label(label).fill((folder / entry).read_text(encoding="utf-8"))
    elif action == "write":
        page.get_by_label(label).fill(entry)
    elif action == "tick":
        page.get_by_label(label).check()
    elif action == "press":
        page.get_by_role("button", name=re.compile(f"^{re.escape(rest)}")).first.click()
    else:
        raise RuntimeError(f"a step is fill, write, tick or press: {step}")


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
            save_looked(page, look, screen.name)


def save_looked(page: Page, look: Look, name: str) -> None:
    """Save one picture of a page."""
    path = PICTURES / f"{name}{look.suffix}.png"
    below = page.evaluate("location.hash && document.querySelector(location.hash) !== null")
    if below:  # an answer further below: the window shows it, not the top
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

"""The browser that takes the pictures of the documentation, and how they are saved."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

_COLOURS = 64
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run the browser of this machine while a block lasts."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(_ARGUMENTS)
        )
        yield browser
        browser.close()


def save(page: Page, path: Path, *, full: bool = False, max_height: int | None = None) -> None:
    """Save a picture of a page in few colours; ``full`` takes all of it, not the window alone.

    What lies below ``max_height`` pixels is cut off.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    taken = Image.open(BytesIO(page.screenshot(full_page=full)))
    taken = taken.crop((0, 0, taken.width, min(taken.height, max_height or taken.height)))
    taken.convert("RGB").quantize(_COLOURS).save(path, optimize=True)


def log_in(page: Page, token: str) -> None:
    """Fill in the log-in of the dashboard, and wait for the page behind it."""
    page.fill("#token", token)
    page.press("#token", "Enter")
    page.wait_for_selector("h1:not(:text('Log in'))")

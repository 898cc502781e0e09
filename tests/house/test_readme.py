"""The first pages: the README prints what it shows, the tour and the guide run as printed."""

import json
import re
from math import ceil
from pathlib import Path

import sottovoce as sv
from sottovoce.wire import codec

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
TOUR = (ROOT / "docs" / "tour.md").read_text()


def python_blocks(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_readme_prints_what_it_shows_however_often(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = python_blocks(README)
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    for _ in range(2):
        exec(compile(block, "README.md", "exec"), {})
        printed = capsys.readouterr().out.rstrip().splitlines()
        assert "\n".join(line.rstrip() for line in printed) == shown.rstrip()
    assert (tmp_path / "browser.png").stat().st_size > 5_000


COLUMNS = 100
PICTURE = 10  # lines: the height of a picture 400 pixels wide
BLOCK = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)


def shown_lines(text):
    """Return how many lines of text a page shows at 100 columns, blank ones apart.

    Links show their text, paragraphs are filled, and rows of tables are broken like lines.
    """
    code = [line for block in BLOCK.findall(text) for line in block.splitlines() if line.strip()]
    pictures = len(re.findall(r"!\[|<img ", text))
    prose = re.sub(r"<img [^>]*>|!\[[^\]]*\]\([^)]*\)", "", BLOCK.sub("\n\n", text))
    prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    paragraphs = []
    for block in re.split(r"\n\s*\n", prose.strip()):
        if block.startswith("|"):
            paragraphs += [row for row in block.splitlines() if not re.fullmatch(r"[|\s:-]+", row)]
        else:
            paragraphs.append(" ".join(block.split()))
    lines = sum(ceil(len(text) / COLUMNS) for text in [*code, *paragraphs])
    return lines + PICTURE * pictures


def test_the_readme_fits_on_one_screen():
    shown = shown_lines(README)
    print(f"{shown} lines at {COLUMNS} columns")
    assert shown <= 64


def test_a_longer_readme_is_noticed():
    assert shown_lines("# A\n\n" + 60 * "[word](a-long-address) " + "\n") == 4
    assert shown_lines("```\na\n\nb\n```\n\n| a |\n|---|\n| b |\n\n![c](d)") == 4 + PICTURE
    assert shown_lines(README + "\n\n## More\n\n" + 40 * "word " * 10) > shown_lines(README) + 20


def test_the_readme_says_what_to_do_before_it_explains():
    """Two commands at the top, then a picture, numbers, a device that states what it accepts."""
    order = ["Sottovoce", "make demo", "make test", "<img ", "sv.simulate(", "sv.Histogram`"]
    order += ["sottovoce serve", "sv.Accepts(", "exp(epsilon)", "docs/index.md"]
    places = [README.index(words) for words in order]
    assert places == sorted(places)
    (picture,) = re.findall(r'<img src="([^"]+)" alt="[^"]{20,}"', README)
    assert (ROOT / picture).is_file()
    (device,) = re.findall(r"```python no-run\n(.*?)```", README, re.DOTALL)
    assert len(device.splitlines()) == 3


def test_the_tour_runs_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in python_blocks(TOUR):
        exec(compile(block, "tour.md", "exec"), scope)
    assert scope["answer"].estimate.users == 10_000
    assert "chrome" in capsys.readouterr().out


def test_the_guide_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "guide.md").read_text(), re.DOTALL)
    for block in blocks:
        exec(compile(block, "guide.md", "exec"), scope)
    assert len(blocks) == 8
    assert (tmp_path / "hours.png").exists()
    assert scope["published"].estimate.totals.min() >= 0


def test_the_sample_task_is_canonical_but_for_white_space():
    (text,) = re.findall(r"```json\n(.*?)```", TOUR, re.DOTALL)
    content = codec.parse(text)
    task = sv.Task("browser", sv.Histogram(["chrome", "firefox", "safari", "other"]), epsilon=1.0)
    assert content == codec.document(task) == json.loads(codec.canonical(content))
    assert codec.task(content) == task

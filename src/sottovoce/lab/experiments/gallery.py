"""The gallery: every figure and table with its verdict, and the pictures of the experiments."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from sottovoce.lab.experiments.catalogue import PAPERS, Item, catalogue
from sottovoce.lab.experiments.results import ExperimentResult, save_plot

PICTURES = "images/gallery"

_HEAD = """# Gallery

Every figure and table of the five papers behind this library, and what became of it here. The page
and its pictures are written by `sottovoce lab all --full-minutes 40 --docs docs`, which runs as
many experiments at the size of the paper as fit into that time; `sottovoce lab run NAME --plot
FILE` draws one of them, and `--size full` runs it at the size of the paper. Lines are ours, circles
are values that the paper prints. A verdict follows from the rows, and its evidence is counted: the
values that the paper prints, and the claims of its text. An item is *reproduced* if every printed
value is met within the tolerance that the experiment states, and every claim holds. Most drawings
print no value: of them it is said that the *claims hold*.
"""
_SIZES = {"quick": "quick size", "full": "size of the paper"}


def write_gallery(results: Sequence[ExperimentResult], docs: Path) -> None:
    """Write the page and a picture for every result into a folder of docs."""
    pictures = docs / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    for result in results:
        save_plot(result, pictures / f"{result.experiment.name}.png")
    (docs / "gallery.md").write_text(gallery_page(results), encoding="utf-8")


def gallery_page(results: Sequence[ExperimentResult]) -> str:
    """Return the page."""
    return "\n".join([_HEAD, *_counts(results), *_lists(results), *_pictures(results)])


def _counts(results: Sequence[ExperimentResult]) -> Iterator[str]:
    by_name = {result.experiment.name: result for result in results}
    items = catalogue()
    measured = [item for item in items if item.is_measured]
    words = Counter(item.verdict(by_name).word for item in measured)
    drawn = sum(bool(item.experiments) for item in measured)
    sizes = Counter(result.size for result in results)
    yield "## The count\n"
    yield f"- {len(items)} figures and tables in the five papers; {len(items) - len(measured)} of"
    yield "  them are drawings, examples or lists of notation without a measurement."
    yield f"- Of the {len(measured)} others, {drawn} are drawn by {len(results)} experiments, here"
    yield f"  {sizes['full']} at the size of the paper and {sizes['quick']} at the quick size;"
    yield f"  {len(measured) - drawn} are asserted by tests alone, or not at all."
    unprinted = words["claims hold"]
    yield f"- {words['reproduced']} are reproduced, value by value; of {unprinted} without"
    yield f"  published values all claims hold; {words['differs']} differ, and"
    yield f"  {words['not possible here']} are not possible here; each says why.\n"


def _lists(results: Sequence[ExperimentResult]) -> Iterator[str]:
    by_name = {result.experiment.name: result for result in results}
    yield "## All figures and tables\n"
    for paper, title in PAPERS.items():
        yield f"### {title}\n"
        yield "| item | shows | verdict | evidence | by |"
        yield "|---|---|---|---|---|"
        for item in catalogue():
            if item.paper == paper:
                verdict = str(item.verdict(by_name)).replace("|", "\\|")
                evidence = f"{verdict} | {item.evidence(by_name)}"
                yield f"| {item.label} | {item.shows} | {evidence} | {_by(item)} |"
        yield ""


def _by(item: Item) -> str:
    names = [f"[`{each.name}`](#{each.name})" for each in item.experiments]
    test = f"[{Path(item.test).name}](../{item.test})" if item.test else ""
    return ", ".join([*names, test]).removesuffix(", ")


def _pictures(results: Sequence[ExperimentResult]) -> Iterator[str]:
    yield "## The experiments\n"
    for result in results:
        experiment = result.experiment
        yield f"### {experiment.name}\n"
        labels = ", ".join(
            f"{PAPERS[item.paper].split(',')[0]} {item.label.lower()}"
            for item in catalogue()
            if item.key in experiment.reproduces
        )
        yield f"{experiment.title}. Reproduces {labels}; {_SIZES[result.size]}.\n"
        yield f"![{experiment.title}]({PICTURES}/{experiment.name}.png)\n"
        verdict = str(result.verdict)
        yield f"**{verdict[0].upper()}{verdict[1:]}.**\n"
        yield from _claims(result)


def _claims(result: ExperimentResult) -> Iterator[str]:
    evidence = result.evidence
    lines = []
    if evidence.published:
        lines.append(f"- {evidence.met} of {evidence.published} printed values are met.")
    lines += [
        f"- {'Holds' if claim.holds else 'Does not hold'}: {claim.text}." for claim in result.claims
    ]
    yield from lines
    if lines:
        yield ""

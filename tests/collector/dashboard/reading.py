"""Pages as trees, so that tests ask for elements and not for text."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "input", "img", "hr"}


@dataclass
class Element:
    """An element with its attributes and what stands in it."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["Element | str"] = field(default_factory=list)

    def __getitem__(self, name: str) -> str:
        return self.attributes.get(name, "")

    def __iter__(self) -> Iterator["Element"]:
        """Yield everything below, in the order of the page."""
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child

    def all(self, *tags: str, **attributes: str) -> list["Element"]:
        """Return the elements below with one of these tags and all these attributes; ``class_``
        stands for class.
        """
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        found = [one for one in self if one.tag in tags or not tags]
        return [
            one
            for one in found
            if all(value in one[name].split() for name, value in wanted.items())
        ]

    def one(self, *tags: str, **attributes: str) -> "Element":
        """Return the only such element."""
        (found,) = self.all(*tags, **attributes)
        return found

    @property
    def text(self) -> str:
        """Return all text below, with single spaces."""
        parts = (child if isinstance(child, str) else child.text for child in self.children)
        return " ".join(" ".join(parts).split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("root")
        self.stack = [self.root]

    def handle_starttag(self, tag, attributes):
        made = Element(tag, {name: value or "" for name, value in attributes})
        self.stack[-1].children.append(made)
        if tag not in VOID:
            self.stack.append(made)

    def handle_startendtag(self, tag, attributes):
        self.stack[-1].children.append(
            Element(tag, {name: value or "" for name, value in attributes})
        )

    def handle_endtag(self, tag):
        while self.stack[-1].tag != tag:
            raise AssertionError(f"</{tag}> closes <{self.stack[-1].tag}>")
        self.stack.pop()

    def handle_data(self, data):
        self.stack[-1].children.append(data)


def read(text: str) -> Element:
    """Return the page in a text; refuses elements that are not closed in order."""
    reader = _Reader()
    reader.feed(text)
    assert len(reader.stack) == 1, reader.stack[-1].tag
    return reader.root


def rows(table: Element) -> list[list[str]]:
    """Return the cells of a table's body."""
    return [[cell.text for cell in row.all("th", "td")] for row in table.one("tbody").all("tr")]

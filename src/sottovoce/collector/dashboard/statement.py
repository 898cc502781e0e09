"""The statement on the page of a task: the sentences that devices show, under headings.

Below them stands what only the operator needs: what one false report can do.
"""

from collections.abc import Sequence

from sottovoce.tasks.moved_number import MovedNumber
from sottovoce.tasks.notice import Notice
from sottovoce.wire import integrity, statement

Line = tuple[str, str]


def lines(notice: Notice) -> list[Line]:
    """Return the statement of a task, a heading and its sentences at a time."""
    topics = statement.topics(statement.statement(notice))
    headings = statement.texts()["headings"]
    texts = {topic: " ".join(sentences) for topic, sentences in topics.items()}
    return [(headings[topic], text) for topic, text in texts.items() if text]


def integrity_line(notice: Notice, moved: Sequence[MovedNumber] = ()) -> Line:
    """Return the statement of integrity with its heading.

    ``moved`` are the numbers that the plan of the task states.
    """
    return integrity.TEXTS["heading"], " ".join(integrity.sentences(notice, moved))

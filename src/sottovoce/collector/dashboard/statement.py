"""The statement on the page of a task: the sentences that devices show, under headings."""

from sottovoce.tasks.notice import Notice
from sottovoce.wire import statement

Line = tuple[str, str]


def lines(notice: Notice) -> list[Line]:
    """Return the statement of a task, a heading and its sentences at a time."""
    topics = statement.topics(statement.statement(notice))
    headings = statement.TEXTS["headings"]
    texts = {topic: " ".join(sentences) for topic, sentences in topics.items()}
    return [(headings[topic], text) for topic, text in texts.items() if text]

"""What a task would ask of people and tell its operator, before it is published."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sottovoce.collector.published import concerns_of

if TYPE_CHECKING:
    from sottovoce.tasks.advice import Advice
    from sottovoce.tasks.notice import Notice
    from sottovoce.tasks.task import Task

DEFAULT_USERS = 10_000


@dataclass(frozen=True, eq=False)
class TaskCheck:
    """A task that is not published, with what to expect if so many ``users`` answer."""

    task: "Task"
    users: int
    advice: "Advice"

    @classmethod
    def of(cls, task: "Task", users: int | None, queries: Sequence[str] = ()) -> "TaskCheck":
        """Return the check for a number of users, by default as many as the task waits for.

        Of a task about tables the error of every query is predicted.
        """
        from sottovoce.tasks.plan import Plan

        quota = task.collection.quota if task.collection else 0
        expected = users or quota or DEFAULT_USERS
        plan, epsilon = task.plan, task.response_epsilon
        if queries:
            advice = plan.advise(expected, epsilon, sql=queries)  # type: ignore[call-arg]
            return cls(task, expected, advice)
        if plan.answers_sql:  # what is known without a query
            return cls(task, expected, Plan.advise(plan, expected, epsilon))
        return cls(task, expected, plan.advise(expected, epsilon))

    @property
    def _notice(self) -> "Notice":
        from sottovoce.wire import codec

        return codec.notice(codec.document(self.task))

    @property
    def concerns(self) -> tuple[str, ...]:
        """Return what speaks against publishing the task."""
        return concerns_of(self.task)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        from sottovoce.wire import integrity
        from sottovoce.wire.statement import statement

        notice = self._notice
        return {
            "name": self.task.name,
            "digest": notice.digest,
            "epsilon": self.task.epsilon,
            "users": self.users,
            "statement": statement(notice),
            "advice": self.advice.to_dict(),
            "influence": integrity.influence(notice.opening.ask, notice.collection),
            "moved": [number.to_dict() for number in self.task.moved_numbers],
            "concerns": list(self.concerns),
        }

    def __str__(self) -> str:
        from sottovoce.wire import integrity
        from sottovoce.wire.statement import explain, statement

        notice = self._notice
        sections = {
            "What people will read": explain(statement(notice)),
            f"What to expect from {self.users:,} people": str(self.advice),
            "What one false report can do": " ".join(
                integrity.sentences(notice, self.task.moved_numbers)
            ),
            "Concerns": "\n".join(f"- {concern}" for concern in self.concerns) or "none",
        }
        head = f"{self.task.name}: epsilon {self.task.epsilon:g}, digest {notice.digest}"
        parts = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items()]
        return "\n\n".join([f"{head}\nNothing was published.", *parts])

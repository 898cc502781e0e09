"""The progress of a collection as data for templates: tasks, rounds, arrivals and refusals."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from sottovoce.collector import wire
from sottovoce.collector.dashboard import formatting, svg
from sottovoce.collector.published import Published
from sottovoce.collector.shuffle_status import ShuffleLine
from sottovoce.tasks.collection import Collection
from sottovoce.web.problems import CATALOGUE

Facts = dict[str, Any]

HOURS = 6
_SLICE = 300  # seconds of arrivals in one bar
_STATES = {
    "open": "open: reports are accepted",
    "closing": "closing: late reports are still accepted",
    "sealing": "sealing: the log is being written",
    "sealed": "sealed: the log is complete",
}


def path(name: str) -> str:
    """Return the path of a task's page within the collector.

    >>> path("a b?é")
    '/tasks/a%20b%3F%C3%A9'
    """
    return f"/tasks/{quote(name, safe='')}"


def task(published: Published, number: int) -> Facts:
    """Return one line of the list of tasks."""
    counts = [published.users_of(record) for record in published.rounds]
    users = counts[-1] if published.task.distinct else sum(counts)
    return {
        "name": published.record.name,
        "description": published.task.description,
        "state": published.shown_state,
        "sandbox": published.collection.sandbox,
        "users": formatting.count(users),
        "epsilon": f"{published.task.epsilon:g}",
        **_towards(
            published.users_of(published.last),
            published.quota(published.last.number),
            published.collection,
            f"task-{number}",
        ),
    }


def mark(published: Published) -> str:
    """Return a mark that changes when the whole page must be loaded again."""
    return f"{published.last.number}-{published.last.state}-{published.shown_state}"


def live(published: Published, status: wire.Status, now: int) -> Facts:
    """Return the parts of a task's page that change while reports come in."""
    collection = published.collection
    taking = status.state not in ("finished", "failed")
    rounds = [
        _round(line, published.quota(line.number), collection, now)
        for line in reversed(status.rounds)
    ]
    return {
        "summary": _summary(published, status),
        "rounds": rounds,
        "taking": taking,
        "arrivals": _arrivals(status.arrivals, now),
        "refusals": [
            _refusal(code, number)
            for code, number in sorted(status.refused.items(), key=_by_number)
        ],
    }


def _summary(published: Published, status: wire.Status) -> str:
    last = status.rounds[-1]
    if status.failure:
        return f"Failed: {status.failure}."
    if status.trouble:
        return f"Waiting, and tried again: {status.trouble}."
    if status.state == "finished":
        return f"Finished after {formatting.many(len(status.rounds), 'round')}."
    quota = f" of {published.quota(last.number):,}" if published.collection.quota else ""
    return f"Round {last.number} is {last.state}: {last.users:,}{quota} users so far."


def _round(line: wire.RoundLine, quota: int, collection: Collection, now: int) -> Facts:
    return {
        "number": line.number,
        "state": line.state,
        "meaning": _STATES[line.state],
        "opened": (formatting.machine(line.opened), formatting.moment(line.opened)),
        "users": formatting.count(line.users),
        "until": _until(line, quota, collection, now),
        "sealed": formatting.count(line.count) if line.state == "sealed" else "",
        "checksum": line.checksum,
        "erased": line.erased,
        "shuffle": None if line.shuffle is None else _shuffle(line.shuffle),
        **_towards(line.users, quota, collection, f"round-{line.number}"),
    }


def _shuffle(line: ShuffleLine) -> Facts:
    """Return the shuffling of a round as terms with a few words each."""
    batch = "no part has come"
    if line.parts:
        whole = "complete" if line.complete else "not complete"
        batch = f"{line.received:,} of {formatting.many(line.parts, 'part')}, {whole}"
    beyond = f"except with probability {line.delta:g}"
    facts = [
        ("Hops", ", ".join(line.hops)),
        ("Keys", f"{line.keys} of {line.layers} are here"),
        ("Signed as a set", f"by {line.set_signatures} of {len(line.hops)} shufflers"),
        ("Batch", batch),
        ("Messages", f"{line.messages:,}, of which {line.fakes:,} are fakes"),
        ("Duplicates dropped", formatting.count(line.duplicates)),
        ("Not sealed for this round", formatting.count(line.unopened)),
        ("Canaries", _canaries(line)),
        ("Against the collector alone", f"epsilon {line.central:.3g}, {beyond}"),
        (
            "Against the collector with all other users",
            f"epsilon {line.against_users:.3g}, {beyond}",
        ),
        ("Against everybody, the hops included", f"epsilon {line.local:g}"),
    ]
    missing = line.canaries - line.canaries_found
    return {"facts": facts, "alarm": bool(line.messages and missing > 0)}


def _canaries(line: ShuffleLine) -> str:
    if not line.canaries:
        return "none sent"
    if not line.messages:
        return f"{line.canaries:,} sent"
    found = f"{line.canaries_found:,} of {line.canaries:,} found"
    if not line.detection:
        return found
    return f"{found}; a loss of 1 % would show with probability {line.detection:.3g}"


def _towards(users: int, quota: int, collection: Collection, name: str) -> Facts:
    """Return the progress of a round towards its quota, or else its minimum."""
    goal = quota or collection.minimum
    kind = "quota" if quota else "minimum"
    title = f"{users:,} of {goal:,} users ({kind})"
    return {"goal": title, "bar": svg.progress(users / goal, title, name)}


def _until(line: wire.RoundLine, quota: int, collection: Collection, now: int) -> str:
    if line.state != "open":
        return ""
    if line.shuffle is not None:
        return "Closes when the last hop has delivered the batch."
    share = f", its share of the task's {collection.quota:,}" if quota < collection.quota else ""
    ends = [f"at {formatting.many(quota, 'user')}{share}"] if quota else []
    if collection.seconds:
        end = line.opened + collection.seconds
        over = f"as soon as {formatting.many(collection.minimum, 'user')} are in: its time is over"
        ends.append(
            over
            if now >= end
            else f"on {formatting.moment(end)}, in {formatting.lasting(end - now)}"
        )
    return f"Closes {' or '.join(ends)}." if ends else "Closes when an operator closes it."


def _arrivals(arrivals: Sequence[tuple[int, int]], now: int) -> Facts:
    slices = HOURS * 3600 // _SLICE
    start = now - now % _SLICE - (slices - 1) * _SLICE
    counts = [0] * slices
    for minute, number in arrivals:
        index = (minute - start) // _SLICE
        if 0 <= index < slices:
            counts[index] += number
    total, most = sum(counts), max(counts)
    title = f"Reports accepted in the last {HOURS} hours"
    busiest = f"{total:,} in the last {HOURS} hours, at most {most:,} in {_SLICE // 60} minutes."
    text = busiest if total else f"No reports in the last {HOURS} hours."
    rows = [
        (formatting.clock(start + index * _SLICE), formatting.count(count))
        for index, count in enumerate(counts)
        if count
    ]
    return {
        "text": text,
        "drawing": svg.sparkline(counts, title, text, "arrivals"),
        "rows": rows[::-1],
        "ends": (formatting.clock(start), formatting.clock(start + slices * _SLICE)),
        "minutes": _SLICE // 60,
    }


def _refusal(code: str, number: int) -> Facts:
    problem = CATALOGUE.get(code)
    about = (
        {"title": problem.title, "remedy": problem.remedy}
        if problem
        else {"title": code, "remedy": ""}
    )
    return {"code": code, "number": formatting.count(number), **about}


def _by_number(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]

"""``sottovoce task init``: a file for every kind of plan, which can be published as it is."""

import pytest

from sottovoce.cli.task_template import template
from sottovoce.collector import taskfile
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.plan import Plan

# Other tests register plans of their own.
KINDS = [plan.kind for plan in Plan.kinds.classes() if plan.__module__.startswith("sottovoce.")]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_file_that_is_a_task(kind):
    text = template(kind)
    task = taskfile.read(text, toml=True)
    assert task.plan.kind == kind
    assert task.collection == Collection()
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("kind", ["histogram", "distribution", "tracking", "dbs", "marginals"])
def test_what_stands_as_a_comment_is_the_default(kind):
    """Without the comment marks of its settings the file is the same task."""
    text = template(kind)
    settings = [
        line.removeprefix("# ") if line.startswith("# ") and " = " in line else line
        for line in text.splitlines()
    ]
    assert taskfile.read("\n".join(settings), toml=True) == taskfile.read(text, toml=True)


def test_an_unknown_kind_is_refused_with_the_known_ones(run):
    refused = run("task", "init", "histgram")
    assert refused.exit_code == 2
    assert "histogram" in refused.stderr
    assert "did you mean" in refused.stderr.lower()


def test_the_command_prints_the_file(run):
    assert run("task", "init", "mean").stdout == template("mean")

"""Fakes of single questions: every report of a GRR or an affine mechanism with one probability.

Stands in for ``Ask.fake_reports`` where the tree does not have it yet.
"""

from sottovoce.tasks.question import Address, Question


def fake_reports(question, count, rng):
    mechanism = question.mechanism
    values = rng.integers(mechanism.size, count)
    packed = mechanism.pack(values)
    width = mechanism.width
    pieces = [packed[start : start + width] for start in range(0, len(packed), width)]
    return [(Address(), piece) for piece in pieces]


def install():
    """Give questions their fakes, unless they have them."""
    if not hasattr(Question, "fake_reports"):
        Question.fake_reports = fake_reports

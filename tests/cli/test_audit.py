"""``sottovoce audit``."""

import json
from dataclasses import dataclass

import pytest

from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR

QUICK = ("--samples", 20_000, "--seed", 1)


@pytest.mark.parametrize("kind", ["grr", "affine"])
def test_a_sound_mechanism_passes(run, kind):
    result = run("audit", kind, "--size", 4, "--epsilon", 1, *QUICK)
    assert result.exit_code == 0
    assert "passes" in result.stdout


def test_it_prints_json(run):
    content = json.loads(run("audit", "grr", *QUICK, "--json").stdout)
    assert content["passes"] is True
    assert content["lower_bound"] <= content["epsilon"]


def test_a_broken_mechanism_exits_with_1(run, request):
    @dataclass(frozen=True)
    class Open(GRR):
        def privatize(self, values, rng):
            return self.check(values)

    request.addfinalizer(lambda: Mechanism.kinds.add("grr", GRR))
    Mechanism.kinds.add("grr", Open)
    result = run("audit", "grr", *QUICK)
    assert result.exit_code == 1
    assert "FAILS" in result.stdout


def test_an_unknown_kind_is_refused(run):
    result = run("audit", "divination")
    assert result.exit_code == 2
    assert "unknown mechanism kind" in result.stderr

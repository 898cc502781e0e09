"""The crossing of a falling function is approached from the side where it is not positive."""

from math import exp, log

import pytest

from sottovoce.maths.crossing import crossing

FUNCTIONS = {
    "line": lambda x: 3.0 - x,
    "cliff": lambda x: 1e9 if x < 3 else -1e-9,
    "flat": lambda x: exp(-x) - exp(-3.0),
    "steep": lambda x: 1 - exp(20 * (x - 3)),
    "clipped": lambda x: max(log(3.0 / max(x, 1e-9)), -1e-3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
def test_the_result_is_safe_and_close(name, tolerance):
    function = FUNCTIONS[name]
    found = crossing(function, 0.0, 10.0, tolerance)
    assert function(found) <= 0
    assert 3.0 - 1e-12 <= found <= 3.0 + tolerance


def test_a_smooth_function_takes_few_steps():
    calls = []

    def counted(x):
        calls.append(x)
        return 2 - x * x

    crossing(counted, 0.0, 10.0, 1e-9)
    assert len(calls) < 30, len(calls)

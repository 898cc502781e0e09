"""After warming nothing is left to compile."""

from types import ModuleType

import numpy as np
from numba.core.dispatcher import Dispatcher

from sottovoce.kernels import affine_loops, affine_words, loads, olh, unary, walsh
from sottovoce.kernels.warm import compile_all
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.oue import OUE

MODULES: tuple[ModuleType, ...] = (affine_loops, affine_words, loads, olh, unary, walsh)


def versions():
    """Return how many versions of every kernel are compiled, by name."""
    return {
        f"{module.__name__}.{name}": len(kernel.overloads)
        for module in MODULES
        for name, kernel in vars(module).items()
        if isinstance(kernel, Dispatcher)
    }


def decode(mechanism, coefficients):
    values = np.arange(90) % 30
    reports = mechanism.unpack(mechanism.pack(mechanism.privatize(values, SeededRng(1))))
    mechanism.estimate(mechanism.tally(reports))
    if coefficients:
        mechanism.score(reports, np.arange(mechanism.size, dtype=float))


def test_mechanisms_decode_and_score_with_what_was_compiled_ahead():
    compile_all()
    before = versions()
    assert before["sottovoce.kernels.affine_loops.gather"] > 0
    decode(AffineResponse(1.0, 30), coefficients=True)
    decode(OLH(1.0, 30), coefficients=True)
    decode(OUE(1.0, 30), coefficients=False)
    for bits in (40, 160):
        prefix = AffinePrefix(1.0, 1 << bits)
        values = np.zeros(3, np.int64) if bits < 64 else np.zeros((3, 5), np.uint32)
        reports = prefix.unpack(prefix.pack(prefix.privatize(values, SeededRng(2))))
        prefix.count(reports, values)
    assert versions() == before

"""Recovery of poisoned frequencies by subtraction: LDPRecover, LDPRecover* and normalisation.

Baselines.  With n honest and m false reports and eta = m / n, the poisoned frequencies are

    f_Z = (f_X + eta f_Y) / (1 + eta)        so that        f_X = (1 + eta) f_Z - eta f_Y

LDPRecover assumes eta, and that a false report supports one value, so that the frequencies f_Y of
false reports sum to (1 - q d) / (p - q).  It spreads this sum evenly over the values with a
positive estimate, subtracts it, and projects the result onto the simplex.  LDPRecover* knows the
targets: all other values have -q / (p - q), and the targets share the rest evenly.  Both are
implemented from the description of the method; the code of its authors was not available.

``without_targets`` goes further than either: it knows the targets and the share, and assumes that
every false report supports every target.  It removes whatever the targets have.

Normalisation shifts the least frequency to 0 and divides by the sum.

Source: Sun et al. 2024; Cao, Jia and Gong 2021.
"""

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.postprocess.norm_sub import norm_sub


def recovered(poisoned: Floats, mechanism: PureMechanism, eta: float) -> Floats:
    """Return the frequencies by LDPRecover, given eta."""
    p, q = mechanism.p, mechanism.q
    positive = poisoned > 0
    total = (1 - q * len(poisoned)) / (p - q)
    false = np.where(positive, total / max(int(np.count_nonzero(positive)), 1), 0.0)
    return _subtracted(poisoned, false, eta)


def recovered_knowing(
    poisoned: Floats, mechanism: PureMechanism, eta: float, targets: Bools
) -> Floats:
    """Return the frequencies by LDPRecover*, given eta and the targets."""
    p, q = mechanism.p, mechanism.q
    count = int(np.count_nonzero(targets))
    others = -q / (p - q)
    total = (1 - q * len(poisoned)) / (p - q)
    of_targets = (total - others * (len(poisoned) - count)) / count
    return _subtracted(poisoned, np.where(targets, of_targets, others), eta)


def without_targets(
    poisoned: Floats, mechanism: PureMechanism, eta: float, targets: Bools
) -> Floats:
    """Return the frequencies if every false report supported every target."""
    p, q = mechanism.p, mechanism.q
    return _subtracted(poisoned, np.where(targets, (1 - q) / (p - q), 0.0), eta)


def normalised(poisoned: Floats) -> Floats:
    """Return the frequencies above the least one, in parts of their sum."""
    above = poisoned - poisoned.min()
    return np.asarray(above / above.sum())


def _subtracted(poisoned: Floats, false: Floats, eta: float) -> Floats:
    return simplex((1 + eta) * poisoned - eta * false)


def simplex(frequencies: Floats) -> Floats:
    """Return the nearest frequencies that are not negative and sum to 1 (Norm-Sub)."""
    return norm_sub(frequencies)

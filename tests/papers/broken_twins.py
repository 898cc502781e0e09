"""Broken twins of mechanisms that several tests of the papers must catch."""

from sottovoce.mechanisms.olh import OLH


class SmallQ(OLH):
    """The q of the randomised bucket, where the estimator needs the chance of a collision."""

    @property
    def q(self):
        return self.response.q

"""Post-processing: better shares from raw ones, without spending privacy.

Shares are at least 0 and all of them sum to 1, while raw estimates respect neither.  Each method is
one module with a function of raw shares, (..., size), and a ``rule_for`` that takes from an
estimate what the function needs.

Source: Wang et al. 2020, section IV; Wang 2021, section 8.1.
"""

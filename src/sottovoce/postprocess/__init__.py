"""Post-processing: better shares from raw ones, by what is known of all shares.  No privacy is spent.

Every share is at least 0 and all of them sum to 1; raw estimates respect neither.  Each method is one file with a
function of raw shares, (..., size), and a ``rule_for`` that takes from an estimate what the function needs.

Source: Wang et al. 2020, section IV; Wang 2021, section 8.1.
"""

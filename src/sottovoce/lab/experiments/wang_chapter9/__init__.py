"""Experiments of Wang 2021, chapter 9."""

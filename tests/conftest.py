"""Settings for every test."""

from hypothesis import settings

# The first example may compile a kernel: no deadline, and examples that do not change from run to run.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

"""Settings for every test."""

import os

# Two workers share two cores: further threads for matrix products would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

# The first example may compile a kernel: no deadline, and examples that do not change from run to
# run.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

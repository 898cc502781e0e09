"""Processor time is that of a process and of what it has started."""

import os
import subprocess
import sys
import time

from sottovoce.lab.bench.processor import processor_seconds

BUSY = "import time\nwhile time.process_time() < 0.3: pass\n"
WITH_CHILD = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY!r}])\n"
TICK = 1 / os.sysconf("SC_CLK_TCK")


def test_the_time_of_this_process_is_what_it_says_itself():
    own = time.process_time()
    assert abs(processor_seconds(os.getpid()) - own) < 0.5 + sum(os.times()[2:4])


def test_the_time_of_a_child_that_has_ended_counts():
    waiting = f"{WITH_CHILD}print('done', flush=True)\ninput()\n"
    with subprocess.Popen(
        [sys.executable, "-c", waiting], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        assert processor_seconds(process.pid) >= 0.3 - 2 * TICK
        process.stdin.close()

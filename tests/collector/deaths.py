"""Ways in which a worker does not do its work; a new process finds them here by their names."""

import errno
import os
import signal

from sottovoce.collector import worker


def die_by_signal(order, answer):
    os.kill(os.getpid(), signal.SIGSEGV)


def die_with_code(order, answer):
    os._exit(127)


def run_out_of_memory(order, answer):
    worker.Collector.work = _needs_too_much
    worker.run(order, answer)


def _needs_too_much(self, digest):
    return bytearray(1 << 60)


def miss_a_library(order, answer):
    worker.Collector.work = _imports
    worker.run(order, answer)


def _imports(self, digest):
    raise ImportError("a shared object: failed to map segment")


def find_no_memory_in_the_system(order, answer):
    worker.Collector.work = _maps
    worker.run(order, answer)


def _maps(self, digest):
    raise OSError(errno.ENOMEM, "Cannot allocate memory")


def break_down(order, answer):
    worker.Collector.work = _raises
    worker.run(order, answer)


def _raises(self, digest):
    raise KeyError("something that a person sent")


def fail(order, answer):
    raise RuntimeError("before the work began")

"""What a process of a collector works with: from settings, and whole through a pickle."""

import pickle
from pathlib import Path

from sottovoce.collector.resources import LOCAL, Resources
from sottovoce.engine.parquet import DEFAULT_MEMORY
from sottovoce.engine.stored_path import log_folder
from sottovoce.web.settings import Settings


def test_settings_give_memory_and_logs(tmp_path):
    settings = Settings(tmp_path, memory=1 << 28, logs="s3://bucket/logs")
    assert Resources.of(settings) == Resources(1 << 28, "s3://bucket/logs")
    second = Resources.of(settings, worker=1)
    assert (second.memory, second.worker, second.work_apart) == (1 << 28, 1, None)


def test_without_settings_the_logs_are_in_the_folder(tmp_path):
    assert (LOCAL.memory, LOCAL.work_apart, LOCAL.worker) == (DEFAULT_MEMORY, None, 0)
    assert LOCAL.log_folder(tmp_path) == tmp_path / "sealed"


def test_a_url_is_the_place_of_all_logs():
    folder = Resources(logs="s3://bucket/logs").log_folder(Path("unused"))
    assert folder / "digest" == log_folder("s3://bucket/logs") / "digest"


def test_other_processes_get_the_same():
    given = Resources(1 << 28, "s3://bucket/logs")
    assert pickle.loads(pickle.dumps(given)) == given

"""``sottovoce warm``."""

from sottovoce.engine import warming


def test_it_compiles_the_kernels_and_says_how_long_it_took(run, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    ended = run("warm")
    assert ended.exit_code == 0
    assert ended.output.startswith("compiled in ")
    assert warming.is_warm()

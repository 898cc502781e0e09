"""``sottovoce doctor``: good and bad folders, a server that is not there, nothing changed."""

import json

from cli.collecting import collected, said


def states(content):
    return {finding["subject"]: finding["state"] for finding in content["findings"]}


def test_a_good_folder_has_nothing_wrong(run, tmp_path):
    tmp_path.chmod(0o700)
    collected(tmp_path)
    found = states(said(run("doctor", "--data", tmp_path, "--json")))
    assert found["store"] == found["sottovoce"] == "ok"
    assert "folder" not in found
    assert "wrong" not in found.values()
    assert "can be read and written, 1 tasks" in run("doctor", "--data", tmp_path).stdout


def test_an_open_folder_is_risky_and_says_what_to_do(run, tmp_path):
    tmp_path.chmod(0o755)
    collected(tmp_path)
    shown = run("doctor", "--data", tmp_path).stdout
    assert "warning  folder" in shown
    assert f"-> chmod 700 {tmp_path}" in shown


def test_a_task_that_failed_is_named(run, tmp_path):
    collected(tmp_path, minimum=9)
    run("task", "close", "count", "--data", tmp_path, "--now", "--force")
    found = states(said(run("doctor", "--data", tmp_path, "--json")))
    assert found["task count"] == "warning"


def test_what_is_wrong_ends_with_an_exit_code(run, tmp_path):
    missing = run("doctor", "--data", tmp_path / "nothing", "--json")
    assert missing.exit_code == 1
    assert states(json.loads(missing.stdout))[str(tmp_path / "nothing")] == "wrong"
    empty = run("doctor", "--data", tmp_path)
    assert empty.exit_code == 1
    assert sorted(tmp_path.iterdir()) == []
    nobody = run("doctor", "--url", "http://127.0.0.1:9")
    assert nobody.exit_code == 1
    assert "cannot be reached" in nobody.stdout

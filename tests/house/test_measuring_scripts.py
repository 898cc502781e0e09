"""The pages that measuring scripts write: their rows, what growth is fitted to, and links.

The scripts themselves take minutes to hours; of what they measure only a little is run here.
"""

import importlib
import re
import sqlite3
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sottovoce.lab.experiments.daily_reports import number, table
from sottovoce.wire.envelope import ID_BYTES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SQL_PAGE = DOCS / "evidence" / "sql-speed.md"


@pytest.fixture
def script(monkeypatch):
    """Load a script by its name."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module


def rounds(script, sizes, power=1.0, fixed=0.0):
    """Rows of a task whose seconds grow with a power of the reports, beside a fixed cost."""
    scale = script("scale")
    row = scale.Measured("histogram", 1, 1 << 30, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 1, 1)
    rows = []
    for size in sizes:
        seconds = fixed + 1e-6 * size**power
        times = dict.fromkeys(("seal_seconds", "step_seconds", "answer_seconds"), seconds)
        rows.append(replace(row, reports=size, store_bytes=size, log_bytes=size, **times))
    return rows


def test_growth_is_fitted_to_large_sizes_and_says_to_how_many(script):
    sizes = [10**6, 10**7, 3 * 10**7, 10**8]
    rows = rounds(script, sizes, fixed=30.0)
    page = script("scale").page(rows)
    assert "(from 3 sizes, 10,000,000 to 100,000,000)" in page
    growth = float(re.search(r"grows with the power ([\d.]+)", page)[1])
    all_of_them = script("scale").exponent(rows, script("scale").seconds)
    print(f"slope of three sizes {growth}, of all {all_of_them:.2f}")
    assert all_of_them < growth < 1.0


def test_two_large_sizes_are_not_enough(script):
    page = script("scale").page(rounds(script, [10**6, 10**7, 10**8]))
    assert "(from 3 sizes, 1,000,000 to 100,000,000)" in page
    assert "power 1.00 of the reports" in page


def test_a_row_of_before_has_no_figures_of_the_door(script):
    old, new = rounds(script, [10**6, 10**7])
    page = script("scale").page([old, replace(new, door_peak=512.0, slowest_check=0.0123)])
    rows = table(page, "A histogram")
    assert [row["peak door MiB"] for row in rows] == ["–", "512"]
    assert [row["check ms"] for row in rows] == ["–", "12"]


def test_report_ids_move_when_a_filled_round_is_sealed(script, tmp_path):
    scale = script("scale")
    reports = 2 * scale.SEGMENT + 100
    scale.fill_by_store(tmp_path, "histogram", reports, 1 << 30)
    assert scale.store_size(tmp_path) >= sum(
        path.stat().st_size for path in tmp_path.iterdir() if path.name.startswith("collector.db")
    )
    with closing(sqlite3.connect(tmp_path / "collector.db")) as connection:
        (waiting,) = connection.execute("select sum(length(ids)) from new_ids").fetchone()
        assert waiting == reports * ID_BYTES
        scale.seal(tmp_path, "histogram", reports, 1 << 30)
        assert connection.execute("select count(*) from seen").fetchone() == (reports,)
        assert connection.execute("select count(*) from new_ids").fetchone() == (0,)


def taken(script, workers=0, collectors=0):
    return script("door").Taken(workers, 10, 1000, 2.0, 0.5, 1.0, collectors, 0.5 * collectors)


def test_the_processor_time_of_the_database_counts(script):
    rows = [taken(script), taken(script, workers=1), taken(script, workers=1, collectors=2)]
    page = script("door").page("7347ba3", rows)
    assert "`python scripts/door.py 7347ba3 --database`" in page
    assert [row["reports a processor second"] for row in table(page)] == ["2,000", "2,000"]
    (shared,) = table(page, "On one PostgreSQL")
    assert number(shared["reports a processor second"]) == 667  # 1,000 in 1.5 seconds
    assert number(shared["µs of PostgreSQL a report"]) == 1000
    assert "PostgreSQL" not in script("door").page("7347ba3", rows[:2])


def test_work_that_is_put_off_counts_and_so_does_sealing(script):
    before = taken(script)
    after = replace(taken(script, workers=1), deferred_seconds=0.5, sealing_seconds=1.0)
    after = replace(after, load_seconds=0.7)
    _, row = table(script("door").page("7347ba3", [before, after]))
    assert number(row["reports a processor second"]) == 1000  # in 0.5 + 0.5 seconds
    assert number(row["of that before"]) == 0.5
    assert number(row["and sealed"]) == 500
    assert number(row["of that sealed before"]) == 0.25
    assert number(row["cores used by the collector"]) == 0.25  # 0.5 of 2 seconds
    assert number(row["cores used by collector and load"]) == 0.6


def test_processor_time_is_read_when_it_stands_still(script, monkeypatch):
    door = script("door")
    monkeypatch.setattr(door.time, "sleep", lambda seconds: None)
    rising = iter([1.0, 2.0, 2.5, 2.51, 9.0])
    assert door.settled(lambda: next(rising)) == 2.51
    ever = iter(range(10**6))
    with pytest.raises(SystemExit, match="does not come to rest"):
        door.settled(lambda: next(ever))


def form(page):
    """The queries of a page about the speed of SQL, and whether its ratios are those of its
    seconds.
    """
    rows = table(page)
    consistent = True
    for row in rows:
        if not row["before / now"]:
            continue
        before, now = number(row["before s"]), number(row["now s"])
        consistent &= abs(before / now - number(row["before / now"])) < 0.06 + 0.01 * before / now
    return [row["query"] for row in rows], consistent


@pytest.mark.skipif(not SQL_PAGE.exists(), reason="scripts/sql_before.py has not been run yet")
def test_the_page_about_the_speed_of_sql_has_every_query(script):
    """Write it anew with ``python scripts/sql_before.py 7347ba3``."""
    names = [case.name for case in script("sql_before").CASES.values()]
    text = SQL_PAGE.read_text(encoding="utf-8")
    assert text.startswith("# The speed of SQL, before and after\n")
    assert form(text) == (names, True)
    assert re.search(r"one report of each of [\d,]+ people", text)
    linked = [
        path.name for path in DOCS.glob("*.md") if "evidence/sql-speed.md" in path.read_text()
    ]
    assert linked == ["sql.md"]


def test_a_page_with_a_wrong_ratio_is_noticed(script):
    sql = script("sql_before")
    asked = sql.Asked("or", 8.0), sql.Asked("or", 2.0), sql.Asked("or", 1.0)
    page = sql.page("7347ba3", 1000, [sql.Row("or", *asked)])
    assert form(page) == (["16 conjunctions of 3 ranges in `OR`"], True)
    assert form(page.replace("| 4.0 |", "| 5.0 |")) == (form(page)[0], False)


def test_a_query_that_was_refused_has_a_reason_and_no_ratio(script):
    sql = script("sql_before")
    refused = sql.Asked("or", None, "the condition has too many parts")
    row = sql.Row("or", refused, sql.Asked("or", 2.0), sql.Asked("or", 1.0))
    (line,) = table(sql.page("7347ba3", 1000, [row]))
    assert line["before s"] == "the condition has too many parts"
    assert (line["before / now"], line["now / decode"]) == ("", "2.00")


def test_a_query_for_which_the_decode_is_no_floor_has_empty_cells(script, monkeypatch):
    sql = script("sql_before")
    asked = []

    def noted(tree, what, case, users):
        asked.append((case, what))
        return sql.Asked(case, 2.0)

    monkeypatch.setattr(sql, "asked_apart", noted)
    monkeypatch.setattr(sql, "checked_out", nullcontext)
    rows = list(sql.compare("7347ba3", ["or", "six"], 1000))
    assert {what for case, what in asked if case == "or"} == {"query", "decode"}
    assert {what for case, what in asked if case == "six"} == {"query"}
    conjunctions, six = table(sql.page("7347ba3", 1000, rows))
    assert (conjunctions["decode s"], conjunctions["now / decode"]) == ("2.000", "1.00")
    assert (six["before / now"], six["decode s"], six["now / decode"]) == ("1.0", "", "")


def test_the_memory_of_spark_is_its_heap_and_python(script):
    cluster = script("cluster")
    small = cluster.Answered(10**6, 10**9, 4, 1.0, 100.0, 2.0, 200.0, 900.0, 1.0)
    large = replace(small, reports=10**7, log_bytes=10**10, spark_seconds=20.0)
    page = cluster.page([small, large, replace(small, task="table")])
    first, last = table(page, "A histogram")
    memory = 512 + 200 * 2**20 / 1e6
    assert number(first["log / memory"]) == round(1000 / memory, 1)
    assert number(last["log / memory"]) == round(10_000 / memory, 1)
    assert f"is {10_000 / memory:.1f} times that memory" in page
    assert "grows with the power 1.00" in page
    assert "bit for bit" in page
    (query,) = table(page, "`SELECT COUNT(*)")
    assert query["reports"] == "1,000,000"


def test_numbers_of_a_query_agree_to_nine_digits_and_those_of_a_histogram_bit_for_bit(script):
    cluster = script("cluster")
    given = np.array([1.0, 2e9])
    near, far = given * (1 + 1e-12), given * (1 + 1e-8)
    assert cluster.same("unary", given, given)
    assert not cluster.same("unary", near, given)
    assert cluster.same("table", near, given)
    assert not cluster.same("table", far, given)


def test_devices_have_a_page_only_if_both_trees_make_the_same_bytes(script):
    devices = script("devices_before")
    before, now = (devices.Measured("grr", each, "bytes") for each in (12.0, 1.5))
    (line,) = table(devices.page("7347ba3", [devices.same_bytes(devices.Row(before, now))]))
    assert (line["before µs"], line["now µs"], line["before / now"]) == ("12.0", "1.5", "8.0")
    with pytest.raises(SystemExit, match="grr: the same random streams give different reports"):
        devices.same_bytes(devices.Row(before, replace(now, digest="others")))


def test_a_device_is_measured_in_this_tree(script, monkeypatch):
    devices = script("devices_before")
    monkeypatch.setattr(devices, "COMPARED", 20)
    few = {name: replace(case, answers=10) for name, case in devices.CASES.items()}
    monkeypatch.setattr(devices, "CASES", few)
    for name in few:
        first, again = devices.measure(name), devices.measure(name)
        assert first.digest == again.digest
        assert first.microseconds > 0


def test_the_page_of_deployment_states_no_speeds_of_its_own():
    text = (DOCS / "deployment.md").read_text(encoding="utf-8")
    (speed,) = re.findall(r"^\* \*\*Speed\*\*: (.*)$", text, re.MULTILINE)
    assert "evidence/door.md" in speed
    assert not re.search(r"\d", speed)

"""PEOS between real processes: every report arrives, and bytes are those of the formulas."""

import numpy as np
import pytest
from click.testing import CliRunner

from sottovoce.core.rng import SystemRng
from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.lab.peos.__main__ import main
from sottovoce.lab.peos.configure import ReportShape
from sottovoce.lab.peos.processes import ProcessBatch, run_processes

SHAPE = ReportShape(10, 16, hashed=True)


def check(run, batch, users):
    """Check what arrived, and the bytes of all parties."""
    assert (run.missing, run.extra, run.server.users) == (0, batch.fakes, users)
    width = run.terms.public_key.width
    assert run.bytes_per_user == width + 8 * (batch.shufflers - 1)
    entries = users + batch.fakes
    results = run.shufflers
    shares = sum(result.sent.shares for result in results)
    ciphertexts = sum(result.sent.ciphertexts for result in results)
    assert shares % (8 * entries) == 0
    assert ciphertexts % (width * entries) == 0
    hiders = batch.shufflers // 2 + 1
    assert run.server.received.vectors == entries * (width + 8 * (hiders - 1))
    total_received = sum(result.received.vectors for result in (*results, run.server))
    assert total_received == shares + ciphertexts
    for result in results:
        payloads = result.sent.vectors + result.sent.agreement
        assert payloads < result.wire_bytes < 1.2 * payloads + 20_000
        assert result.cpu_seconds > 0


def test_three_shufflers_and_a_server_as_processes_under_a_small_key():
    batch = ProcessBatch(SHAPE, 3.0, 3, fakes=5, scheme="joye_libert", modulus_bits=1024)
    run = run_processes(batch, np.arange(20) % 10, SystemRng())
    check(run, batch, 20)
    assert run.estimate.shares.shape == (10,)


def test_the_command_prints_what_every_party_did():
    settings = ["--users", "8", "--fakes", "2", "--bits", "1024", "--scheme", "joye_libert"]
    done = CliRunner().invoke(main, settings)
    assert done.exit_code == 0, done.output
    assert "arrived: 8 of 8 reports, 2 fakes" in done.output
    assert "(delta 1e-09), 3 against everybody" in done.output
    assert done.output.count("shuffler ") == 3


def test_a_batch_that_takes_too_long_is_ended():
    batch = ProcessBatch(SHAPE, 3.0, modulus_bits=1024, max_seconds=0.01)
    with pytest.raises(UnavailableError, match=r"not finished after 0\.01 seconds"):
        run_processes(batch, np.arange(5), SystemRng())


@pytest.mark.parametrize(
    ("changed", "name"), [({"shufflers": 4}, "shufflers"), ({"scheme": "none"}, "scheme")]
)
def test_settings_are_checked(changed, name):
    with pytest.raises(ParameterError, match=f"`{name}`"):
        ProcessBatch(SHAPE, 3.0, **changed)

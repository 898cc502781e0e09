"""One party as a process: it listens on loopback alone, and says why it stops."""

import json
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from lab.peos.keys import small_key
from lab.peos.test_run_documents import INVITATION
from sottovoce.lab.peos.frames import Closed, packed_frame
from sottovoce.lab.peos.party import PartyMessage
from sottovoce.lab.peos.run_documents import Assignment, written
from sottovoce.lab.peos.shuffler import TERMS


@pytest.fixture
def shuffler():
    """Start the process of the first shuffler, and end it after the test."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sottovoce.lab.peos.party_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


def tell(process, document):
    process.stdin.write(written(document))
    process.stdin.flush()


def connected(port, token):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(token)
    return connection


def test_a_stranger_is_ignored_and_a_party_with_other_terms_ends_the_run(shuffler):
    tell(shuffler, Assignment(0, False, "joye_libert", 1024))
    opening = json.loads(shuffler.stdout.readline())
    assert opening["public_key"] is None
    with socket.socket() as silent:  # somebody who would be the other parties
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        ports = [opening["port"], *[silent.getsockname()[1]] * 3]
        tell(shuffler, replace(INVITATION, ports=ports))
        with connected(opening["port"], bytes(32)) as stranger:
            assert stranger.recv(1) == b""  # the connection is ended
        with connected(opening["port"], bytes.fromhex(INVITATION.token)) as party:
            party.sendall(packed_frame(Closed()))
            other_terms = replace(INVITATION, fakes=6).terms.packed
            for sender in (1, 2, 3):
                message = PartyMessage(sender, 0, TERMS, 0, other_terms)
                party.sendall(packed_frame(message))
            result = json.loads(shuffler.stdout.readline())
    assert result["error"] == "party 1 has other terms for this batch: fakes"
    assert shuffler.wait(30) == 5
    assert shuffler.stderr.read() == ""


def test_a_line_that_is_no_assignment_is_refused(shuffler):
    shuffler.stdin.write("{}\n")
    shuffler.stdin.flush()
    assert json.loads(shuffler.stdout.readline())["error"] == "this line is no Assignment"


def test_the_private_key_of_a_server_stays_in_its_process(shuffler):
    tell(shuffler, Assignment(3, True, "joye_libert", 1024))
    opening = json.loads(shuffler.stdout.readline())
    assert set(opening["public_key"]) == set(small_key("joye_libert").public.document())

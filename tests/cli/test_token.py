"""``sottovoce token``: issue, list and revoke."""

import pytest

from cli.collecting import said
from collector.running import client, running
from sottovoce.tasks.collection import Collection


@pytest.mark.parametrize("scope", ["operator", "analyst", "enrolment"])
def test_tokens_are_shown_once(run, tmp_path, scope):
    first = run("token", "create", scope, "--data", tmp_path, "--count", 3).stdout.split()
    second = said(run("token", "create", scope, "--data", tmp_path, "--json"))
    assert second["scope"] == scope
    assert len({*first, *second["tokens"]}) == 4
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(token.encode() in kept for token in [*first, *second["tokens"]])


def test_tokens_of_people_are_listed_by_their_hashes(run, tmp_path):
    assert (
        run(
            "token", "create", "analyst", "--data", tmp_path, "--label", "Ada", "--days", 3
        ).exit_code
        == 0
    )
    run("token", "create", "enrolment", "--data", tmp_path, "--count", 5)
    (one,) = said(run("token", "list", "--data", tmp_path, "--json"))["tokens"]
    assert (one["scope"], one["label"]) == ("analyst", "Ada")
    assert one["expires"] is not None
    assert "Ada" in run("token", "list", "--data", tmp_path).stdout


def test_a_token_is_revoked_by_its_id(run, tmp_path):
    run("token", "create", "analyst", "--data", tmp_path, "--count", 2)
    ids = [one["id"] for one in said(run("token", "list", "--data", tmp_path, "--json"))["tokens"]]
    assert said(run("token", "revoke", ids[0], "--data", tmp_path, "--json")) == {"revoked": ids[0]}
    left = [one["id"] for one in said(run("token", "list", "--data", tmp_path, "--json"))["tokens"]]
    assert left == ids[1:]
    assert run("token", "revoke", ids[0], "--data", tmp_path).exit_code == 7
    assert run("token", "revoke", ids[1], "--data", tmp_path).stdout == f"revoked {ids[1]}\n"
    assert run("token", "list", "--data", tmp_path).stdout == "no tokens yet\n"


@pytest.mark.parametrize(
    "wrong", [["session"], ["admin"], ["analyst", "--count", 0], ["analyst", "--days", 0], []]
)
def test_what_cannot_be_issued_is_refused(run, tmp_path, wrong):
    assert run("token", "create", *wrong, "--data", tmp_path).exit_code == 2


def test_a_token_made_or_revoked_beside_a_server_counts_at_once(run, tmp_path):
    with running(tmp_path) as server, client(server) as people:
        (token,) = run("token", "create", "operator", "--data", tmp_path).stdout.split()
        headers = {"authorization": f"Bearer {token}"}
        (line,) = people.get("/v1/tokens", headers=headers).json()["tokens"]
        run("token", "revoke", line["id"], "--data", tmp_path)
        assert people.get("/v1/tokens", headers=headers).status_code == 401
        assert server.stop() == 0


def test_the_issuer_has_one_key_which_task_files_name(run, tmp_path):
    first = run("token", "issuer", "--data", tmp_path / "data").stdout.strip()
    assert said(run("token", "issuer", "--data", tmp_path / "data", "--json")) == {"issuer": first}
    assert len(first) == 456
    assert Collection(issuer=first).issuer == first

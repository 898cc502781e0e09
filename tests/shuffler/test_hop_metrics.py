"""Metrics of a hop: states and sizes of batches, rounded while a round is open."""

from shuffler.hops import USERS, messages_path, people, upload_body
from sottovoce.shuffler.hop_metrics import HopMetrics


def test_metrics_show_states_and_rounded_counts(client, hop, receiver):
    _, sealed = people(receiver, USERS)
    client.post(messages_path(receiver), json=upload_body(sealed[:4]))
    text = client.get("/metrics").text
    assert 'sottovoce_hop_messages{round="0",task="count"} 0.0' in text
    assert 'sottovoce_hop_state{round="0",state="open",task="count"} 1.0' in text
    assert "sottovoce_messages_total{" not in text  # the minute is not over
    client.post(messages_path(receiver), json=upload_body(sealed))
    hop.advance()
    hop.clock.now += 60
    text = client.get("/metrics").text
    assert f'sottovoce_hop_batch{{round="0",task="count"}} {USERS}.0' in text
    assert 'sottovoce_hop_state{round="0",state="erased",task="count"} 1.0' in text
    text = client.get("/metrics").text
    assert 'sottovoce_messages_total{outcome="accepted",task="count"} 10.0' in text
    assert HopMetrics.__doc__

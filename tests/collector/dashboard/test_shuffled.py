"""The page of a shuffled task: hops, keys, batch and canaries, and always all three epsilons."""

from collector.shuffled import Chain, shuffled_for
from sottovoce.collector import batches, canaries


def test_the_page_follows_a_round_from_its_keys_to_its_answer(fresh):
    collector, chain = fresh.api.collector, Chain.of(2)
    task = shuffled_for(collector, chain, users=4)
    fresh.publish(task)
    fresh.enter()
    page = fresh.page("/tasks/mixed")
    rounds = page.one("div", id="rounds").text
    assert "1 of 3 are here" in rounds
    assert "no part has come" in rounds
    assert "Closes when the last hop has delivered the batch." in rounds
    assert "Round 0 is open at the first hop" in page.one("section", id="answer").text
    chain.push(collector, task)
    published = collector.find("mixed")
    canaries.top_up(collector.store, collector.folder, published, 3)
    canaries.send_unsent(collector.store, published, lambda sealed: None)  # a hop that loses all
    for number, body in chain.batch(collector, task, [1, 1, 2, 3, 5]).items():
        batches.receive(collector.store, published, (0, number), body)
    collector.advance()
    page = fresh.page("/tasks/mixed")
    rounds = page.one("div", id="rounds").text
    assert "2 of 2 parts, complete" in rounds
    assert "Canaries are missing." in rounds
    assert "0 of 3 found" in rounds
    for part in (rounds, page.one("section", id="answer").text):
        words = part.lower()
        assert "against the collector alone" in words
        assert "against the collector with all other users" in words
        assert "against everybody" in words

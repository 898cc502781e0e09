"""A device in Chromium, through two real hops, to the answer of a real collector.

Every server is a process of its own; the page loads the built client and does the rest by itself:
document, keys, blind token, seal and message.
"""

from collections import Counter

import pytest

from sottovoce.lab.shuffle_chain import NAME, ChainSettings, answer_all, running_chain
from system.checks import read_log

pytest.importorskip("cryptography", reason="sealing needs the extra `sealed`")

OTHERS = 5
PATIENCE = 120.0  # seconds
ANSWER = """async ({ url, name, value, token }) => {
  const { Device } = await import("/clients/js/dist/browser.js");
  const device = new Device(url, { token, delay: 0 });
  await device.answer(name, value);
  const { waiting } = await device.flush({ force: true }); // it may have left by itself before
  return { waiting, charges: (await device.ledger.entries()).length };
}"""


def test_the_answer_holds_the_report_of_a_page(tabs, tmp_path):
    page = tabs()
    requests = []
    page.on("request", lambda request: requests.append((request.method, request.url)))
    settings = ChainSettings(OTHERS + 1, has_tokens=True)
    with running_chain(tmp_path, settings) as chain:
        reports = answer_all(chain, [0] * OTHERS, processes=1)
        given = {
            "url": chain.collector.url,
            "name": NAME,
            "value": 7,
            "token": chain.enrolment_tokens[-1],
        }
        said = page.evaluate(ANSWER, given)
        answer = chain.answer(PATIENCE)
    assert said == {"waiting": 0, "charges": 1}
    posts = [url for method, url in requests if method == "POST"]
    token_url, message_url = posts
    assert token_url == f"{chain.collector.url}/v1/tasks/{NAME}/tokens"
    assert message_url.startswith(f"{chain.hops[0].url}/v1/tasks/"), "it goes to the first hop"
    assert answer["users"] == OTHERS + 1
    [log] = (chain.folder / "sealed").rglob("*.parquet")
    counted = Counter(read_log(log)["payload"])
    width = len(next(iter(counted)))
    of_page = counted - Counter(report[-width:] for report in reports)
    assert (counted.total(), of_page.total()) == (OTHERS + 1, 1), "one report is the page's"

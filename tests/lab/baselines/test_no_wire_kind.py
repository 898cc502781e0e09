"""Methods of the laboratory can be simulated, and no document can name them."""

import pytest

import sottovoce as sv
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.correlated import Correlated
from sottovoce.lab.baselines.hashed_channels import HashedChannels
from sottovoce.lab.baselines.segment_pairs import SegmentPairs
from sottovoce.wire import codec

PAIR = sv.Marginals({"a": ["no", "yes"], "b": ["no", "yes"]}, users=100, order=1).domain
PLANS = [
    SegmentPairs(sv.Bits(16), 2),
    HashedChannels(sv.Bits(16), 2),
    Correlated(PAIR, 0.5, ((1.0, 0.5), (0.5, 1.0))),
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.kind)
def test_a_collector_refuses_the_document_of_a_laboratory_plan(plan):
    document = codec.document(sv.Task("laboratory", plan, epsilon=4.0))
    with pytest.raises(ParameterError, match="unknown plan kind"):
        codec.task(codec.parse(codec.canonical(document)))

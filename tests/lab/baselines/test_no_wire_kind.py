"""Methods of the laboratory can be simulated, and no document can name them."""

import pytest

import sottovoce as sv
from sottovoce.encodings.base import Encoding
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.alpha_point import AlphaPoint
from sottovoce.lab.baselines.channel_bits import ChannelBits
from sottovoce.lab.baselines.channel_segment import ChannelSegment
from sottovoce.lab.baselines.correlated import Correlated
from sottovoce.lab.baselines.hashed_channels import HashedChannels
from sottovoce.lab.baselines.hcms import HCMS
from sottovoce.lab.baselines.marginals.baseline_marginals import METHODS, BaselineMarginals
from sottovoce.lab.baselines.parities import Parities, Parity
from sottovoce.lab.baselines.product_response import ProductResponse
from sottovoce.lab.baselines.segment_pairs import SegmentPairs
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.families.base import Family
from sottovoce.tasks.plan import Plan
from sottovoce.wire import codec

PAIR = sv.Marginals({"a": ["no", "yes"], "b": ["no", "yes"]}, users=100, order=1).domain
PLANS = [
    SegmentPairs(sv.Bits(16), 2),
    HashedChannels(sv.Bits(16), 2),
    Correlated(PAIR, 0.5, ((1.0, 0.5), (0.5, 1.0))),
    *(BaselineMarginals(PAIR, method, order=1) for method in METHODS),
]
CLASSES = [
    *((Mechanism, baseline) for baseline in (ChannelBits, HCMS, ProductResponse)),
    *((Encoding, baseline) for baseline in (AlphaPoint, ChannelSegment, Parity)),
    (Family, Parities),
    *(
        (Plan, baseline)
        for baseline in (SegmentPairs, HashedChannels, Correlated, BaselineMarginals)
    ),
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: getattr(plan, "method", plan.kind))
def test_a_collector_refuses_the_document_of_a_laboratory_plan(plan):
    document = codec.document(sv.Task("laboratory", plan, epsilon=4.0))
    with pytest.raises(ParameterError, match="unknown plan kind"):
        codec.task(codec.parse(codec.canonical(document)))


@pytest.mark.parametrize(("family", "baseline"), CLASSES, ids=lambda entry: entry.__name__)
def test_no_registry_knows_a_baseline(family, baseline):
    assert baseline.kind
    with pytest.raises(ParameterError, match="unknown"):
        family.kinds[baseline.kind]


def test_the_registries_know_the_kinds_of_the_product():
    """A broken twin of the test above: these are found."""
    assert Mechanism.kinds["grr"].kind == "grr"
    assert Encoding.kinds["view"].kind == "view"
    assert Family.kinds["views"].kind == "views"
    assert Plan.kinds["marginals"] is sv.Marginals

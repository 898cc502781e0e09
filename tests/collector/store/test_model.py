"""A store against a plain model of it, over any sequence of operations."""

from collections import Counter
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.store.offers import MINUTE, bundle_data, bundles, hashed, stored, task, token
from sottovoce.collector.store.base import State
from sottovoce.errors import StateError

EXAMPLES = {"sqlite": 100, "postgres": 20}
NUMBERS = count()
STEPS = {"open": "closing", "closing": "sealing", "sealing": "sealed"}
TOKENS = ("t0", "t1", "t2")


class Model:
    """One task as Python sets; it decides message by message, as the contract reads."""

    def __init__(self):
        self.states, self.seen, self.kept, self.erased = [], [], [], []
        self.users, self.refused, self.arrived = Counter(), Counter(), Counter()
        self.claims, self.tokens = set(), set(TOKENS)
        self.open()

    def open(self):
        self.states.append("open")
        self.seen.append(set())
        self.kept.append([])
        self.erased.append(False)

    def accept(self, offer, now):
        number, messages, epoch = offer
        return [self.one(number, bundle, claim, epoch, now) for bundle, claim in messages]

    def one(self, number, bundle, claim, epoch, now):
        verdict = self.judge(number, bundle, claim, epoch)
        if verdict == "accepted":
            self.seen[number] |= set(bundle)
            self.kept[number].append(bundle_data(bundle))
            self.users[number] += 1
            self.arrived[now - now % 60] += 1
            self.claims.add((epoch, claim))
        elif verdict != "duplicate":
            self.refused[verdict] += 1
        return verdict

    def judge(self, number, bundle, claim, epoch):
        if number >= len(self.states):
            return "too-early"
        if set(bundle) <= self.seen[number]:
            return "duplicate"
        if self.states[number] in ("sealing", "sealed"):
            return "too-late"
        if claim is not None and claim not in self.tokens:
            return "token-unknown"
        if claim is not None and (epoch, claim) in self.claims:
            return "token-spent"
        return "accepted" if len(set(bundle) - self.seen[number]) == len(bundle) else "conflicting"

    def turn(self, number, old):
        if number >= len(self.states) or self.states[number] != old:
            return False
        self.states[number] = STEPS[old]
        if self.states[number] == "sealed":
            self.kept[number] = None
        return True

    def erase(self, number):
        if number >= len(self.states) or self.states[number] != "sealed" or self.erased[number]:
            return False
        self.erased[number], self.seen[number] = True, set()
        return True

    def revoke(self, name):
        known = name in self.tokens
        self.tokens.discard(name)
        return known


class Real:
    """The same operations on a task of a store."""

    def __init__(self, store):
        self.store, self.digest = store, f"task {next(NUMBERS)}"
        store.publish(task(self.digest, self.digest), "round 0")
        store.add_tokens([token(self.secret(name)) for name in TOKENS])

    def secret(self, name):
        return f"{self.digest} {name}"

    def accept(self, offers, now):
        return [
            [str(word) for word in words]
            for words in self.store.accept([self.offer(*one) for one in offers], {}, now)
        ]

    def offer(self, number, messages, epoch):
        tokens = [self.secret(claim) for _, claim in messages] if messages[0][1] else None
        return bundles([bundle for bundle, _ in messages], self.digest, number, tokens, epoch)

    def turn(self, number, old):
        if old == "sealing":
            return self.store.seal(self.digest, number, 0, "", MINUTE)
        return self.store.turn(self.digest, number, State(old), State(STEPS[old]), MINUTE)


names = st.integers(0, 9)


@st.composite
def offers(draw):
    """Few ids, few tokens: most messages meet others."""
    slots, enrolled = draw(st.integers(1, 2)), draw(st.booleans())
    bundle = st.lists(names, min_size=slots, max_size=slots)
    claim = st.sampled_from([*TOKENS, "unknown"]) if enrolled else st.none()
    messages = draw(st.lists(st.tuples(bundle, claim), min_size=1, max_size=6))
    return draw(st.sampled_from([0, 0, 0, 1, 2])), messages, draw(st.integers(0, 1))


operations = st.one_of(
    st.tuples(st.just("accept"), st.lists(offers(), max_size=3), st.integers(0, 200)),
    st.tuples(st.just("accept"), st.lists(offers(), max_size=3), st.integers(0, 200)),
    st.tuples(st.just("turn"), st.sampled_from([0, 0, 1]), st.sampled_from(sorted(STEPS))),
    st.tuples(st.just("erase"), st.integers(0, 1)),
    st.tuples(st.just("revoke"), st.sampled_from(TOKENS)),
    st.tuples(st.just("open")),
)


def both(model, real, operation):
    """Do one thing to both and return what each said."""
    kind, *values = operation
    if kind == "accept":
        now = MINUTE + values[1]
        return [model.accept(offer, now) for offer in values[0]], real.accept(values[0], now)
    if kind == "turn":
        return model.turn(*values), real.turn(*values)
    if kind == "erase":
        return model.erase(*values), real.store.erase(real.digest, *values, MINUTE)
    if kind == "revoke":
        return model.revoke(*values), real.store.revoke(hashed(real.secret(*values)))
    number = len(model.states)
    model.open()
    return True, real.store.open_round(real.digest, number, f"round {number}", MINUTE)


def compare(model, real):
    """Everything that can be asked of the task is the same."""
    rounds = real.store.rounds(real.digest)
    assert [str(one.state) for one in rounds] == model.states
    assert [one.users for one in rounds] == [model.users[number] for number in range(len(rounds))]
    assert [one.erased is not None for one in rounds] == model.erased
    assert real.store.refusals(real.digest) == dict(model.refused)
    assert real.store.arrivals(real.digest, 0) == sorted(model.arrived.items())
    for number, kept in enumerate(model.kept):
        if kept is None:
            with pytest.raises(StateError):
                stored(real.store, real.digest, number)
        else:
            assert stored(real.store, real.digest, number) == sorted(kept)


def test_a_store_does_what_the_model_does(place, store):
    shared = settings(max_examples=EXAMPLES[place.kind], suppress_health_check=list(HealthCheck))

    @shared
    @given(st.lists(operations, min_size=1, max_size=12))
    def run(sequence):
        model, real = Model(), Real(store)
        for operation in sequence:
            expected, given_back = both(model, real, operation)
            assert given_back == expected, operation
        compare(model, real)

    run()

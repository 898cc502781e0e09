"""Shuffled tasks, and hops that seal, mix and deliver with the functions of the wire."""

import sottovoce as sv
from sottovoce.domains.integers import Integers
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.shuffle import Hop, Shuffle
from sottovoce.tasks.task import Task

KEY = "A" * 43
SIZE = 256


def base64url(data):
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(data).rstrip(b"=").decode()


def shuffled(name="mixed", key=KEY, hops=None, users=4, fakes=0, issuer=None, plan=None, **rest):
    """A shuffled task whose reports show the value they hold; it promises nothing but epsilon."""
    hops = hops or (Hop("http://127.0.0.1:9", "C" * 42 + "A"),)
    collection = Collection(**({"minimum": 2, "grace": 0} | rest), issuer=issuer)
    shuffle = Shuffle(tuple(hops), key, users, fakes, 1.0, 1.0, 1e-9)
    plan = plan or sv.Histogram(Integers(0, SIZE - 1), "grr")
    return Task(name, plan, epsilon=1.0, collection=collection, shuffle=shuffle)

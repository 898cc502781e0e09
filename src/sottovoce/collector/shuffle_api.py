"""The handlers of shuffled tasks: round keys, batches and blind tokens.

Hops have no access tokens.  What they send is signed with the keys that the documents pin, so that
a stolen password opens nothing and everybody can check who said what.
"""

import re
from functools import cached_property

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from sottovoce.collector import batches, issuing, key_exchange, key_files, shuffle_wire, wire
from sottovoce.collector.collector import Collector
from sottovoce.collector.key_exchange import SignedKey
from sottovoce.collector.key_files import base64url
from sottovoce.collector.published import Published
from sottovoce.collector.responses import FOR_EVER, JSON, decoded, json_response, kind_of, tagged
from sottovoce.core import settings as validators
from sottovoce.core.settings import base64url as from_base64url
from sottovoce.errors import ParameterError
from sottovoce.web import bodies
from sottovoce.web.limits import RateLimit, address_of
from sottovoce.web.problems import RequestError
from sottovoce.web.settings import Settings
from sottovoce.wire.fake_tokens import FakeTokenRequest
from sottovoce.wire.round_keys import SIGNATURE_BYTES
from sottovoce.wire.seal import KEY_BYTES, MAX_ROUND
from sottovoce.wire.tokens import MODULUS_BYTES, Issuer

_OCTETS = "application/octet-stream"
_SIGNING_PRICE = 50  # as many reports as one signature takes of an address's rate
_NUMBER = re.compile("0|[1-9][0-9]{0,8}")

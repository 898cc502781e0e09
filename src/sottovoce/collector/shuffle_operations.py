"""The operations of shuffled tasks, as rows of the table of operations."""

from typing import Any

from sottovoce.collector import shuffle_wire
from sottovoce.web.operation import Operation, Parameter

NAME = Parameter(
    "name", "path", "The name of the task.", {"type": "string", "minLength": 1, "maxLength": 200}
)
NUMBER = Parameter(
    "number", "path", "The number of a round, from 0.", {"type": "integer", "minimum": 0}
)
_HOP = Parameter(
    "hop", "path", "The number of a hop, from 0.", {"type": "integer", "minimum": 0, "maximum": 7}
)
_PART = Parameter(
    "part", "path", "The number of a part, from 0.", {"type": "integer", "minimum": 0}
)
_BYTES: dict[str, Any] = {"type": "string", "format": "binary"}
_UNCHANGED = (304, "Not modified since the ETag that was sent.")

SHUFFLE_OPERATIONS = (
    Operation(
        "GET",
        "/v1/tasks/{name}/rounds/{number}/keys",
        "get_round_keys",
        "Get the keys of a round, signed one by one and as a set; they never change.",
        shuffle_wire.RoundKeyList,
        parameters=(NAME, NUMBER),
        problems=("not-found", "not-ready"),
        shared=True,
        statuses=(_UNCHANGED,),
    ),
    Operation(
        "PUT",
        "/v1/tasks/{name}/rounds/{number}/keys/{hop}",
        "put_round_key",
        "Push the signed key of a hop for a round; the first valid one stays.",
        None,
        body=shuffle_wire.RoundKeyBody,
        parameters=(NAME, NUMBER, _HOP),
        status=201,
        statuses=((200, "The same key was pushed before."),),
        problems=(
            *("malformed-request", "invalid", "bad-signature", "not-found"),
            *("conflict", "unsupported-media", "unavailable"),
        ),
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}/rounds/{number}/key-set",
        "get_key_set",
        "Get all keys of a round, for the hops to sign as one set; they never change.",
        shuffle_wire.UnsignedKeySet,
        parameters=(NAME, NUMBER),
        problems=("not-found", "not-ready"),
        statuses=(_UNCHANGED,),
    ),
    Operation(
        "PUT",
        "/v1/tasks/{name}/rounds/{number}/key-set/{hop}",
        "put_set_signature",
        "Push the signature of a hop on all keys of a round together.",
        None,
        body=shuffle_wire.SetSignatureBody,
        parameters=(NAME, NUMBER, _HOP),
        status=201,
        statuses=((200, "The signature was pushed before."),),
        problems=(
            *("malformed-request", "invalid", "bad-signature", "not-found"),
            *("not-ready", "unsupported-media", "unavailable"),
        ),
    ),
    Operation(
        "PUT",
        "/v1/tasks/{name}/rounds/{number}/batch/{part}",
        "put_batch_part",
        "Deliver a part of the batch of a round, signed by the last hop; parts are kept once.",
        shuffle_wire.BatchReceipt,
        body=_BYTES,
        types=("application/octet-stream",),
        parameters=(NAME, NUMBER, _PART),
        status=201,
        statuses=((200, ""),),
        problems=(
            *("malformed-request", "bad-signature", "not-found"),
            *("conflict", "unsupported-media", "unavailable"),
        ),
    ),
    Operation(
        "POST",
        "/v1/tasks/{name}/tokens",
        "buy_token",
        "Get a blind signature for an enrolment token: one per task.",
        shuffle_wire.BlindSignature,
        body=shuffle_wire.TokenPurchase,
        parameters=(NAME,),
        problems=(
            *("malformed-request", "invalid", "token-refused", "not-found"),
            *("unsupported-media", "unavailable"),
        ),
        shared=True,
    ),
    Operation(
        "POST",
        "/v1/tasks/{name}/rounds/{number}/fake-tokens/{hop}",
        "buy_fake_tokens",
        "Get blind signatures for the fakes of a hop, which signs the request.",
        shuffle_wire.BlindSignatures,
        body=shuffle_wire.FakeTokensBody,
        parameters=(NAME, NUMBER, _HOP),
        problems=(
            *("malformed-request", "invalid", "bad-signature", "token-refused", "not-found"),
            *("unsupported-media", "unavailable"),
        ),
    ),
)

"""A version of the envelope that only the tests know: its fields are reordered."""

from sottovoce.wire.envelope import ID_BYTES, SLOT, SUBJECT, Field, Version

TOY_VERSION = Version(
    3,
    (
        Field("version", 1, is_number=True),
        Field("digest", 32),
        Field("id", ID_BYTES),
        Field("length", 4, is_number=True),
        Field("flags", 1, is_number=True),
        Field("member", 8, is_number=True),
        Field("round", 2, is_number=True),
        Field("slot", 2, is_number=True, flag=SLOT),
        Field("subject", ID_BYTES, flag=SUBJECT),
    ),
)

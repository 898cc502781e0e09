"""Numbers and times as people read them, with digits that fit the error."""

from datetime import UTC, datetime

from sottovoce.answers import digits

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
THIN = "\u202f"  # before a percent sign, so that a line never breaks there


def count(number: float) -> str:
    """Return a number of people.

    >>> count(1234567.8), count(-12), count(-0.2)
    ('1,234,568', '−12', '0')
    """
    return _signed(f"{number:,.0f}")


def figure(number: float, error: float) -> str:
    """Return a number with two digits of its error.

    >>> figure(41.23456, 0.087), figure(1234.5, 120.0)
    ('41.235', '1,234')
    """
    return _signed(digits.figure(number, error))


def percent(share: float, error: float = 0.01) -> str:
    """Return a share as a percentage: one decimal, two if the error is small, none if it is large.

    >>> percent(0.4321, 0.01), percent(0.4321, 0.0002), percent(-0.02, 0.2)
    ('43.2\u202f%', '43.21\u202f%', '−2\u202f%')
    """
    if error >= 0.1:
        decimals = 0
    elif error >= 0.0005:
        decimals = 1
    else:
        decimals = 2
    return _signed(f"{100 * share:.{decimals}f}") + THIN + "%"


def share(part: float) -> str:
    """Return a share as a percentage with two digits.

    >>> share(0.00123), share(0.05), share(0.204), share(1.0)
    ('0.12\u202f%', '5\u202f%', '20\u202f%', '100\u202f%')
    """
    number = 100 * part
    return (f"{number:.0f}" if number >= 10 else f"{number:.2g}") + THIN + "%"


def level(share: float) -> str:
    """Return a confidence level.

    >>> level(0.95), level(0.999)
    ('95\u202f%', '99.9\u202f%')
    """
    return f"{100 * share:.10g}{THIN}%"


def moment(seconds: float) -> str:
    """Return a time.

    >>> moment(0)
    '1 January 1970, 00:00 UTC'
    """
    when = datetime.fromtimestamp(seconds, UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def machine(seconds: float) -> str:
    """Return a time as programs read it.

    >>> machine(0)
    '1970-01-01T00:00:00Z'
    """
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def clock(seconds: float) -> str:
    """Return the time of day.

    >>> clock(3660)
    '01:01'
    """
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M}"


def lasting(seconds: float) -> str:
    """Return a duration in its largest unit.

    >>> lasting(90), lasting(3600), lasting(200_000)
    ('2 minutes', '1 hour', '2 days')
    """
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), _UNITS[-1])
    return many(round(seconds / size), unit)


def many(number: int, noun: str) -> str:
    """Return a number of things.

    >>> many(1, "user"), many(2000, "user")
    ('1 user', '2,000 users')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def sentence(text: str) -> str:
    """Return a remark with a capital at its beginning and a stop at its end.

    >>> sentence("a body has at most 10 bytes")
    'A body has at most 10 bytes.'
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _signed(text: str) -> str:
    if not any(digit in text for digit in "123456789"):
        return text.removeprefix("-")
    return text.replace("-", "−")

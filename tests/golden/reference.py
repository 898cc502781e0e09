"""A slow, obvious reference for everything that a client and a collector must compute alike in
every language.

It shares no code with sottovoce and uses the standard library only: integers, fractions, decimals,
SHA-256. ``python tests/golden/reference.py [directory]`` writes every file of vectors anew, always
the same bytes.
"""

import hashlib
import hmac
import re
import struct
import sys
from base64 import urlsafe_b64encode
from datetime import datetime, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import islice
from itertools import product as all_of
from math import ceil, floor, nextafter, prod
from pathlib import Path
from unicodedata import normalize

DATE = re.compile(
    r"[1-9][0-9]{3}(-[0-9]{2}(-[0-9]{2}([T ][0-9]{2}(:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?)?)?)?)?"
)
UNIT = 1 << 64
WORD = 1 << 32
HUNDRED = Context(prec=100, rounding=ROUND_HALF_EVEN)


def canonical(content):
    """Write a document the one way there is: keys by code point, no white space, only the escapes
    JSON demands.
    """
    if isinstance(content, dict):
        keys = sorted(content, key=lambda key: [ord(character) for character in key])
        return "{" + ",".join(f"{quoted(key)}:{canonical(content[key])}" for key in keys) + "}"
    if isinstance(content, list):
        return "[" + ",".join(canonical(item) for item in content) + "]"
    if isinstance(content, bool) or content is None:
        return {True: "true", False: "false", None: "null"}[content]
    if isinstance(content, int):
        return str(content)
    return quoted(content)


def quoted(text):
    short = {
        '"': '\\"',
        "\\": "\\\\",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\b": "\\b",
        "\f": "\\f",
    }
    written = ""
    for character in text:
        if character in short:
            written += short[character]
        elif ord(character) < 32:
            written += f"\\u{ord(character):04x}"
        else:
            written += character
    return f'"{written}"'


def fingerprint(content):
    return hashlib.sha256(canonical(content).encode("utf-8")).digest()


def digest_bytes(content):
    return fingerprint(content)[:16]


def digest(content):
    return urlsafe_b64encode(digest_bytes(content)).decode("ascii").rstrip("=")


def whole(number):
    """Write an integer as documents do: from 2^53 on as a string."""
    return number if abs(number) < 1 << 53 else str(number)


def rotated(word, turn):
    return (word << turn | word >> 32 - turn) % WORD


def xxh32(words, seed):
    """Digest 32-bit words, each as four little-endian bytes."""
    prime1, prime2, prime3, prime4, prime5 = (
        2654435761,
        2246822519,
        3266489917,
        668265263,
        374761393,
    )
    stripes = len(words) // 4 * 4
    if stripes:
        lanes = [
            (seed + prime1 + prime2) % WORD,
            (seed + prime2) % WORD,
            seed,
            (seed - prime1) % WORD,
        ]
        for place in range(stripes):
            lane = (lanes[place % 4] + words[place] * prime2) % WORD
            lanes[place % 4] = rotated(lane, 13) * prime1 % WORD
        total = (
            rotated(lanes[0], 1)
            + rotated(lanes[1], 7)
            + rotated(lanes[2], 12)
            + rotated(lanes[3], 18)
        )
    else:
        total = seed + prime5
    total = (total + 4 * len(words)) % WORD
    for word in words[stripes:]:
        total = rotated((total + word * prime3) % WORD, 17) * prime4 % WORD
    total = (total ^ total >> 15) * prime2 % WORD
    total = (total ^ total >> 13) * prime3 % WORD
    return total ^ total >> 16


def bucket(hashed, buckets):
    return hashed * buckets >> 32


def words_of(value, bits):
    """Split a value of a domain with this many bits into 32-bit words, low word first."""
    return [value >> 32 * place & 0xFFFFFFFF for place in range(max(1, -(-bits // 32)))]


def value_of(words):
    return sum(word << 32 * place for place, word in enumerate(words))


def mix(word):
    word ^= word >> 16
    word = word * 0x21F0AAAD % WORD
    word ^= word >> 15
    word = word * 0xD35A2D97 % WORD
    return word ^ word >> 15


def seed_word(seed, index):
    """Return the pseudo-random word number 1, 2, ... of a 64-bit seed."""
    first = mix((seed % WORD + 0x7F4A7C15) % WORD)
    second = mix(((seed >> 32) + first) % WORD)
    return mix((mix((second + index * 0x9E3779B9) % WORD) + first) % WORD)


def affine_map(seed, bits, rank):
    """Return the masks, the offsets as bits of one integer, and how many attempts they took."""
    width = bits // 32 + 1
    masks, offsets, span, attempt = [], 0, {0}, 0
    while len(masks) < rank:
        words = [seed_word(seed, attempt * width + place + 1) for place in range(width)]
        attempt += 1
        mask = value_of(words) % (1 << bits)
        if mask not in span:
            offsets |= (words[-1] >> 31) << len(masks)
            masks.append(mask)
            span |= {other ^ mask for other in span}
    return masks, offsets, attempt


def affine_hash(seed, point, bits, rank):
    masks, offsets, _ = affine_map(seed, bits, rank)
    parities = sum(((mask & point).bit_count() & 1) << place for place, mask in enumerate(masks))
    return parities ^ offsets


def permute(value, bits, groups=()):
    """Return pi(value), each group of bits by itself, least significant group first."""
    result = shift = 0
    for width in groups or (bits,):
        result |= permute_group(value >> shift & (1 << width) - 1, width) << shift
        shift += width
    return result


def permute_group(value, bits):
    if bits == 1:
        return value
    high, low = bits >> 1, bits - (bits >> 1)
    left, right = value >> low, value & (1 << low) - 1
    for turn in range(1, 7):
        if turn % 2:
            left ^= mix((right + turn * 0x9E3779B9) % WORD) >> 32 - high
        else:
            right ^= mix((left + turn * 0x9E3779B9) % WORD) >> 32 - low
    return left << low | right


def exp_bounds(exponent):
    """Return two fractions of a hundred digits with e^exponent between them."""
    power = HUNDRED.exp(HUNDRED.divide(exponent.numerator, exponent.denominator))
    doubt = Fraction(1, 10**90) if exponent else 0
    return Fraction(power) * (1 - doubt), Fraction(power) * (1 + doubt)


def below(chance, exponent):
    """Return the largest threshold that is at most ``chance(e^exponent)``."""
    low, high = (floor(chance(odds) * UNIT) for odds in exp_bounds(exponent))
    assert low == high, "more digits are needed"
    return low


def above(chance, exponent):
    """Return the smallest threshold that is at least ``chance(e^exponent)``."""
    low, high = (ceil(chance(odds) * UNIT) for odds in exp_bounds(exponent))
    assert low == high, "more digits are needed"
    return low


def spends_at_most(ratio, epsilon):
    """Return whether a ratio of chances is at most e^epsilon."""
    low, high = exp_bounds(Fraction(epsilon))
    assert not low <= ratio <= high, "more digits are needed"
    return ratio < low


def keep_among(epsilon, size):
    """Randomised response among ``size`` outcomes."""
    return below(lambda odds: odds / (odds + size - 1), Fraction(epsilon))


def best_theta(epsilon):
    """Minimise (2 a - 1)/(1 + b a^2 - 2 a)^2 over a = e^(epsilon theta/2), b = e^(-epsilon/2), to
    six decimals.
    """
    half = Fraction(epsilon) / 2
    b = Decimal(1) / HUNDRED.exp(HUNDRED.divide(half.numerator, half.denominator))
    root = HUNDRED.sqrt(HUNDRED.add(HUNDRED.subtract(1, b), HUNDRED.multiply(b, b)))
    a = HUNDRED.divide(HUNDRED.add(HUNDRED.add(1, b), root), HUNDRED.multiply(3, b))
    theta = HUNDRED.divide(HUNDRED.ln(a), HUNDRED.divide(half.numerator, half.denominator))
    return repr(float(theta.quantize(Decimal("0.000001"))))


def nearest(chance, exponent):
    """Return the integer nearest to ``chance(e^exponent)``."""
    low, high = (round(chance(odds)) for odds in exp_bounds(exponent))
    assert low == high, "more digits are needed"
    return low


def average_variance(p, q, size):
    return q * (1 - q) / (p - q) ** 2 + (1 - p - q) / ((p - q) * size)


def best_rank(epsilon, size, most=12):
    """Return the k of the least variance averaged over the real cells; ties to the smaller."""
    bits, odds = (size - 1).bit_length(), exp_bounds(Fraction(epsilon))[0]
    found = []
    for rank in range(1, max(1, min(bits - 1, most)) + 1):
        p = odds / (odds + (1 << rank) - 1)
        found.append(
            (average_variance(p, ((1 << bits - rank) - p) / ((1 << bits) - 1), size), rank)
        )
    return min(found)[1]


def best_mechanism(epsilon, size):
    """Return the mechanism of a histogram whose document names none: GRR or affine response."""
    offered = [mechanism("grr", epsilon, size)]
    if size >= 3:
        offered.append(mechanism("affine", epsilon, size))
    return least_variance(offered, size)


def default_mechanism(epsilon, size):
    """Return the mechanism of the rule "least variance": subset selection up to ten bytes, and
    affine response with up to 2^16 buckets, are offered as well.
    """
    offered = [mechanism("grr", epsilon, size)]
    if 3 <= size <= 80:
        offered.append(mechanism("subset", epsilon, size))
    if size >= 3:
        buckets = 1 << best_rank(Fraction(epsilon), size, 16)
        offered.append(mechanism("affine", epsilon, size, buckets=buckets))
    return least_variance(offered, size)


def least_variance(offered, size):
    """Return the mechanism with the least average variance, of equal ones the first."""
    return min(offered, key=lambda document: average_variance(*chances(Settings(document)), size))


def mechanism(kind, epsilon, size, **given):
    """Return the whole document of a mechanism: what was given, and what follows from it."""
    made = {"kind": kind, "epsilon": epsilon, "size": whole(size)} | given
    for name, value in SETTLED[kind](Fraction(epsilon), size, made).items():
        made.setdefault(name, value)
    return made


def settle_sue(epsilon, size, made):
    keep, flip = (
        below(lambda odds: odds / (odds + 1), epsilon / 2),
        above(lambda odds: 1 / (odds + 1), epsilon / 2),
    )
    return {"keep": str(keep), "flip": str(flip), "second_keep": "0", "second_flip": "0"}


def settle_oue(epsilon, size, made):
    return {"keep": str(UNIT // 2), "flip": str(above(lambda odds: 1 / (odds + 1), epsilon))}


def settle_the(epsilon, size, made):
    theta = made.get("theta") or best_theta(epsilon)
    keep = below(lambda root: 1 - 1 / (2 * root), epsilon * (1 - Fraction(theta)) / 2)
    flip = above(lambda root: 1 / (2 * root), epsilon * Fraction(theta) / 2)
    return {"keep": str(keep), "flip": str(flip), "theta": theta}


def settle_olh(epsilon, size, made):
    buckets = made.get("buckets") or min(max(2, nearest(lambda odds: odds + 1, epsilon)), 1 << 20)
    return {"buckets": buckets, "keep": str(keep_among(epsilon, buckets))}


def settle_subset(epsilon, size, made):
    chosen = made.get("chosen") or max(1, nearest(lambda odds: size / (odds + 1), epsilon))
    keep = below(lambda odds: chosen * odds / (chosen * odds + size - chosen), epsilon)
    return {"chosen": chosen, "keep": str(keep)}


def settle_affine(epsilon, size, made):
    buckets = made.get("buckets") or 1 << best_rank(epsilon, size)
    return {"buckets": buckets, "groups": [], "keep": str(keep_among(epsilon, buckets))}


def settle_bloom(epsilon, size, made):
    sizes = {"bits": 128, "hashes": 2, "cohorts": 8} | made
    flip = above(lambda odds: 1 / (odds + 1), epsilon / (2 * sizes["hashes"]))
    return {"bits": 128, "hashes": 2, "cohorts": 8, "flip": str(flip)}


def keep_window(epsilon, window, cells):
    """A report in a window of this many cells, each e^epsilon times as likely as a cell outside."""
    return str(below(lambda odds: window * odds / (window * odds + cells - window), epsilon))


def settle_piecewise(epsilon, size, made):
    cells = made.get("cells", 4096)
    window = made.get("window") or max(1, nearest(lambda root: cells / (root + 1), epsilon / 2))
    return {"keep": keep_window(epsilon, window, cells), "cells": cells, "window": window}


def settle_hybrid(epsilon, size, made):
    """The share of Piecewise is 0 up to where the hybrid's worst case meets Duchi's."""
    alpha = below(lambda root: 1 - 1 / root, epsilon / 2) if epsilon > meeting() else 0
    return {"alpha": str(alpha), "sign": keep_window(epsilon, 1, 2)} | settle_piecewise(
        epsilon, size, made
    )


def meeting():
    """Return ln((2 cbrt(6353 - 405 sqrt 241) + 2 cbrt(6353 + 405 sqrt 241) - 5) / 27), near
    0.609.
    """
    root, third = HUNDRED.multiply(405, HUNDRED.sqrt(Decimal(241))), HUNDRED.divide(1, 3)
    small, large = (HUNDRED.power(HUNDRED.add(6353, term), third) for term in (-root, root))
    return Fraction(
        HUNDRED.ln(
            HUNDRED.divide(HUNDRED.subtract(HUNDRED.multiply(2, HUNDRED.add(small, large)), 5), 27)
        )
    )


def wide_hybrid(epsilon, size, cells=4096):
    """Return the document of the hybrid with the window of the least worst variance, all windows
    tried, and the coin that gives every number the same variance; Duchi's alone if that is better.
    """
    odds = exp_bounds(Fraction(epsilon))[0]
    least, window = best_window(worst_of_mixture, odds, cells)
    if least >= ((odds + 1) / (odds - 1)) ** 2:
        return mechanism("hybrid", epsilon, size, cells=cells)
    alpha = below(lambda odds: piecewise_share(odds, cells, window), Fraction(epsilon))
    return mechanism("hybrid", epsilon, size, cells=cells, window=window, alpha=str(alpha))


def wide_piecewise(epsilon, size, cells=4096):
    """Return the document of Piecewise with the window of the least variance at the ends."""
    window = best_window(variance_at_end, exp_bounds(Fraction(epsilon))[0], cells)[1]
    return mechanism("piecewise", epsilon, size, cells=cells, window=window)


WIDE = {"wide_hybrid": wide_hybrid, "wide_piecewise": wide_piecewise}


@cache
def best_window(variance, odds, cells):
    """Return the least variance of all windows, and its window."""
    return min((variance(odds, cells, window), window) for window in range(1, cells))


def piecewise_share(odds, cells, window):
    return (odds - 1) * window / (cells + (odds - 1) * window)


def variance_at_end(odds, cells, window):
    """Return the variance of the number 1 under Piecewise; its position is whole."""
    travel = cells - window
    outside = 1 / (odds * window + travel)
    all_squares = Fraction(cells * (cells**2 - 1), 3)
    window_squares = window * (travel**2 + Fraction(window**2 - 1, 3))
    mean_square = outside * (all_squares + (odds - 1) * window_squares)
    mean = outside * (odds - 1) * window * travel  # of y = 2 cell - (cells - 1)
    return mean_square / mean**2 - 1


def worst_of_mixture(odds, cells, window):
    """Return the variance of the number 1, whose position is whole, and what rounding adds half way
    between two positions, 1 / travel^2.
    """
    of_duchi = ((odds + 1) / (odds - 1)) ** 2 - 1
    share = piecewise_share(odds, cells, window)
    of_ends = share * variance_at_end(odds, cells, window) + (1 - share) * of_duchi
    return of_ends + Fraction(1, (cells - window) ** 2)


def settle_square_wave(epsilon, size, made):
    """The reach of the continuous law, (e E - e + 1) / (2 e (e - 1 - E)) with e = exp(E), in whole
    buckets.
    """
    reach = made.get("reach")
    if not reach:
        bounds = (
            floor(size * (odds * epsilon - odds + 1) / (2 * odds * (odds - 1 - epsilon)))
            for odds in exp_bounds(epsilon)
        )
        reach, same = bounds
        assert reach == same, "more digits are needed"
    return {"keep": keep_window(epsilon, 2 * reach + 1, size + 2 * reach), "reach": reach}


SETTLED = {
    "grr": lambda epsilon, size, made: {"keep": str(keep_among(epsilon, size))},
    "sue": settle_sue,
    "oue": settle_oue,
    "the": settle_the,
    "blh": lambda epsilon, size, made: {"keep": str(keep_among(epsilon, 2))},
    "olh": settle_olh,
    "rmp": lambda epsilon, size, made: {"rows": 0, "keep": str(keep_among(epsilon, 2))},
    "hadamard": lambda epsilon, size, made: {"keep": str(keep_among(epsilon, 2))},
    "subset": settle_subset,
    "affine": settle_affine,
    "affine_prefix": settle_affine,
    "bloom": settle_bloom,
    "duchi": lambda epsilon, size, made: {"keep": keep_window(epsilon, 1, 2)},
    "piecewise": settle_piecewise,
    "hybrid": settle_hybrid,
    "square_wave": settle_square_wave,
}
UNARY = ("sue", "oue", "the")
HASHED = ("blh", "olh", "rmp")
AFFINE = ("affine", "affine_prefix")
NUMERIC = ("duchi", "piecewise", "hybrid", "square_wave")


class Settings:
    """The numbers of a mechanism's document, and what follows from them."""

    def __init__(self, document):
        self.kind = document["kind"]
        self.epsilon = Fraction(document["epsilon"])
        numbers = (
            "size",
            "keep",
            "flip",
            "second_keep",
            "second_flip",
            "rows",
            "chosen",
            "bits",
            "hashes",
            "cohorts",
        )
        for name in (*numbers, "alpha"):
            setattr(self, name, int(document.get(name, 0)))
        self.buckets = int(document.get("buckets", 2))
        self.groups = document.get("groups", [])
        self.index_bits = (self.size - 1).bit_length()
        self.rank = self.buckets.bit_length() - 1
        self.columns = 1 << self.size.bit_length()
        self.windows = windows(document) if self.kind in NUMERIC else []


class Window:
    """A report is one of ``cells``; the window that most reports fall into starts at one of
    ``travel`` + 1 places.
    """

    def __init__(self, document, keep, cells, width):
        self.size, self.keep, self.cells, self.width = (
            int(document["size"]),
            int(keep),
            cells,
            width,
        )
        self.travel = cells - width
        # The number that the last index stands for: 1, or of buckets the middle of the last one.
        self.end = Fraction(self.size - 1, self.size) if "reach" in document else Fraction(1)

    def ratio(self):
        return Fraction(self.keep * self.travel, (UNIT - self.keep) * self.width)

    def place(self, value):
        """Return where the window of an index starts, and the chance in parts of ``size`` - 1 of
        one cell later.
        """
        return divmod(value * self.travel, self.size - 1)

    def report(self, value, stream):
        """Draw the rounding, the coin, a cell inside and a cell outside; what has one outcome is
        not drawn.
        """
        start, rest = self.place(value)
        if self.travel % (self.size - 1) and stream.integer(self.size - 1) < rest:
            start += 1
        near = stream.bernoulli(self.keep)
        inside = start + (stream.integer(self.width) if self.width > 1 else 0)
        outside = stream.integer(self.travel) if self.travel > 1 else 0
        others = [cell for cell in range(self.cells) if not start <= cell < start + self.width]
        return inside if near else others[outside]

    def chances(self, value):
        """Return the chance of every cell under an index."""
        start, rest = self.place(value)
        near, far = (
            Fraction(self.keep, UNIT * self.width),
            Fraction(UNIT - self.keep, UNIT * self.travel),
        )
        found = [far] * self.cells
        for place, share in ((start, self.size - 1 - rest), (start + 1, rest)):
            for cell in range(place, place + self.width) if share else ():
                found[cell] += (near - far) * Fraction(share, self.size - 1)
        return found

    def numbers(self):
        """Return the number that each cell stands for: its distance from the middle, stretched
        until unbiased.
        """
        stretch = self.stretch()
        return [distance * stretch for distance in self.distances()]

    def distances(self):
        """Return twice the distance of each cell from the middle."""
        return range(1 - self.cells, self.cells, 2)

    def stretch(self):
        """Return what a distance is multiplied by."""
        return self.end / (Fraction(self.keep, UNIT) * self.cells - self.width)


def windows(document):
    """Return the parts of a numeric mechanism: one, or Duchi's and Piecewise of the hybrid."""
    kind, size = document["kind"], int(document["size"])
    if kind == "square_wave":
        reach = document["reach"]
        return [Window(document, document["keep"], size + 2 * reach, 2 * reach + 1)]
    if kind == "duchi":
        return [Window(document, document["keep"], 2, 1)]
    piecewise = Window(document, document["keep"], document["cells"], document["window"])
    return (
        [piecewise]
        if kind == "piecewise"
        else [Window(document, document["sign"], 2, 1), piecewise]
    )


def worst_ratio(document):
    """Return the largest ratio of the chances of one report under two values; above 1 whichever way
    it leans.
    """
    one = Settings(document)
    if one.kind in NUMERIC:  # the coin of the hybrid is public: its two parts do not add up
        used = one.windows[:1] if document.get("alpha") == "0" else one.windows
        return max(max(part.ratio(), 1 / part.ratio()) for part in used)
    if one.kind in UNARY:
        ratio = Fraction(one.keep * (UNIT - one.flip), one.flip * (UNIT - one.keep))
    elif one.kind == "bloom":
        ratio = Fraction(UNIT - one.flip, one.flip) ** (2 * one.hashes)
    elif one.kind == "subset":
        ratio = Fraction(one.keep * (one.size - one.chosen), (UNIT - one.keep) * one.chosen)
    else:
        outcomes = one.size if one.kind == "grr" else one.buckets  # Hadamard response has two signs
        ratio = Fraction(one.keep * (outcomes - 1), UNIT - one.keep)
    return max(ratio, 1 / ratio)


class Stream:
    """Recorded random bytes, read from the front."""

    def __init__(self, data):
        self.data, self.consumed = data, 0

    def take(self, count):
        taken = self.data[self.consumed : self.consumed + count]
        assert len(taken) == count, "the stream is too short"
        self.consumed += count
        return taken

    def word(self):
        return int.from_bytes(self.take(4), "little")

    def long(self):
        return int.from_bytes(self.take(8), "little")

    def bernoulli(self, threshold):
        return self.long() < threshold

    def integers(self, limit, count):
        """Draw ``count`` integers below the limit; the rejected ones are drawn again after all
        others.
        """
        drawn, waiting = [None] * count, list(range(count))
        while waiting:
            for place in waiting:
                drawn[place] = self.attempt(limit)
            waiting = [place for place in waiting if drawn[place] is None]
        return drawn

    def integer(self, limit):
        return self.integers(limit, 1)[0]

    def attempt(self, limit):
        if limit < WORD:
            product = self.word() * limit
            return product // WORD if product % WORD >= WORD % limit else None
        cut = self.long() % (1 << (limit - 1).bit_length())
        return cut if cut < limit else None


def sha_stream(label, count):
    """Return the bytes of SHA-256(label | counter as 4 little-endian bytes), counter = 0, 1, ..."""
    blocks = (
        hashlib.sha256(label.encode() + struct.pack("<I", block)).digest()
        for block in range(-(-count // 32))
    )
    return b"".join(blocks)[:count]


def keyed_stream(secret, context, count):
    """Return the stream of a permanent response."""
    prefix = b"sottovoce/prr/v1" + context
    blocks = (
        hmac.new(secret, prefix + struct.pack("<I", block), "sha256").digest()
        for block in range(-(-count // 32))
    )
    return b"".join(blocks)[:count]


def report(document, value, stream, draw=None):
    """Return the packed report of one user; a draw of 64 bits fixes the seed, if there is one."""
    one = Settings(document)
    if draw is not None and one.kind in SEEDED:
        return REPORTS[one.kind](one, value, stream, draw)
    return REPORTS[one.kind](one, value, stream)


def respond(value, size, keep, stream):
    """Randomised response: whether to be honest, then the lie, which steps over the truth."""
    honest, lie = stream.bernoulli(keep), stream.integer(size - 1)
    others = lie + 1 if lie >= value else lie
    return value if honest else others


def number(value, size):
    """Pack an index below ``size`` into 1, 2, 4 or 8 bytes."""
    return value.to_bytes(next(width for width in (1, 2, 4, 8) if size <= 1 << 8 * width), "little")


def packed(bits):
    """Pack bits, the least significant of each byte first; the padding is 0."""
    whole_row = sum(bool(bit) << place for place, bit in enumerate(bits))
    return whole_row.to_bytes(-(-len(bits) // 8), "little")


def unpacked(row, size):
    return [row[place // 8] >> place % 8 & 1 for place in range(size)]


def report_grr(one, value, stream):
    return number(respond(value, one.size, one.keep, stream), one.size)


def report_unary(one, value, stream):
    return instantaneous(one, permanent_unary(one, value, stream), stream)


def permanent(one, value, stream):
    """Return what a device remembers."""
    made = permanent_bloom if one.kind == "bloom" else permanent_unary
    return made(one, value, stream)


def permanent_unary(one, value, stream):
    """Draw a flip for every bit, the held one too, then one keep that replaces it."""
    bits = [stream.bernoulli(one.flip) for _ in range(one.size)]
    bits[value] = stream.bernoulli(one.keep)
    return packed(bits)


def instantaneous(one, row, stream):
    """Draw every bit of the row anew; the cohort of a Bloom filter stays."""
    if not one.second_keep:
        return row
    cohort, bits = (row[:2], one.bits) if one.kind == "bloom" else (b"", one.size)
    return cohort + packed(
        [
            stream.bernoulli(one.second_keep if bit else one.second_flip)
            for bit in unpacked(row[len(cohort) :], bits)
        ]
    )


def report_hashed(one, value, stream, draw=None):
    if draw is not None:
        seed = draw % (one.rows or 1 << 32)
    else:
        seed = stream.integer(one.rows) if one.rows else stream.word()
    hashed = bucket(xxh32(words_of(value, one.index_bits), seed), one.buckets)
    said = respond(hashed, one.buckets, one.keep, stream)
    width = 1 if one.kind == "rmp" else 2 if one.buckets <= 1 << 16 else 4
    return seed.to_bytes(4, "little") + said.to_bytes(width, "little")


def report_hadamard(one, value, stream):
    row, positive, column = value + 1, stream.bernoulli(one.keep), stream.integer(one.columns)
    if ((row & column).bit_count() % 2 == 0) != positive:
        column ^= row & -row
    return number(column, one.columns)


def report_subset(one, value, stream):
    """Floyd's subset of the values that are not held; if the value is to be held, one of them steps
    aside for it.
    """
    held, aside = stream.bernoulli(one.keep), stream.integer(one.chosen)
    others = [other for other in range(one.size) if other != value]
    picked = []
    for last in range(len(others) - one.chosen, len(others)):
        drawn = others[stream.integer(last + 1)]
        picked.append(others[last] if drawn in picked else drawn)
    if held:
        picked[aside] = value
    return packed([index in picked for index in range(one.size)])


def point(one, value):
    return permute(value, one.index_bits, one.groups) if one.kind == "affine" else value


def report_affine(one, value, stream, draw=None):
    seed = stream.long() if draw is None else draw
    hashed = affine_hash(seed, point(one, value), one.index_bits, one.rank)
    return struct.pack("<QH", seed, respond(hashed, one.buckets, one.keep, stream))


def bloom_filter(one, cohort, value):
    places = {
        bucket(xxh32([value], cohort * one.hashes + turn), one.bits) for turn in range(one.hashes)
    }
    return [place in places for place in range(one.bits)]


def report_bloom(one, value, stream, draw=None):
    return instantaneous(one, permanent_bloom(one, value, stream, draw), stream)


def permanent_bloom(one, value, stream, draw=None):
    """Draw the cohort, unless it is given, then a flip for every bit."""
    cohort = stream.integer(one.cohorts) if draw is None else draw % one.cohorts
    bits = [bit != stream.bernoulli(one.flip) for bit in bloom_filter(one, cohort, value)]
    return struct.pack("<H", cohort) + packed(bits)


def report_window(one, value, stream):
    return number(one.windows[0].report(value, stream), one.windows[0].cells)


def report_hybrid(one, value, stream):
    """Draw the coin, then both reports; the coin says which of them is sent."""
    coin = stream.bernoulli(one.alpha)
    both = [part.report(value, stream) for part in one.windows]
    return struct.pack("<BH", coin, both[coin])


def digits_of(record, sizes):
    """Return the columns of a record; the first changes slowest."""
    found = []
    for size in reversed(sizes):
        record, digit = divmod(record, size)
        found.insert(0, digit)
    return found


def joined(columns, sizes):
    """Return the place of a record in the table of its attributes."""
    return sum(column * prod(sizes[place + 1 :]) for place, column in enumerate(columns))


SEEDED = ("affine", "affine_prefix", "blh", "bloom", "olh", "rmp")
REPORTS = {
    "grr": report_grr,
    **dict.fromkeys(UNARY, report_unary),
    **dict.fromkeys(HASHED, report_hashed),
    "hadamard": report_hadamard,
    "subset": report_subset,
    **dict.fromkeys(AFFINE, report_affine),
    "bloom": report_bloom,
    **dict.fromkeys(("duchi", "piecewise", "square_wave"), report_window),
    "hybrid": report_hybrid,
}


def supports(one, payload, value):
    """Return whether a packed report supports a value."""
    if one.kind in UNARY or one.kind == "subset":
        return bool(payload[value // 8] >> value % 8 & 1)
    if one.kind in HASHED:
        seed, said = int.from_bytes(payload[:4], "little"), int.from_bytes(payload[4:], "little")
        return bucket(xxh32(words_of(value, one.index_bits), seed), one.buckets) == said
    if one.kind in AFFINE:
        seed, said = struct.unpack("<QH", payload)
        return affine_hash(seed, point(one, value), one.index_bits, one.rank) == said
    said = int.from_bytes(payload, "little")
    return said == value if one.kind == "grr" else (said & value + 1).bit_count() % 2 == 0


def chances(one):
    """Return p and q: the chances that a report supports its user's value, and any other."""
    p = Fraction(one.keep, UNIT)
    if one.kind in UNARY:
        return reported(one, one.keep), reported(one, one.flip)
    if one.kind in AFFINE:
        cells = 1 << one.index_bits
        return p, (Fraction(cells, one.buckets) - p) / (cells - 1)
    if one.kind in ("grr", "subset"):
        return p, ((one.chosen or 1) - p) / (one.size - 1)
    return p, Fraction(1, one.buckets)


def reported(one, first):
    """Return the chance to report a bit that is set with this threshold, the instantaneous round
    included.
    """
    if not one.second_keep:
        return Fraction(first, UNIT)
    return Fraction(first * one.second_keep + (UNIT - first) * one.second_flip, UNIT**2)


def estimates(document, payloads, candidates):
    """Return the support counts, the estimated totals and their plug-in variances as fractions."""
    one, users = Settings(document), len(payloads)
    p, q = chances(one)
    counts = [sum(supports(one, payload, value) for payload in payloads) for value in candidates]
    totals = [(count - users * q) / (p - q) for count in counts]
    possible = [min(max(total, 0), users) for total in totals]
    variances = [
        users * q * (1 - q) / (p - q) ** 2 + total * (1 - p - q) / (p - q) for total in possible
    ]
    if one.rows:  # users who drew the same row err together
        pairs = [total * max(total - 1, 0) for total in possible]
        variances = [
            variance + (sum(pairs) - own) / one.rows
            for variance, own in zip(variances, pairs, strict=True)
        ]
    return counts, totals, variances


def outputs_of(document):
    """Return the number that each output stands for: of the hybrid the two signs, then the
    cells.
    """
    parts = Settings(document).windows
    used = parts[:1] if document.get("alpha") == "0" else parts
    return [number for part in used for number in part.numbers()]


def output(document, payload):
    if document["kind"] != "hybrid":
        return int.from_bytes(payload, "little")
    coin, cell = struct.unpack("<BH", payload)
    return 2 * coin + cell


def output_variance(document, value):
    """Return the variance of the number that comes out for an index, from the chance of every
    output.
    """
    one = Settings(document)
    weights = [Fraction(1)]
    if one.kind == "hybrid":
        weights = [1 - Fraction(one.alpha, UNIT), Fraction(one.alpha, UNIT)]
    first = second = 0
    for weight, part in zip(weights, one.windows, strict=True):
        # Cells of one chance together: sums of fractions are dear, those of whole numbers are not.
        totals = {}
        for chance, distance in zip(part.chances(value), part.distances(), strict=True):
            count, linear, square = totals.get(chance, (0, 0, 0))
            totals[chance] = count + 1, linear + distance, square + distance**2
        assert sum(chance * count for chance, (count, _, _) in totals.items()) == 1
        stretch = part.stretch()
        moments = [sum(chance * sums[power] for chance, sums in totals.items()) for power in (1, 2)]
        first += weight * stretch * moments[0]
        second += weight * stretch**2 * moments[1]
    assert first == one.windows[0].end * Fraction(2 * value - one.size + 1, one.size - 1), "biased"
    return second - first**2


def mean(document, payloads):
    """Return counts of the outputs that occur, the mean on the scale of [-1, 1] and its variance.

    The variance is that of the numbers, n - 1 below, or the least of the mechanism's own at the
    first, the middle (size // 2) and the last index if that is larger; over the number of users.
    """
    numbers, said, users = (
        outputs_of(document),
        [output(document, payload) for payload in payloads],
        len(payloads),
    )
    size = int(document["size"])
    centre = sum(numbers[one] for one in said) / users
    spread = sum((numbers[one] - centre) ** 2 for one in said) / (users - 1)
    least = min(output_variance(document, value) for value in (0, size // 2, size - 1))
    return [[one, said.count(one)] for one in sorted(set(said))], centre, max(spread, least) / users


def domain_index(domain, value):
    """Return the index of a double in a domain of numbers, or None if it is refused; double
    arithmetic throughout.
    """
    low, high = float(domain["low"]), float(domain["high"])
    if domain["clamped"] and value == value:
        value = min(max(value, low), high)
    if not low <= value <= high:  # NaN too
        return None
    position = (value - low) / (high - low)
    if domain["kind"] == "numbers":
        return half_to_even(position * (domain["points"] - 1))
    return min(floor(position * domain["count"]), domain["count"] - 1)


def held_index(domain, value):
    """Return the number of a long value or the items of a set, ascending; None if the value is
    refused.
    """
    if domain["kind"] == "bits":
        return value if type(value) is int and 0 <= value < 2 ** domain["bits"] else None
    return (
        text_index(domain, value)
        if domain["kind"] == "strings"
        else set_index(domain["items"], value)
    )


def record_index(domain, record):
    """Return the indices of a record's attributes, in the order of the domain."""
    found = []
    for name, attribute in zip(domain["names"], domain["attributes"], strict=True):
        value = record[name]
        if attribute["kind"] == "integers":
            found.append(int(value) - int(attribute["low"]))
        else:
            found.append(
                len(attribute["labels"]) - 1 if value is None else attribute["labels"].index(value)
            )
    return found


def column_index(kind, value):
    """Return the index of a value in a column, or None if it is refused."""
    if kind["kind"] == "categories":
        if value is None:
            return len(kind["labels"]) - 1 if kind["declinable"] else None
        known = isinstance(value, str) and normalize("NFC", value) in kind["labels"]
        return kind["labels"].index(normalize("NFC", value)) if known else None
    if kind["kind"] == "integers":
        low, high = int(kind["low"]), int(kind["high"])
        return value - low if type(value) is int and low <= value <= high else None
    if kind["kind"] == "dates":
        return date_index(kind, value)
    return domain_index(kind, value) if type(value) in (int, float) else None


def date_index(kind, value):
    """Return how many units after the first one a date is; None if it is refused."""
    length = len(kind["first"])
    low, high, own = (units(text, length) for text in (kind["first"], kind["last"], value))
    return None if own is None or not low <= own <= high else own - low


def units(text, length):
    """Return how many units lie before a date, of the unit whose texts are so long."""
    known = isinstance(text, str) and DATE.fullmatch(text) and len(text) >= length
    if not known:
        return None
    try:
        moment = datetime.fromisoformat(text[:19] + "0000-01-01T00:00:00"[min(len(text), 19) :])
    except ValueError:
        return None
    if length <= 7:
        return moment.year if length == 4 else 12 * moment.year + moment.month
    minutes = (moment - datetime(1, 1, 1)) // timedelta(minutes=1)
    return minutes // {10: 1440, 13: 60, 16: 1}[length]


def table_index(table, value):
    """Return the indices of a record's columns, or of all records of a list; None if something is
    refused.
    """
    if table["kind"] == "lists":
        found = (
            [table_index(table["records"], one) for one in value]
            if isinstance(value, list)
            else [None]
        )
        return None if None in found else found
    if not isinstance(value, dict) or sorted(value) != sorted(table["names"]):
        return None
    found = [
        column_index(kind, value[name])
        for name, kind in zip(table["names"], table["attributes"], strict=True)
    ]
    return None if None in found else found


def services_index(domain, value):
    """Return what somebody holds in every table, and the text of what is public; None if something
    is refused.
    """
    names, seen = domain["names"], domain.get("public", {"names": [], "attributes": []})
    held = {names[0]: value} if len(names) == 1 else value
    if not isinstance(held, dict) or sorted(held) != sorted(names):
        return None
    held, shown = dict(held), {}
    for public, kind in zip(seen["names"], seen["attributes"], strict=True):
        table, column = public.split(".")
        if not isinstance(held[table], dict) or column_index(kind, held[table].get(column)) is None:
            return None
        shown[public] = plain(kind, held[table][column])
        held[table] = {name: one for name, one in held[table].items() if name != column}
    found = [
        table_index(table, held[name]) for name, table in zip(names, domain["tables"], strict=True)
    ]
    return (
        None
        if None in found
        else {"tables": found} | ({"public": canonical(shown)} if shown else {})
    )


def plain(kind, value):
    """Return a public value as its report holds it: a label, a whole number, or a decimal within
    the range.
    """
    if kind["kind"] == "categories":
        return kind["labels"][column_index(kind, value)]
    if kind["kind"] == "dates":
        return value[: len(kind["first"])].replace(" ", "T")
    if kind["kind"] == "integers":
        return value
    ends = float(kind["low"]), float(kind["high"])
    return repr(0.0 + sorted((float(value), *ends))[1])


def text_index(domain, value):
    """Return the bytes of as many whole characters as fit, filled with zeros, as one number; the
    first byte leads.
    """
    if not isinstance(value, str) or any(
        one == "\0" or 0xD800 <= ord(one) <= 0xDFFF for one in value
    ):
        return None
    written, room = b"", domain["length"]
    for character in normalize("NFC", value):
        coded = character.encode("utf-8")
        if len(written) + len(coded) > room:
            if domain["whole"]:
                return None
            break
        written += coded
    return sum(byte * 256 ** (room - 1 - place) for place, byte in enumerate(written))


def set_index(items, value):
    kind = str if items["kind"] == "categories" else int
    if not isinstance(value, list) or any(type(one) is not kind for one in value):
        return None
    if kind is str:
        return sorted(
            {items["labels"].index(normalize("NFC", one)) for one in value if one_of(items, one)}
        )
    return sorted({one - items["low"] for one in value if items["low"] <= one <= items["high"]})


def one_of(items, label):
    return normalize("NFC", label) in items["labels"]


def half_to_even(scaled):
    below_it = floor(scaled)
    rest = Fraction(scaled) - below_it
    return below_it + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below_it % 2 == 1))


def digits(fraction):
    """Write a fraction with seventeen significant digits."""
    return str(Context(prec=17).divide(fraction.numerator, fraction.denominator))


def public_draw(label, secret, place):
    """Return 64 public bits that follow from a device's 16-byte coin."""
    return int.from_bytes(hashlib.sha256(label + secret + place).digest()[:8], "little")


def task_coin(secret, task_digest):
    return public_draw(b"sottovoce/coin/v1", secret, task_digest.encode("ascii"))


def choice_coin(secret, round_number, slot):
    return public_draw(b"sottovoce/choice/v1", secret, struct.pack("<II", round_number, slot))


def pick(weights, coin):
    """Return the member in whose part of the line the coin falls."""
    position, passed = coin * sum(weights) // UNIT, 0
    for member, weight in enumerate(weights):
        passed += weight
        if position < passed:
            return member
    raise AssertionError("a coin is below 2^64")


def enrolled(token, task_digest):
    """Return the 16 bytes that an enrolment token gives a device for a task."""
    text = "sottovoce/enrolment/v1" + token + task_digest
    return hashlib.sha256(text.encode("utf-8")).digest()[:16]


def envelope(fields):
    """Write one envelope; ids and payloads are bytes, optional fields may be absent.

    Version 2 has a digest of 32 bytes, and nothing else is different.
    """
    version = fields.get("version", 1)
    assert len(fields["digest"]) == 16 * version
    subject, slot, public = fields.get("subject"), fields.get("slot"), fields.get("public")
    optional = b"" if subject is None else subject
    optional += b"" if slot is None else struct.pack("<H", slot)
    optional += b"" if public is None else public.encode("utf-8")
    flags = (subject is not None) + 2 * (slot is not None) + 4 * (public is not None)
    tail = fields["digest"] + fields["id"] + optional + fields["payload"]
    return (
        struct.pack("<BBHII", version, flags, fields["round"], 12 + len(tail), fields["member"])
        + tail
    )


def width(ask):
    """Return the payload's bytes in a round: those of its longest report."""
    inner = ask.get("members") or ask.get("parts")
    if isinstance(inner, list):
        return max(width(one) for one in inner)
    asked = inner or ask
    used = asked.get("mechanisms") or [asked["mechanism"]]
    return max(len(report(one, 0, Stream(sha_stream("width", 1 << 14)))) for one in used)


def message(task, asked, secret, value, stream, draw_of=None):
    """Return what a device sends: for every slot a report and then its id, one envelope after
    another.

    A task that declares subjects has 16 bytes drawn before anything else, which stand in every
    envelope, and so does what is public.  ``draw_of`` gives the draw that fixes the seed of a slot.
    """
    found, subject = [], {"subject": stream.take(16)} if "subject" in task["declares"] else {}
    if isinstance(value, dict) and "public" in value:
        subject = subject | {"public": value["public"]}
    for member, slot, question in questions(asked, secret):
        held = encoded(question.get("encoding"), value, stream)
        draw = None if draw_of is None else draw_of(slot)
        payload = report(question["mechanism"], held, stream, draw)
        payload = payload.ljust(width(asked["ask"]), b"\0")
        fields = {
            "digest": digest_bytes(task),
            "round": asked["number"],
            "member": member,
            "payload": payload,
        }
        if slots(asked["ask"]) > 1:
            fields["slot"] = slot
        found.append(envelope(fields | subject | {"id": stream.take(16)}))
    return b"".join(found)


class Memory:
    """The permanent responses of a device to one longitudinal task: for each slot the last used one
    at the end.
    """

    def __init__(self, secret, distinct):
        self.secret, self.distinct, self.kept = secret, distinct, {}

    def response(self, slot, index, drawn):
        """Return the response to an index: the remembered one, or the new one, or beyond the limit
        the last used.
        """
        mine, tag = self.kept.setdefault(slot, []), memo_tag(self.secret, slot, index)
        entry = next((one for one in mine if one[0] == tag), None)
        if entry is None:
            entry = (tag, drawn) if len(mine) < self.distinct else mine[-1]
        self.kept[slot] = [one for one in mine if one != entry] + [entry]
        return entry[1]


def memo_tag(secret, slot, index):
    return hmac.new(
        secret, b"sottovoce/memo/v1" + struct.pack("<HI", slot, index), "sha256"
    ).digest()


def lasting_message(task, asked, coin, memory, value, stream):
    """Return what a device sends in one round of a longitudinal task; ``stream`` is that of its
    operating system.
    """
    found, subject = [], {"subject": stream.take(16)} if "subject" in task["declares"] else {}
    for member, slot, question in questions(asked | {"number": 0}, coin):
        payload = lasting_report(
            digest_bytes(task), (member, slot), question, memory, value, stream
        )
        payload = payload.ljust(width(asked["ask"]), b"\0")
        fields = {
            "digest": digest_bytes(task),
            "round": asked["number"],
            "member": member,
            "payload": payload,
        }
        if slots(asked["ask"]) > 1:
            fields["slot"] = slot
        found.append(envelope(fields | subject | {"id": stream.take(16)}))
    return b"".join(found)


def lasting_report(task_digest, place, question, memory, value, stream):
    context = task_digest + struct.pack("<IH", *place)
    index = encoded(
        question.get("encoding"), value, Stream(keyed_stream(memory.secret, context, 64))
    )
    one = Settings(question["mechanism"])
    keyed = Stream(keyed_stream(memory.secret, context + struct.pack("<I", index), 4096))
    drawn = (
        permanent(one, index, keyed) if one.kind in UNARY else REPORTS[one.kind](one, index, keyed)
    )
    kept = memory.response(place[1], index, drawn)
    return instantaneous(one, kept, stream) if one.kind in UNARY else kept


def encoded(encoding, value, stream):
    if encoding is None:
        return value
    return ENCODINGS[encoding["kind"]](encoding, value, stream)


def segment(encoding, value, stream):
    """Return the number that some of the binary digits spell; the most significant is the first."""
    written = format(value, "b").rjust(encoding["bits"], "0")
    return int(written[encoding["start"] : encoding["start"] + encoding["length"]], 2)


def held_candidates(encoding, value):
    """Return which candidates a set holds whole, by position; without a list of them every item is
    one.
    """
    if not encoding["among"]:
        return value
    return [place for place, one in enumerate(encoding["among"]) if set(one) <= set(value)]


def sample(encoding, value, stream):
    """Draw a place in the padded set, then a dummy, whether it is needed or not."""
    held, length = held_candidates(encoding, value), encoding["length"]
    place, dummy = stream.integer(max(len(held), length)), stream.integer(length)
    return (
        held[place] if place < len(held) else (len(encoding["among"]) or encoding["items"]) + dummy
    )


def view(encoding, value, stream):
    return joined(
        [value[column] for column in encoding["columns"]], [int(size) for size in encoding["sizes"]]
    )


def cell(encoding, value, stream):
    """Return where the intervals of a record's columns, and then its coins, lead to."""
    columns, held = encoding["columns"], value["tables"][encoding["table"]]
    sizes, widths = ([int(one) for one in encoding[name]] for name in ("sizes", "widths"))
    if encoding["most"]:
        place = stream.integer(len(held) or 1)
        invented = [stream.integer(size) for size in sizes]
        counts = int(stream.integer(encoding["most"]) < len(held))
        record = [held[place][column] for column in columns] if held else invented
    else:
        record, counts = [held[column] for column in columns], 0
    ups = {}
    for column in (*encoding["mirrored"], *encoding["rounded"]):
        at = columns.index(column)
        ups[column] = int(stream.integer(sizes[at] - 1) < record[at])
    parts = []
    for column, size, width, one in zip(columns, sizes, widths, record, strict=True):
        if column in encoding["mirrored"] and width:
            one = ceil(Fraction(size, width)) * width + one if ups[column] else size - 1 - one
        parts.append(one // width if width else 0)
    parts += [counts] * encoding["weighted"] + [ups[column] for column in encoding["rounded"]]
    return placed(encoding, parts)


def placed(encoding, parts):
    """Return the number of a cell: digits of a mixed base, or all factors in bits, those with the
    fewest first.
    """
    factors = factors_of(encoding)
    if not encoding["aligned"]:
        return joined(parts, factors)
    spelt = sorted(zip(map(bits_of, factors), parts, strict=True), key=lambda pair: pair[0])
    return int("0" + "".join(format(part, f"0{bits}b") for bits, part in spelt if bits), 2)


def factors_of(encoding):
    """Return how many intervals each column has, then two for every coin."""
    found = []
    for column, size, width in zip(
        encoding["columns"], encoding["sizes"], encoding["widths"], strict=True
    ):
        twice = 2 if column in encoding["mirrored"] else 1
        found.append(ceil(Fraction(int(size), int(width))) * twice if int(width) else 1)
    return found + [2] * (encoding["weighted"] + len(encoding["rounded"]))


def bits_of(factor):
    return len(format(factor - 1, "b")) if factor > 1 else 0


def cells_of(encoding):
    factors = factors_of(encoding)
    return 2 ** sum(map(bits_of, factors)) if encoding["aligned"] else prod(factors)


def bit_groups(encoding):
    """Return the bits of the factors of an aligned cell, the last written first."""
    return (
        sorted((bits for bits in map(bits_of, factors_of(encoding)) if bits), reverse=True)
        * encoding["aligned"]
    )


ENCODINGS = {
    "attribute": lambda encoding, value, stream: value[encoding["column"]],
    "segment": segment,
    "sample": sample,
    "size": lambda encoding, value, stream: len(held_candidates(encoding, value)),
    "holds": lambda encoding, value, stream: int(encoding["item"] in value),
    "view": view,
    "cell": cell,
}


def outputs(encoding):
    """Return how many indices an encoding yields."""
    kind = encoding["kind"]
    if kind == "segment":
        return 2 ** encoding["length"]
    if kind == "holds":
        return 2
    if kind == "cell":
        return cells_of(encoding)
    if kind == "view":
        return prod(int(size) for size in encoding["sizes"])
    return (len(encoding["among"]) or encoding["items"]) + (
        encoding["length"] if kind == "sample" else 1
    )


def end_to_end(question):
    """Return the worst ratio of a question: of direct response after sampling 1 + (ratio -
    1)/length.
    """
    ratio, encoding = worst_ratio(question["mechanism"]), question.get("encoding", {})
    if encoding.get("kind") == "sample" and question["mechanism"]["kind"] == "grr":
        return 1 + (ratio - 1) / encoding["length"]
    return ratio


def keep_sampled(epsilon, size, length):
    """Return the largest threshold of direct response that spends at most epsilon after
    sampling.
    """
    return below(
        lambda odds: (1 + length * (odds - 1)) / (length * (odds - 1) + size), Fraction(epsilon)
    )


def response_epsilon(epsilon, distinct):
    """Return the epsilon of one of several responses: as decimals, all together are no more than
    the task's.
    """
    share = float(epsilon) / distinct
    while Fraction(repr(share)) * distinct > Fraction(epsilon):
        share = nextafter(share, 0)
    return repr(share)


class Book:
    """A device's ledger, in memory: epsilons are exact fractions."""

    def __init__(self, cap, windows):
        self.cap, self.windows = Fraction(cap), windows
        self.charges, self.answered, self.left = {}, set(), set()

    def answer(self, event):
        """Return whether an answer may leave, after entering it."""
        task, number, epsilon = event["task"], event["round"], Fraction(event["epsilon"])
        before = {other for name, other in self.answered if name == task}
        if self.left & {task, None} or number in before or (before and not event["lasting"]):
            return False
        if task not in self.charges:
            now = max([event["time"], *(time for time, _ in self.charges.values())])
            if not self.affordable(epsilon, now):
                return False
            self.charges[task] = (now, epsilon)
        self.answered.add((task, number))
        return True

    def affordable(self, epsilon, now):
        for window in self.windows:
            recent = [
                charged for time, charged in self.charges.values() if time > now - window["seconds"]
            ]
            if len(recent) == window["reports"] or sum(recent) + epsilon > Fraction(
                window["epsilon"]
            ):
                return False
        return self.cap > 0 and self.spent() + epsilon <= self.cap

    def spent(self):
        return sum((charged for _, charged in self.charges.values()), Fraction())


def questions(asked, secret):
    """Return (member, slot, question) for everything that a device is asked in a round."""
    ask, member = asked["ask"], 0
    if ask["kind"] == "choice":
        member = picked_member(ask, secret, asked["number"], 0)
        ask = member_of(ask["members"], member)
    found = []
    for slot, part in enumerate(ask["parts"] if ask["kind"] == "bundle" else [ask]):
        own = member
        if part["kind"] == "choice":
            own = picked_member(part, secret, asked["number"], slot)
            part = member_of(part["members"], own)
        found.append((own, slot, part))
    return found


def picked_member(choice, secret, round_number, slot):
    return pick(weights_of(choice), choice_coin(secret, round_number, slot))


def weights_of(choice):
    members = choice["members"]
    return choice["weights"] or [1] * (
        len(members) if isinstance(members, list) else family_length(members)
    )


def family_length(family):
    if family["kind"] == "layers":
        return sum(1 for _ in layers(family))
    return (
        len(family["columns"])
        if family["kind"] == "views"
        else len(family["among"]) or family["items"]
    )


def member_of(members, place):
    """Return a member of a list, or of a family."""
    if isinstance(members, list):
        return members[place]
    mechanism, encoding = FAMILIES[members["kind"]](members, place)
    return {
        "kind": "question",
        "mechanism": mechanism,
        "epsilon": mechanism["epsilon"],
        "encoding": encoding,
    }


def one_item(family, place):
    item = family["among"][place] if family["among"] else place
    return family["mechanism"], {"kind": "holds", "items": family["items"], "item": item}


def one_view(family, place):
    columns = family["columns"][place]
    sizes = [family["sizes"][column] for column in columns]
    (mechanism,) = (one for one in family["mechanisms"] if one["size"] == prod(sizes))
    return mechanism, {"kind": "view", "columns": columns, "sizes": sizes}


def one_layer(family, place):
    asked = list(layers(family))[place]
    wanted = max(2, cells_of(asked)), bit_groups(asked)
    fits = [one for one in family["mechanisms"] if int(one["size"]) == wanted[0]]
    exact = [one for one in fits if one.get("groups", []) == wanted[1]]
    return (exact or [one for one in fits if not one.get("groups")])[0], asked


FAMILIES = {"each_item": one_item, "views": one_view, "layers": one_layer}


def layers(family):
    """List the cells that layers ask for, but for the first if it is left out."""
    return islice(all_layers(family), family["first"], None)


def all_layers(family):
    """List them all: widths as a number's digits, and after them the coins."""
    rounding, columns = family["rounding"], family["columns"]
    for own in (
        [[column] for column in family["groups"]]
        if rounding in ("one", "mirror")
        else [family["groups"]]
    ):
        mirrored = own if rounding == "mirror" else []
        widths = [
            [0, *some] if column in mirrored else some
            for column, some in zip(columns, family["widths"], strict=True)
        ]
        coins = [] if rounding == "mirror" else [(False, True)] * len(own)
        for chosen in all_of(*widths, *coins):
            rounded = [
                column for column, coin in zip(own, chosen[len(columns) :], strict=False) if coin
            ]
            yield layer(family, list(chosen[: len(columns)]), rounded, mirrored)


def layer(family, widths, rounded, mirrored):
    made = {
        "kind": "cell",
        "aligned": False,
        "widths": widths,
        "rounded": rounded,
        "mirrored": mirrored,
    }
    made |= {name: family[name] for name in ("table", "columns", "sizes", "most")}
    made["weighted"] = family["most"] > 0 and (family["rounding"] == "none" or rounded != [])
    return made | {"aligned": cells_of(made) > 1 << 20}


def slots(ask):
    if ask["kind"] == "choice":
        return (
            max(slots(member) for member in ask["members"])
            if isinstance(ask["members"], list)
            else 1
        )
    return len(ask["parts"]) if ask["kind"] == "bundle" else 1


def main(directory):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from golden import amplification, discovery, marginals, rows, sealing, seeds, shuffled, tables

    rows.write(
        directory,
        discovery.discovery,
        marginals.marginals,
        tables.tables,
        sealing.seal,
        sealing.key_set,
        sealing.tokens,
        shuffled.shuffled,
        amplification.amplification,
        seeds.seeds,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))

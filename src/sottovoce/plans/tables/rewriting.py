"""The question as ordinary SQL over scored reports: joining, filtering, grouping and adding up are the engine's work.

Source: Xu 2020, section 7.
"""

from typing import Any

from sottovoce.plans.tables.planning import Product, Total, Work
from sottovoce.sql.query import Column, Compared, Every, Listed, Opposite, Public


def relation(place: int) -> str:
    """Return the name of a factor's scored reports."""
    return f"factor_{place}"


def rewritten(work: Work, public: dict[str, int], *, single: bool = False) -> Any:
    """Return the statement, as a tree that any dialect prints; ``public`` are the places of public columns.

    With ``single`` everybody is known to have one report in every slot.
    """
    import sqlglot

    return sqlglot.parse_one(_text(work, public, single=single), dialect="duckdb")


def pairs(work: Work) -> list[tuple[int, int]]:
    """Return which products of two totals are added up as well: those of one number of the answer."""
    found = {(one, one) for one in range(len(work.totals))}
    for line in work.lines:
        for cell in line.cells:
            found |= {(min(one, other), max(one, other)) for one in cell.parts for other in cell.parts}
    return sorted(found)


def _text(work: Work, public: dict[str, int], *, single: bool) -> str:
    groups = [f"p{public[column.public]} AS g{at}" for at, column in enumerate(_public_groups(work))]
    numbers = [f"{_sum(total, public)} AS z{at}" for at, total in enumerate(work.totals)]
    asked = sorted(work.scorings)
    sources = [f"f{place}" for place in asked]
    if not asked or _looks(work):
        sources.insert(0, "people")
    joins = "".join(f" JOIN {one} USING (person)" for one in sources[1:])
    among = _condition(work.query.among, public)
    persons = f"z AS (SELECT {', '.join(groups + numbers)} FROM {sources[0]}{joins} WHERE {among})"
    common = ", ".join([*(_factor(work, place, single=single) for place in asked), persons])
    keys = [f"g{at}" for at in range(len(groups))]
    sums = [f"SUM(z{at}) AS t{at}" for at in range(len(work.totals))]
    squares = [f"SUM(z{one} * z{other}) AS m{one}_{other}" for one, other in pairs(work)]
    tail = f" GROUP BY {', '.join(keys)} ORDER BY {', '.join(keys)}" if keys else ""
    return f"WITH {common} SELECT {', '.join([*keys, 'COUNT(*) AS users', *sums, *squares])} FROM z{tail}"


def _public_groups(work: Work) -> list[Column]:
    return [column for column in work.query.group_by if column.public]


def _looks(work: Work) -> bool:
    """Return whether the question looks at a public column."""
    products = [one for total in work.totals for one in total.products]
    used = any(one.times or one.public != Every() for one in products)
    return used or work.query.among != Every() or bool(_public_groups(work))


def _factor(work: Work, place: int, *, single: bool) -> str:
    """Return the scores of a factor added up by person; somebody with more or fewer reports than asked is left out."""
    scoring = work.scorings[place]
    if single and len(scoring.factor.slots) == 1:
        columns = [f"s{at} AS f{place}_{at}" for at in range(len(scoring.targets))]
        return f"f{place} AS (SELECT person, {', '.join(columns)} FROM {relation(place)})"
    sums = [f"SUM(s{at}) AS f{place}_{at}" for at in range(len(scoring.targets))]
    slots = len(scoring.factor.slots)
    grouped = f"GROUP BY person HAVING COUNT(*) = {slots}"
    return f"f{place} AS (SELECT person, {', '.join(sums)} FROM {relation(place)} {grouped})"


def _sum(total: Total, public: dict[str, int]) -> str:
    return " + ".join(_product(one, public) for one in total.products) or "0.0"


def _product(one: Product, public: dict[str, int]) -> str:
    parts = [f"f{place}_{at}" for place, at in one.scores]
    name, _, power = one.times.partition("^")
    parts += [f"p{public[name]}" for _ in range(int(power or 1)) if name]
    if one.weight != 1.0 or not parts:
        parts.insert(0, f"CAST({one.weight!r} AS DOUBLE)")
    text = " * ".join(parts)
    return text if one.public == Every() else f"CASE WHEN {_condition(one.public, public)} THEN {text} ELSE 0.0 END"


def _condition(one: Public, public: dict[str, int]) -> str:
    if isinstance(one, Compared):
        return f"p{public[one.column.public]} {one.sign} {_literal(one.value)}"
    if isinstance(one, Listed):
        return f"p{public[one.column.public]} IN ({', '.join(map(_literal, one.values))})" if one.values else "FALSE"
    if isinstance(one, Opposite):
        return f"NOT ({_condition(one.part, public)})"
    word = " AND " if isinstance(one, Every) else " OR "
    nothing = "TRUE" if isinstance(one, Every) else "FALSE"
    return word.join(f"({_condition(part, public)})" for part in one.parts) or nothing


def _literal(value: str | float) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else f"CAST({float(value)!r} AS DOUBLE)"

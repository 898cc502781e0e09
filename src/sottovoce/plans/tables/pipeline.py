"""A query from text to answer: the passes in their order.

    text --read--> Query --demand--> Demand --weigh--> Candidates --predict--> Predictions
         --select--> QueryPlan --state--> Statements --run--> EngineRows --combine--> Result

Each pass takes one type and the ``Source`` (how people were asked, and their reports), returns one
type, and is documented in the file of its name.  Planning reads no report: EXPLAIN prints the very
plan that the other passes would execute.

Source: Wang 2021, chapter 7; Xu 2020.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sottovoce.plans.tables.combine import combine
from sottovoce.plans.tables.demand import demand
from sottovoce.plans.tables.predict import predict
from sottovoce.plans.tables.result import Result
from sottovoce.plans.tables.run import run
from sottovoce.plans.tables.select import QueryPlan, select
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.state import state
from sottovoce.plans.tables.weigh import weigh
from sottovoce.sql.query import Query


def read(text: str, source: Source) -> Query:
    """Return what a text asks of the tables; the front end of SQL does it."""
    from sottovoce.sql.reading import read as read_query

    return read_query(text, source.layout.tables, source.parameters)


PLANNING = (demand, weigh, predict, select)  # Query -> QueryPlan
ANSWERING = (state, run, combine)  # QueryPlan -> Result
PASSES = (read, *PLANNING, *ANSWERING)


def plan_query(query: Query, source: Source) -> QueryPlan:
    """Return how a query is answered."""
    plan: QueryPlan = _through(PLANNING, query, source)
    return plan


def answer_plan(plan: QueryPlan, source: Source) -> Result:
    """Return the answer to a planned query."""
    result: Result = _through(ANSWERING, plan, source)
    return result


def _through(passes: Sequence[Callable[[Any, Source], Any]], value: Any, source: Source) -> Any:
    for each in passes:
        value = each(value, source)
    return value

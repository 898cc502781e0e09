"""COUNT_IF(condition): how many records meet one more condition."""

from sottovoce.sql.aggregates.count import Count


class CountIf(Count):
    """The number of records that meet the condition in parentheses."""

    sql_names = ("COUNT_IF", "COUNTIF")
    argument = "condition"

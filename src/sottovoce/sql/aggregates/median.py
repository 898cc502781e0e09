"""MEDIAN(column): the value that half of the records do not exceed."""

from sottovoce.sql.aggregates.quantile import Quantile


class Median(Quantile):
    """The value in the middle."""

    sql_names = ("MEDIAN",)
    constant_count = 0

"""Sealed rounds on many machines, with Spark.

from sottovoce.engine import spark

database = spark.answer(task, session, {0: "s3a://lake/orders/round-0"}, {0: seal["checksum"]})
database.sql("SELECT COUNT(*) FROM orders WHERE amount > 100")
"""

from sottovoce.engine.spark.collected import SparkCollected, answer, checksum

__all__ = ["SparkCollected", "answer", "checksum"]

"""What a hop has left in its database and its log after a batch was erased.

Nothing may tell which messages passed, who sent them, in which order, or when, to less than a
minute.
"""

import ipaddress
import sqlite3
import time
from contextlib import closing

DAY = 86_400
MINUTE = 60


def database_values(path):
    """Return every value in every table of a SQLite file."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        tables = connection.execute("select name from sqlite_master where type = 'table'")
        return [
            value
            for (table,) in tables.fetchall()
            for row in connection.execute(f'select * from "{table}"')
            for value in row
        ]


def fragments(message):
    """Return pieces from the beginning, the middle and the end of a message."""
    middle = len(message) // 2
    return message[:32], message[middle - 16 : middle + 16], message[-32:]


def traces(values, written, messages, address):
    """Return what is wrong with the values of a database and the bytes of all files and logs."""
    found = []
    if any(piece in written for message in messages for piece in fragments(message)):
        found.append("a ciphertext is left")
    packed = ipaddress.ip_address(address).packed
    if address.encode() in written or any(
        isinstance(value, bytes) and packed in value for value in values
    ):
        found.append("the address of a device is left")
    now = time.time()
    times = [value for value in values if isinstance(value, int) and abs(value - now) < DAY]
    if any(moment % MINUTE for moment in times):
        found.append("a time finer than a minute is left")
    return found


def has_row_numbers(path, table):
    """Return whether a table numbers its rows, which would tell their order."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            connection.execute(f"select rowid from {table}").fetchall()
        except sqlite3.OperationalError:
            return False
    return True

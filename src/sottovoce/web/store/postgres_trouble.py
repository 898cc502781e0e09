"""Descriptions of PostgreSQL errors: why the server cannot serve, and what its operator can do.

A description depends on the SQLSTATE of an error alone.  The message of the driver or of the server
is not repeated: it may quote an address, a user or a row, and anybody can read the description as
the reason of a 503.  The codes are those of the appendix "PostgreSQL Error Codes" of its manual.
"""

# What is wrong and what to do, by the beginning of the SQLSTATE; of several the longest counts.
_TROUBLES = {
    "53100": "its disk is full; make room for its tables and its journal",
    "53200": "it is out of memory; give it more, or lower its `work_mem`",
    "53": "it is short of resources; look at its log",
    "25006": "it is read-only; name the primary in `database` (SOTTOVOCE_DATABASE), not a standby",
    "25P03": "a transaction stood still for a minute and was ended; look at the load here",
    "40P01": "transactions waited for each other and one was ended; it is tried again",
    "40": "a transaction was ended in favour of another; it is tried again",
    "55P03": "another session has held a lock for 10 seconds; look at its `pg_stat_activity`",
    "57014": "a statement was cancelled; look at its `statement_timeout`",
    "57P": "it was stopped or has crashed; start it, and look at its log",
    "58": "a file of it cannot be read or written; look at its log and at its disk",
    "XX001": "its data are damaged; restore a backup",
    "XX002": "an index of it is damaged; `reindex` it",
    "08": "the connection was lost; look whether it runs and whether the network is up",
}
# The driver tells no SQLSTATE of a server that refuses a connection.
_NO_ANSWER = (
    "it does not answer or refuses connections; look whether it runs, whether the network is up, "
    "and at its log (it may have too many connections, be starting, or refuse the password)"
)


def words_of(sqlstate: str | None) -> str:
    """Return the cause of an error and the remedy; errors of connecting have no SQLSTATE.

    >>> words_of("53100")
    'the database cannot serve: its disk is full; make room for its tables and its journal'
    """
    return f"the database cannot serve: {_trouble(sqlstate)}"


def _trouble(sqlstate: str | None) -> str:
    if not sqlstate:
        return _NO_ANSWER
    for length in range(len(sqlstate), 1, -1):
        if sqlstate[:length] in _TROUBLES:
            return _TROUBLES[sqlstate[:length]]
    return f"look for SQLSTATE {sqlstate} in its log"

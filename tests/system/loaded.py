"""Everything that a collector loads sooner or later, for the process that collectors are forked
from.
"""

from importlib import import_module

for name in (
    "duckdb",
    "numba",
    "psycopg",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.http.httptools_impl",
    "sottovoce.cli.serve",
    "sottovoce.collector.dashboard.pages",
    "sottovoce.collector.run",
    "system.hop_serving",
    "system.serving",
):
    import_module(name)

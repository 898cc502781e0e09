"""The tables of every store of a shuffler, as steps of ``web/store/schema.py``.

The inbox is keyed by the hash of a message and has no row numbers, so that neither the order nor
the time of arrival is kept.  The only time in these tables is the minute in which a round was
learned of.
"""

from sottovoce.web.store.schema import Steps

STEPS: Steps = (
    (
        "create table tasks (key {key}, fingerprint {bytes} not null unique,"
        " document text not null, collector text not null, finished {number} not null default 0)",
        "create table rounds (key {key}, task {bytes} not null references tasks (fingerprint),"
        " number {number} not null, document text not null, state text not null,"
        " opened {number} not null, private_key {bytes}, public_key {bytes} not null,"
        " signature {bytes} not null, key_sent {number} not null default 0,"
        " batch_hash {bytes}, batch_messages {number} not null default 0,"
        " dropped {number} not null default 0, incoming_hash {bytes},"
        " incoming_parts {number} not null default 0, trouble text not null default '',"
        " unique (task, number))",
        "create table inbox (round {number} not null, hash {bytes} not null,"
        " sealed {bytes} not null, primary key (round, hash)) {bare}",
        # What is left of an inbox after its batch was delivered: the beginnings of the hashes.
        "create table seen (round {number} not null, hash {bytes} not null,"
        " primary key (round, hash)) {bare}",
        # Counters have shards, so that nodes which count at once do not queue for one row.
        "create table progress (round {number} not null, shard {number} not null,"
        " messages {number} not null, duplicates {number} not null,"
        " primary key (round, shard)) {bare}",
        # The parts of a batch of the previous hop, until all of them are here.
        "create table parts (round {number} not null, part {number} not null,"
        " hash {bytes} not null, messages {bytes} not null, primary key (round, part)) {bare}",
        # The blind tokens of the fakes: the requests to the issuer, and its answers.
        "create table tokens (round {number} not null, pending {bytes} not null,"
        " token {bytes}, primary key (round, pending)) {bare}",
    ),
    # The one set of keys that this hop has signed for a round: it stays as long as the table.
    # Messages that were taken before were sealed for keys that no hop has compared: they go.
    (
        "alter table rounds add column key_set {bytes}",
        "alter table rounds add column set_signature {bytes}",
        "alter table rounds add column set_sent {number} not null default 0",
        "update rounds set state = 'abandoned', private_key = null,"
        " trouble = 'begun before hops signed all keys' where state in ('open', 'closing')",
        "delete from inbox where round in (select key from rounds where state = 'abandoned')",
    ),
)

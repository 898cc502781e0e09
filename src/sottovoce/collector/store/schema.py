"""The tables of every store of a collector, as steps of ``web/store/schema.py``."""

from sottovoce.web.store.schema import Steps

STEPS: Steps = (
    (
        "create table tasks (key {key}, digest text not null unique, name text not null unique,"
        " document text not null, created {number} not null, finished {number},"
        " failure text not null default '')",
        "create table rounds (key {key}, task text not null references tasks (digest),"
        " number {number} not null, document text not null, state text not null,"
        " opened {number} not null, changed {number} not null,"
        " count {number} not null default 0, checksum text not null default '', erased {number},"
        " unique (task, number))",
        # Counters have shards, so that nodes which count at once do not queue for one row.
        "create table progress (round {number} not null, shard {number} not null,"
        " users {number} not null, primary key (round, shard)) {bare}",
        "create table seen (round {number} not null, id {bytes} not null,"
        " primary key (round, id)) {bare}",
        "create table segments (key {key}, round {number} not null, data {bytes} not null)",
        "create index segments_of_round on segments (round, key)",
        # Apart from the reports, and without an order of arrival: who has answered, never what.
        "create table claims (task text not null, epoch {number} not null, hash {bytes} not null,"
        " primary key (task, epoch, hash)) {bare}",
        "create table tokens (hash {bytes} primary key, scope text not null, label text not null,"
        " created {number} not null, expires {number}) {bare}",
        "create table refusals (task text not null, code text not null, shard {number} not null,"
        " messages {number} not null, primary key (task, code, shard)) {bare}",
        "create table arrivals (task text not null, minute {number} not null,"
        " shard {number} not null, messages {number} not null,"
        " primary key (task, minute, shard)) {bare}",
    ),
    ("alter table tasks add column trouble text not null default ''",),
    (
        "create table round_keys (round {number} not null, hop {number} not null,"
        " public_key {bytes} not null, signature {bytes} not null, private_key {bytes},"
        " primary key (round, hop)) {bare}",
        "create table batches (round {number} primary key, parts {number} not null,"
        " hash {bytes} not null, complete {number} not null default 0,"
        " messages {number} not null default 0, unopened {number} not null default 0,"
        " duplicates {number} not null default 0)",
        "create table parts (key {key}, round {number} not null, part {number} not null,"
        " hash {bytes} not null, data {bytes}, unique (round, part))",
        "create table canaries (round {number} not null, id {bytes} not null, sealed {bytes},"
        " found {number} not null default 0, primary key (round, id)) {bare}",
        # A blinded number says nothing about the token that it becomes: only that one was issued.
        "create table issued (task text not null, token {bytes} not null, blinded {bytes} not null,"
        " primary key (task, token)) {bare}",
        "create table issued_fakes (round {number} not null, hop {number} not null,"
        " blinded {bytes} not null, primary key (round, hop, blinded)) {bare}",
    ),
    (
        # What every hop has signed: all keys of a round together.
        "create table set_signatures (round {number} not null, hop {number} not null,"
        " signature {bytes} not null, primary key (round, hop)) {bare}",
    ),
    (
        # Of the embedded store, while a round is not sealed: a row of sorted ids for every call,
        # and which files (``id_runs.py``) hold those of the rows up to a key.
        "create table new_ids (key {key}, round {number} not null, ids {bytes} not null)",
        "create index new_ids_of_round on new_ids (round, key)",
        "create table id_runs (name text primary key, round {number} not null,"
        " last_key {number} not null, ids {number} not null) {bare}",
    ),
)

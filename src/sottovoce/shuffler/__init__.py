"""The shuffler: a service that mixes the messages of a round and hands them on."""

"""The refusal to close a round with too few users, which whoever closes it may overrule."""

from sottovoce.errors import StateError


class TooFewUsersError(StateError):
    """Closed now, the task fails for ever: wait for more users, or close the round by force."""

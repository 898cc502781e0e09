"""Values that nobody may look at."""


class Untouchable:
    """A value that raises whatever anybody does with it."""

    def __getattribute__(self, name):
        raise AssertionError("the value was looked at")

    def _refuse(self, *_):
        raise AssertionError("the value was looked at")

    __len__ = __iter__ = __hash__ = __eq__ = __bool__ = __int__ = __float__ = __index__ = _refuse
    __str__ = __repr__ = __getitem__ = __contains__ = __array__ = _refuse


def watched_value(touches):
    """Return a value that raises like an untouchable one, and notes what was tried with it.

    Whoever catches the error has looked all the same.
    """

    class Watched:
        def __getattribute__(self, name):
            touches.append(name)
            raise AssertionError("the value was looked at")

        def _refuse(self, *_):
            touches.append("an operator")
            raise AssertionError("the value was looked at")

        __len__ = __iter__ = __hash__ = __eq__ = __bool__ = __int__ = __float__ = _refuse
        __index__ = __str__ = __repr__ = __getitem__ = __contains__ = __array__ = _refuse

    return Watched()

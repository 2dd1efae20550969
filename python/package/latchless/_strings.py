"""The names of earlier versions for an `Index` whose keys are strings."""

from latchless._index import Index


class StringIndex(Index):
    """An `Index` whose keys are `str`: the name of earlier versions for `Index(key_dtype=str)`.

    Examples
    --------
    >>> from latchless import StringIndex
    >>> index = StringIndex(["cat", "ant", "bee"], [3, 1, 2])
    >>> index["bee"], list(index)
    (2, ['ant', 'bee', 'cat'])
    >>> titles = StringIndex(value_dtype=str)
    >>> titles["https://example.org/"] = "Example Domain"
    >>> titles.prefix("https://")
    (['https://example.org/'], ['Example Domain'])
    """

    key_type = str


class BytesIndex(Index):
    r"""An `Index` whose keys are `bytes`: the name of earlier versions for `Index(key_dtype=bytes)`.

    Examples
    --------
    >>> from latchless import BytesIndex
    >>> index = BytesIndex([b"\xff", b"\x00a"], [1.5, 2.5])
    >>> index.ceiling(b"a")
    (b'\xff', 1.5)
    """

    key_type = bytes

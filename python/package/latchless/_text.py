"""Values that are strings: their type, and columns of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from latchless._dtypes import listed
from latchless._keys import string_column
from latchless._latchless import StringColumn

_ARROW_TEXTS = {"str", "string", "large_string", "string_view", "utf8"}
_ARROW_BYTES = {"binary", "large_binary", "binary_view"}


@dataclass(frozen=True)
class Texts:
    """The description of values that are `str` or `bytes`: in place of the `Column` of a dtype."""

    dtype: type
    zone: None = None

    @property
    def name(self) -> str:
        """The type's name."""
        return self.dtype.__name__

    def told(self) -> tuple[str, str, None, None]:
        """The compiled part's description."""
        return self.name, self.name, None, None

    def to_words(self, data: Any) -> StringColumn:
        """The column of an array-like."""
        return string_column(self.dtype, data, "values")

    def from_words(self, column: StringColumn) -> list[Any]:
        """The objects of a column."""
        return column.tolist()

    def shown(self, column: StringColumn) -> StringColumn:
        """A column as methods take it."""
        return column

    def missing(self) -> Any:
        """The value to insert where there is no default: the empty string."""
        return self.dtype()

    def missing_word(self, value: Any = None) -> Any:
        """The answer of a batch for an absent key: None, or another object."""
        return value


def text_type(values: Any, given: Any) -> type | None:
    """`str` or `bytes`: the requested type, or else the one that values have."""
    if given is not None:
        return _of_dtype(given, any_width=False)
    if isinstance(values, StringColumn):
        return str if values.text else bytes
    if isinstance(values, (str, bytes)):
        return _of_object(values)
    if isinstance(values, (list, tuple)):
        return _of_object(values[0]) if len(values) > 0 else None
    dtype: Any = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        found = _of_dtype(dtype)
        objects = found is None and dtype.kind == "O" and np.ndim(values) == 1 and len(values) > 0
        return _of_object(np.asarray(values)[0]) if objects else found
    name = str(getattr(values, "type", dtype)).lower()
    if name in _ARROW_TEXTS:
        return str
    return bytes if name in _ARROW_BYTES or name.startswith("fixed_size_binary") else None


def _of_object(value: Any) -> type | None:
    return next((kind for kind in (str, bytes) if isinstance(value, kind)), None)


def _of_dtype(dtype: Any, any_width: bool = True) -> type | None:
    try:
        found = np.dtype(dtype)
    except TypeError:
        return None
    # A dtype of strings of one width is none of these.
    fits = any_width or found.itemsize == 0 or found.kind == "T"
    return {"U": str, "T": str, "S": bytes}.get(found.kind) if fits else None


def one_or_many_texts(values: Any) -> tuple[Any, bool]:
    """Values as an array-like, and whether they are one value for all keys: a string is."""
    values = listed(values)
    scalar = isinstance(values, (str, bytes, bytearray, memoryview)) or not hasattr(values, "__len__")
    return ([values] if scalar else values), scalar

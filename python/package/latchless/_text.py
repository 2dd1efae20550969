"""Keys and values that are strings: their type, and columns of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchless._asked import Array
from latchless._dtypes import (
    Column,
    Dtype,
    Duplicates,
    again,
    checked_duplicates,
    columns,
    columns_of_a_file,
    dtype_of,
    listed,
    one_or_many,
    resolved,
)
from latchless._keys import string_column
from latchless._latchless import StringColumn

KeyDtype = Dtype | type[str] | type[bytes] | tuple[Dtype | type[str] | type[bytes], ...]
"""What the type of keys is given as."""
ValueDtype = Dtype | type[str] | type[bytes] | Mapping[str, Dtype]
"""What the type of values is given as."""

_TYPES: dict[str, type] = {"str": str, "bytes": bytes}
_ARROW_TEXTS = {"str", "string", "large_string", "string_view", "utf8"}
_ARROW_BYTES = {"binary", "large_binary", "binary_view"}


@dataclass(frozen=True)
class Texts:
    """The description of keys or values that are `str` or `bytes`: in place of the `Column` of a dtype."""

    dtype: type
    is_key: bool = False
    zone: None = None

    @property
    def name(self) -> str:
        """The type's name."""
        return self.dtype.__name__

    @property
    def label(self) -> str:
        """The type as a constructor takes it."""
        return self.name

    @property
    def pickled(self) -> type:
        """The type as pickles have it."""
        return self.dtype

    @property
    def what(self) -> str:
        """Its name in errors."""
        return "keys" if self.is_key else "values"

    @property
    def answers(self) -> np.dtype[Any]:
        """The dtype of an array of answers."""
        return np.dtype(object)

    @property
    def part_count(self) -> int:
        """How many arrays `parts` gives."""
        return 2

    def told(self) -> tuple[str, str, None, None]:
        """The compiled part's description."""
        return self.name, self.name, None, None

    def to_words(self, data: Any) -> StringColumn:
        """The column of an array-like."""
        return string_column(self.dtype, data, self.what)

    def words_or_asked(self, data: Any) -> StringColumn:
        """As `to_words`: what isn't a string has no order among strings."""
        return self.to_words(data)

    def asked(self, data: Any) -> None:
        """Nothing: what isn't a string has no order among strings."""

    def one_or_many(self, values: Any) -> tuple[Any, bool]:
        """Values as an array-like, and whether they are one value for all keys."""
        return one_or_many_texts(values)

    def kept(self, column: StringColumn, duplicates: Duplicates) -> NDArray[np.int64] | None:
        """Where those of equal keys are that are inserted; None where the index itself keeps the last of them."""
        if checked_duplicates(duplicates) == "last":
            return None
        kept, twice = column.distinct()
        if twice is not None and duplicates == "raise":
            raise ValueError(again(column.take(np.array([twice])).tolist()[0], twice))
        return None if twice is None else kept

    def take(self, column: StringColumn, positions: NDArray[np.int64]) -> StringColumn:
        """Those at some positions."""
        return column.take(positions)

    def parts(self, column: StringColumn) -> tuple[Array, ...]:
        """A column as arrays that pickles pass on without a copy."""
        return column.buffers()

    def whole(self, parts: Sequence[Array]) -> StringColumn:
        """The column of such arrays."""
        offsets, strings = parts
        return StringColumn.of_buffers(self.dtype is str, offsets.tobytes(), strings.tobytes(), not self.is_key)

    def plain(self, column: StringColumn) -> StringColumn:
        """The column itself."""
        return column

    def to_load(self, column: Any) -> Any:
        """Copies of an index's values, as another index takes them."""
        return column

    def from_words(self, column: StringColumn | Array | list[Any]) -> list[Any]:
        """The objects of a column."""
        return column if isinstance(column, list) else column.tolist()

    def shown(self, column: StringColumn) -> StringColumn:
        """A column as methods take it."""
        return column

    def missing(self) -> Any:
        """The value to insert where there is no default: the empty string."""
        return self.dtype()

    def sum_of_none(self) -> Any:
        """Nothing: strings have no sum."""
        raise TypeError(f"values that are {self.label} have no sum")

    def missing_word(self, value: Any = None) -> Any:
        """The answer of a batch where there is none: None, or another object."""
        return value


def described(keys: Any, key_dtype: Any, values: Any, value_dtype: Any) -> tuple[Column | Texts, Column | Texts]:
    """The types of keys and values: those that are given, or else those that they have."""
    from latchless._rows import rows_of
    from latchless._tuples import tuples_of

    rows = rows_of(values, value_dtype)
    if rows is not None:
        return described_keys(keys, key_dtype), rows
    tuples = tuples_of(keys, key_dtype)
    if tuples is not None:
        return tuples, values_beside_texts(text_type(values, value_dtype), values, value_dtype)
    key, value = text_type(keys, key_dtype), text_type(values, value_dtype)
    if key is None and value is None:
        return columns(dtype_of(keys, key_dtype), _dtype_of_values(values, value_dtype))
    if key is None:
        assert value is not None
        # Keys of a dtype are stored as strings of eight bytes.
        return columns(dtype_of(keys, key_dtype), np.int64)[0], Texts(value)
    return Texts(key, True), values_beside_texts(value, values, value_dtype)


def described_keys(keys: Any, key_dtype: Any) -> Column | Texts:
    """The type of keys alone: the one that is given, or else the one that they have. See `described`."""
    return described(keys, key_dtype, None, bytes)[0]


def values_beside_texts(text: type | None, values: Any, value_dtype: Any) -> Column | Texts:
    """The type of values whose keys are strings: they are words of 64 bits, as beside keys of 64 bits."""
    if text is not None:
        return Texts(text)
    return columns(np.int64, _dtype_of_values(values, value_dtype))[1]


def _dtype_of_values(values: Any, given: Any) -> Any:
    return dtype_of(None if values is None else one_or_many(values)[0], given)


def described_in_a_file(
    what: str, names: tuple[str, str], zones_known: bool, given: tuple[Any, Any]
) -> tuple[Column | Texts, Column | Texts]:
    """The types that a file or a directory has, if they are those that are given."""
    from latchless._rows import rows_of

    if names[1].startswith("{"):
        rows = rows_of(None, names[1])
        assert rows is not None
        if given[1] is not None and rows_of(None, given[1]) != rows:
            raise ValueError(f"{what} has values of type {names[1]}, not {_shown(given[1])}")
        return described_in_a_file(what, (names[0], "bytes"), zones_known, (given[0], None))[0], rows
    if names[0].startswith("("):
        key = described_keys(None, names[0])
        if given[0] is not None and described_keys(None, given[0]) != key:
            raise ValueError(f"{what} has keys of type {names[0]}, not {_shown(given[0])}")
        return key, described_in_a_file(what, ("bytes", names[1]), zones_known, (None, given[1]))[1]
    asked = [text_type(None, dtype) for dtype in given]
    for which, name, text, dtype in zip(("keys", "values"), names, asked, given, strict=True):
        if dtype is not None and (_TYPES.get(name) is not text or isinstance(dtype, tuple)):
            raise ValueError(f"{what} has {which} of type {name}, not {_shown(dtype)}")
    text, value = (_TYPES.get(name) for name in names)
    if text is None:
        if value is None:
            return columns_of_a_file(what, names, zones_known, given)
        return columns_of_a_file(what, (names[0], "int64"), zones_known, (given[0], None))[0], Texts(value)
    its = values_beside_texts(value, None, names[1])
    if isinstance(its, Column) and given[1] is not None and resolved(given[1]) != (its.dtype, its.zone):
        raise ValueError(f"{what} has values of dtype {its.name}, not {given[1]}")
    return Texts(text, True), its


def _shown(dtype: Any) -> str:
    """A dtype or a type as users write it."""
    if isinstance(dtype, tuple):
        return f"({', '.join(map(_shown, dtype))})"
    return dtype.__name__ if isinstance(dtype, type) else str(dtype)


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

"""Values that are rows of several columns: the bytes of a structured dtype, all of one width."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from latchless._asked import Array
from latchless._dtypes import Column, columns, dtype_of, listed, one_or_many, resolved
from latchless._latchless import StringColumn
from latchless._text import Texts, text_type

WIDTH_MAX = 192
"""The most bytes of a row: so many are stored beside a key."""


@dataclass(frozen=True)
class Rows(Texts):
    """The description of values that are rows, in place of the `Column` of a dtype."""

    dtype: Any = None

    @staticmethod
    def of(dtypes: Mapping[str, Any]) -> Rows:
        """The description of rows of these columns."""
        plain = []
        for name, given in dtypes.items():
            if not isinstance(name, str) or not name:
                raise TypeError(f"the names of columns are str, not {name!r}")
            if text_type(None, given) is not None or isinstance(given, tuple):
                raise TypeError(f"column {name!r}: columns of rows are numbers, bools or times, not {given}")
            dtype, zone = resolved(given)
            if zone is not None:
                raise TypeError(f"column {name!r}: times in rows have no zone, but these have {zone}")
            plain.append((name, dtype))
        if not plain:
            raise ValueError("rows have at least one column")
        packed = np.dtype(plain)
        if packed.itemsize > WIDTH_MAX:
            raise ValueError(f"a row has at most {WIDTH_MAX} bytes, not {packed.itemsize}: keep row numbers")
        return Rows(dtype=packed)

    @cached_property
    def fields(self) -> dict[str, Column]:
        """The descriptions of the columns."""
        return {name: columns(np.int64, self.dtype[name])[1] for name in self.dtype.names}

    @property
    def name(self) -> str:
        """The columns and their dtypes, as files have them."""
        return json.dumps({name: str(self.dtype[name]) for name in self.dtype.names}, ensure_ascii=False)

    @property
    def label(self) -> str:
        """The type as a constructor takes it."""
        return str({name: str(self.dtype[name]) for name in self.dtype.names})

    @property
    def pickled(self) -> Any:
        """The type as pickles have it."""
        return self.name

    @property
    def answers(self) -> np.dtype[Any]:
        """The dtype of an array of answers."""
        its: np.dtype[Any] = self.dtype
        return its

    @property
    def part_count(self) -> int:
        """How many arrays `parts` gives."""
        return 1

    def told(self) -> Any:
        """The compiled part's description."""
        return f"V{self.dtype.itemsize}", self.name, (self.encoded, self.decoded), self.dtype

    # ---- single rows ----

    def encoded(self, row: Any) -> bytes:
        """The bytes of a row: of an array's element, a tuple, or a mapping."""
        if isinstance(row, (np.void, np.ndarray)) and row.dtype == self.dtype and row.ndim == 0:
            return row.tobytes()
        if not self._is_one(row):
            raise TypeError(f"a value is a tuple or a mapping of {self.label}, not of type {type(row).__name__}")
        return self.to_array([row]).tobytes()

    def decoded(self, row: bytes) -> Any:
        """The row of these bytes."""
        return np.frombuffer(row, self.dtype)[0]

    def _is_one(self, values: Any) -> bool:
        if isinstance(values, Mapping):
            return all(one_or_many(its)[1] for its in values.values())
        return isinstance(values, (np.void, tuple)) or (isinstance(values, np.ndarray) and values.ndim == 0)

    # ---- columns ----

    def to_words(self, data: Any) -> StringColumn:
        """The column of rows."""
        if isinstance(data, StringColumn):
            return data
        return StringColumn.of_rows(self.to_array(data).tobytes(), self.dtype.itemsize)

    def to_array(self, data: Any) -> Array:
        """Rows as an array of the dtype, with every element exactly as it was.

        They are such an array, a mapping of columns, a frame, or a list of tuples or mappings.
        """
        if isinstance(data, np.ndarray) and data.dtype == self.dtype and data.ndim == 1:
            return data
        given = self._columns(data)
        its, count = {}, 1
        for name, field in self.fields.items():
            values, scalar = field.one_or_many(given[name])
            try:
                array = field.to_array(values)
            except (TypeError, ValueError, OverflowError) as error:
                if type(error) in (TypeError, ValueError, OverflowError):
                    raise type(error)(f"column {name!r} of the values: {error}") from None
                raise
            its[name] = array[0] if scalar else array
            count = count if scalar else len(array)
        unequal = {name: len(array) for name, array in its.items() if np.ndim(array) and len(array) != count}
        if unequal:
            raise ValueError(f"the columns of the values aren't of one length: {count}, but {unequal}")
        rows = np.empty(count, self.dtype)
        for name, array in its.items():
            rows[name] = array
        return rows

    def _columns(self, data: Any) -> Mapping[str, Any]:
        """The columns of rows, by their names."""
        names = _names_of(data)
        if names is None:
            return self._columns_of_list(list(data))
        if set(names) != set(self.fields):
            raise ValueError(f"values are rows of the columns {self.label}, not of {list(names)}")
        return {name: data[name] for name in names}

    def _columns_of_list(self, rows: list[Any]) -> Mapping[str, Any]:
        width, whole = len(self.fields), []
        for at, row in enumerate(rows):
            if isinstance(row, (Mapping, np.void)):
                self._columns(row)
                whole.append([row[name] for name in self.fields])
                continue
            if not isinstance(row, tuple):
                raise TypeError(
                    f"values are rows of {self.label}, but that at position {at} is of type {type(row).__name__}"
                )
            if len(row) != width:
                raise ValueError(f"a row has {width} columns, {self.label}, not {len(row)} as at position {at}")
            whole.append(list(row))
        return {name: [row[at] for row in whole] for at, name in enumerate(self.fields)}

    def one_or_many(self, values: Any) -> tuple[Any, bool]:
        """Values as an array-like, and whether they are one row for all keys."""
        values = listed(values)
        return ([values], True) if self._is_one(values) else (values, False)

    def to_load(self, column: Any) -> StringColumn:
        """Copies of an index's values, as another index takes them."""
        return self.to_words(column)

    def from_words(self, column: Any) -> Any:
        """The array of rows."""
        return column

    def parts(self, column: Any) -> tuple[Array, ...]:
        """An array of rows as one that pickles pass on without a copy."""
        return (np.ascontiguousarray(column).view(np.uint8),)

    def whole(self, parts: Sequence[Array]) -> StringColumn:
        """The column of such an array."""
        return StringColumn.of_rows(parts[0].tobytes(), self.dtype.itemsize)

    def missing(self) -> Any:
        """The filler for missing rows: NaN, NaT, False or 0 in each column."""
        filler = np.empty((), self.dtype)
        for name, field in self.fields.items():
            filler[name] = field.missing()
        return filler[()]

    def missing_word(self, value: Any = None) -> Any:
        """The answer of a batch where there is none: a row."""
        return self.missing() if value is None else self.to_array([value])[0]


def rows_of(values: Any, given: Any) -> Rows | None:
    """The type of values that are rows: the requested one, or the one that they have. None for other values."""
    if isinstance(given, str):
        return Rows.of(json.loads(given)) if given.startswith("{") else None
    if isinstance(given, list):
        given = np.dtype(given)
    if isinstance(given, np.dtype) and given.names is not None:
        given = {name: given[name] for name in given.names}
    if given is not None:
        return Rows.of(given) if isinstance(given, Mapping) else None
    names = _names_of(values)
    if names is None:
        return None
    return Rows.of({name: _dtype_of(name, values[name]) for name in names})


def _names_of(values: Any) -> list[str] | None:
    """The names of the columns of a mapping, a frame, or an array or an element of a structured dtype."""
    if isinstance(values, Mapping):
        return list(values)
    if isinstance(values, (np.ndarray, np.void)):
        return None if values.dtype.names is None else list(values.dtype.names)
    if hasattr(values, "columns") and hasattr(values, "__getitem__"):  # Of pandas and Polars.
        return list(getattr(values, "column_names", values.columns))
    return None


def _dtype_of(name: str, column: Any) -> Any:
    its = one_or_many(column)[0]
    text = text_type(its, None)
    if text is not None:
        raise TypeError(f"column {name!r}: columns of rows are numbers, bools or times, not {text.__name__}")
    return dtype_of(its, None)

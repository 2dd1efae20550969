"""What copies and pickles of an index are made of."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from latchless._dtypes import Array
from latchless._latchless import StringColumn

if TYPE_CHECKING:
    from latchless._index import Index
    from latchless._multi import MultiIndex
    from latchless._strings import BytesIndex, StringIndex


def pyarrow() -> Any:
    """The module, or ImportError that says how to get it."""
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        raise ImportError("this needs pyarrow: pip install latchless[arrow]") from None


def restored(
    cls: type[Index], key_dtype: np.dtype[Any], value_dtype: np.dtype[Any], keys: Array, values: Array
) -> Index:
    """The index with these ascending entries, times as integers."""
    keys, values = (
        column.view(dtype) if dtype.kind in "Mm" else column
        for column, dtype in ((keys, key_dtype), (values, value_dtype))
    )
    return cls(keys, values, key_dtype=key_dtype, value_dtype=value_dtype, assume_sorted=True)


def restored_strings(
    cls: type[StringIndex] | type[BytesIndex],
    value_dtype: np.dtype[Any] | type,
    offsets: Array,
    keys: Array,
    *values: Array,
) -> StringIndex | BytesIndex:
    """The index whose ascending keys lie between these offsets of one array of bytes, with these values.

    Values that are strings are given as keys are.
    """
    beside: Any
    if isinstance(value_dtype, type):
        first, strings = values
        beside = StringColumn.of_buffers(value_dtype is str, first.tobytes(), strings.tobytes(), True)
    else:
        (beside,) = values
        beside = beside.view(value_dtype) if value_dtype.kind in "Mm" else beside
    column = StringColumn.of_buffers(cls.key_type is str, offsets.tobytes(), keys.tobytes())
    return cls(column, beside, value_dtype=value_dtype, assume_sorted=True)


def restored_rows(cls: type[MultiIndex], key_dtype: Any, offsets: Array, keys: Array, rows: Array) -> MultiIndex:
    """The index with these ascending pairs, whose keys lie between these offsets of one array of bytes."""
    column = StringColumn.of_buffers(key_dtype is str, offsets.tobytes(), keys.tobytes())
    return cls._restored(key_dtype, column, rows)


def picklable(column: Array) -> Array:
    """The column as an array that pickles pass on without a copy: NumPy doesn't do that with times."""
    return column.view(np.int64) if column.dtype.kind in "Mm" else column


def equal(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    """Whether columns are the same, one by one."""
    return all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))

"""Strings of any array-like as a column of keys or values. Other elements are refused, with their position."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from latchless._asked import Array
from latchless._dtypes import decoded
from latchless._latchless import StringColumn


def string_column(kind: type, data: Any, what: str) -> StringColumn:
    """A column of keys or values of `str` or of `bytes`.

    Lists and arrays of objects are read object by object, columns of Arrow's (of pyarrow, polars, pandas,
    duckdb) and NumPy's arrays of cells without making any. Raises TypeError for elements of another type,
    ValueError for nulls, lone surrogates, and another number of dimensions.
    """
    text, value = kind is str, what == "values"
    if isinstance(data, StringColumn):
        return data
    data = decoded(data)
    if isinstance(data, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"{what} are a list or an array of {kind.__name__}, not {type(data).__name__} itself")
    if isinstance(data, np.ma.MaskedArray):
        if np.ma.is_masked(data):
            raise ValueError(f"{what} must not be masked")
        data = data.data
    elif hasattr(data, "isna") and hasattr(data, "dtype"):
        data = _of_pandas(data, what)
    if isinstance(data, (list, tuple)):
        return StringColumn(text, data, value)
    if isinstance(data, np.ndarray):
        return _of_array(text, data, what)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return StringColumn.of_arrow(text, data, value)
    if hasattr(data, "__array__") or not isinstance(data, Iterable):
        return _of_array(text, np.asarray(data), what)
    return StringColumn(text, list(data), value)


def _of_pandas(data: Any, what: str) -> Any:
    """A column or an index of pandas as something that has no nulls."""
    nulls = np.asarray(data.isna())
    if nulls.any():
        raise ValueError(f"{what} must not be null, but the {what[:-1]} at position {int(nulls.argmax())} is")
    by_arrow = getattr(data.dtype, "storage", None) == "pyarrow" and hasattr(data, "__arrow_c_stream__")
    return data if by_arrow else np.asarray(data)


def _of_array(text: bool, array: Array, what: str) -> StringColumn:
    value = what == "values"
    if array.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional, not of shape {array.shape}")
    if array.dtype.kind == ("U" if text else "S"):
        cells = array.astype(array.dtype.newbyteorder("="), copy=False)
        return StringColumn.of_cells(text, cells.tobytes(), cells.dtype.itemsize, len(cells), value)
    if array.dtype.kind in "OT":  # Objects, and strings of any length.
        return StringColumn(text, array.tolist(), value)
    raise TypeError(f"{what} are {'str' if text else 'bytes'}, but the array is of dtype {array.dtype}")

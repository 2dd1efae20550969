"""Strings of any array-like as a column of keys. What is no key is refused, with its position."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from latchless._dtypes import Array
from latchless._latchless import KeyColumn


def key_column(key_type: type, data: Any) -> KeyColumn:
    """A column of keys of `str` or of `bytes`.

    Lists and arrays of objects are read object by object, columns of Arrow's (of pyarrow, polars, pandas,
    duckdb) and NumPy's arrays of cells without making any. Raises TypeError for elements of another type,
    ValueError for nulls, lone surrogates, and another number of dimensions.
    """
    text = key_type is str
    if isinstance(data, KeyColumn):
        return data
    if isinstance(data, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"keys are a list or an array of {key_type.__name__}, not {type(data).__name__} itself")
    if isinstance(data, np.ma.MaskedArray):
        if np.ma.is_masked(data):
            raise ValueError("keys must not be masked")
        data = data.data
    elif hasattr(data, "isna") and hasattr(data, "dtype"):
        data = _of_pandas(data)
    if isinstance(data, (list, tuple)):
        return KeyColumn(text, data)
    if isinstance(data, np.ndarray):
        return _of_array(text, data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return KeyColumn.of_arrow(text, data)
    if hasattr(data, "__array__") or not isinstance(data, Iterable):
        return _of_array(text, np.asarray(data))
    return KeyColumn(text, list(data))


def _of_pandas(data: Any) -> Any:
    """A column or an index of pandas as something that has no nulls."""
    nulls = np.asarray(data.isna())
    if nulls.any():
        raise ValueError(f"keys must not be null, but the key at position {int(nulls.argmax())} is")
    by_arrow = getattr(data.dtype, "storage", None) == "pyarrow" and hasattr(data, "__arrow_c_stream__")
    return data if by_arrow else np.asarray(data)


def _of_array(text: bool, array: Array) -> KeyColumn:
    if array.ndim != 1:
        raise ValueError(f"keys must be one-dimensional, not of shape {array.shape}")
    if array.dtype.kind == ("U" if text else "S"):
        cells = array.astype(array.dtype.newbyteorder("="), copy=False)
        return KeyColumn.of_cells(text, cells.tobytes(), cells.dtype.itemsize, len(cells))
    if array.dtype.kind in "OT":  # Objects, and strings of any length.
        return KeyColumn(text, array.tolist())
    raise TypeError(f"keys are {'str' if text else 'bytes'}, but the array is of dtype {array.dtype}")

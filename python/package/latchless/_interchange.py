"""What copies and pickles of an index are made of."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from latchless._dtypes import Array

if TYPE_CHECKING:
    from latchless._index import Index


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


def picklable(column: Array) -> Array:
    """The column as an array that pickles pass on without a copy: NumPy doesn't do that with times."""
    return column.view(np.int64) if column.dtype.kind in "Mm" else column

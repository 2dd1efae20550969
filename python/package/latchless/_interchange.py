"""Entries from and to Arrow and pickles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from latchless._dtypes import Array

if TYPE_CHECKING:
    from latchless._index import Index


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError("this needs pyarrow: pip install latchless[arrow]") from None
    return pyarrow


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


def to_arrow(keys: Array, values: Array) -> Any:
    """A table of two columns."""
    pyarrow = _pyarrow()
    return pyarrow.table({"key": pyarrow.array(keys), "value": pyarrow.array(values)})


def from_arrow(data: Any, key: int | str, value: int | str) -> tuple[Array, Array]:
    """Two columns of a table as arrays."""
    pyarrow = _pyarrow()
    table = data if isinstance(data, pyarrow.Table) else pyarrow.table(data)

    def column(name: int | str, what: str) -> Array:
        found = table.column(name)
        if found.null_count:
            raise ValueError(f"the {what} must not be null, but {found.null_count} are in column {name!r}")
        array: Array = found.combine_chunks().to_numpy(zero_copy_only=False)
        return array

    return column(key, "keys"), column(value, "values")

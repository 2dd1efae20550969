"""Entries from and to Arrow, files and pickles."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from latchless._dtypes import Array

if TYPE_CHECKING:
    from latchless._index import Index

_ROWS = 1 << 20


def _pyarrow() -> Any:
    try:
        import pyarrow  # noqa: PLC0415 (only this needs it)
    except ImportError:
        raise ImportError("this needs pyarrow: pip install latchless[arrow]") from None
    return pyarrow


def restored(
    cls: type[Index], key_dtype: np.dtype[Any], value_dtype: np.dtype[Any], keys: Array, values: Array
) -> Index:
    """The index with these ascending entries."""
    return cls(keys, values, key_dtype=key_dtype, value_dtype=value_dtype, assume_sorted=True)


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


def _checksum(keys: Array, values: Array) -> int:
    return zlib.crc32(values.tobytes(), zlib.crc32(keys.tobytes()))


def save(path: str | os.PathLike[str], keys: Array, values: Array) -> None:
    """Write entries to a file beside the path, sync it, and rename it."""
    pyarrow = _pyarrow()
    table = to_arrow(keys, values)
    told = {"latchless.version": "1", "latchless.len": str(len(keys))}
    told["latchless.crc32"] = str(_checksum(keys, values))
    table = table.replace_schema_metadata(told)
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") as file:
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=_ROWS)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def load(path: str | os.PathLike[str]) -> tuple[Array, Array]:
    """The entries of a file that `save` has written."""
    pyarrow = _pyarrow()
    try:
        with Path(path).open("rb") as file:
            table = pyarrow.ipc.open_file(file).read_all()
        table.validate(full=True)
        told = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{os.fspath(path)} isn't a whole Arrow file: {error}") from error
    if told.get("latchless.version") != "1" or table.column_names != ["key", "value"]:
        raise ValueError(f"{os.fspath(path)} wasn't written by Index.save; Index.from_arrow reads other tables")
    keys, values = from_arrow(table, 0, 1)
    if told.get("latchless.len") != str(len(keys)) or told.get("latchless.crc32") != str(_checksum(keys, values)):
        raise ValueError(f"{os.fspath(path)} was changed: its checksum doesn't match")
    return keys, values

"""Shards from Parquet files or another dataset of Arrow's, by tasks of Ray.

A task for each fragment of the dataset, usually a file, distributes its rows to the shards; then a task for each
shard makes a durable index of its rows.
"""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from latchless._asked import Array
from latchless._durable import DurableIndex
from latchless._interchange import pyarrow
from latchless._latchless import StringColumn, read_arrow
from latchless.ray import _map
from latchless.ray._route import route

_SAMPLED = 65_536
"""Keys that the borders are chosen by."""
_ROWS = 1 << 20
"""Rows that are dealt out at a time."""


def _columns(batch: Any, key: int, value: int) -> tuple[Array, Array]:
    """Two columns as arrays. Shards keep no zones, and don't take times that have one for others."""
    keys, values = read_arrow(batch, key, value)
    if isinstance(keys, StringColumn) or isinstance(values, StringColumn):
        what = "keys" if isinstance(keys, StringColumn) else "values"
        raise TypeError(f"{what} of a ShardedIndex can't be made from a column of strings")
    if isinstance(keys, tuple) or isinstance(values, tuple):
        raise TypeError(
            "a ShardedIndex has times without a zone alone: cast the column to a timestamp without one"
        )
    return keys, values


def dataset_of(source: Any) -> Any:
    """A dataset: the one that is given, or that of one or more Parquet files."""
    pyarrow()
    from pyarrow import dataset

    if isinstance(source, dataset.Dataset):
        return source
    paths = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    if not paths:
        raise ValueError("there is no file to build from")
    return dataset.dataset([os.path.abspath(path) for path in paths], format="parquet")


def portable(ray: Any, fragment: Any, schema: Any, names: list[str]) -> Any:
    """A fragment as what a task can be given: of files where they are, of anything else its rows."""
    from pyarrow import dataset

    if isinstance(fragment, dataset.FileFragment):
        return fragment
    return ray.put(fragment.to_table(schema=schema, columns=names))


def columns_of(schema: Any, key: int | str, value: int | str) -> list[str]:
    """The names of two columns."""
    names = []
    for column in (key, value):
        if isinstance(column, str) and column not in schema.names:
            raise KeyError(f"there is no column {column!r}, only {', '.join(schema.names)}")
        names.append(column if isinstance(column, str) else schema.names[column])
    return names


def batches(part: Any, schema: Any, names: list[str]) -> Any:
    """Columns of a file, or of a table in Ray's memory, a batch at a time."""
    if isinstance(part, pyarrow().Table):
        return part.select(names).to_batches(max_chunksize=_ROWS)
    return part.to_batches(schema=schema, columns=names, batch_size=_ROWS)


def sample(part: Any, schema: Any, column: str, share: float) -> Array:
    """A share of a fragment's keys, drawn at random."""
    rng, drawn = np.random.default_rng(0), []
    for batch in batches(part, schema, [column]):
        if len(batch):
            count = min(len(batch), int(np.ceil(share * len(batch))))
            keys, _ = _columns(batch, 0, 0)
            drawn.append(rng.choice(keys, count, replace=False))
    return np.concatenate(drawn) if drawn else _columns(schema.empty_table().select([column]), 0, 0)[0]


def deal(part: Any, schema: Any, names: list[str], lows: Array, folders: list[str], number: int) -> int:
    """Deals the rows of a fragment out to the shards, and returns how many they were."""
    from pyarrow import parquet

    writers: dict[int, Any] = {}
    rows = 0
    try:
        for batch in batches(part, schema, names):
            keys, _ = _columns(batch, 0, 1)
            rows += len(keys)
            for shard, positions, _ in route(lows, keys):
                if shard not in writers:
                    path = Path(folders[shard]) / f"part-{number:06}.parquet"
                    writers[shard] = parquet.ParquetWriter(path, batch.schema, compression="none")
                if isinstance(positions, slice):
                    writers[shard].write_batch(batch.slice(positions.start, positions.stop - positions.start))
                else:
                    writers[shard].write_batch(batch.take(pyarrow().array(positions)))
    finally:
        for writer in writers.values():
            writer.close()
    return rows


def load(parts: str, folder: str, dtypes: tuple[str, str]) -> int:
    """Makes the durable index of a shard from what it was dealt, and returns how many entries it has."""
    from pyarrow import parquet

    keys, values = [np.empty(0, dtypes[0])], [np.empty(0, dtypes[1])]
    # In the order of the fragments: of equal keys the last one stays.
    for path in sorted(Path(parts).iterdir()):
        table = parquet.ParquetFile(path).read()
        its_keys, its_values = _columns(table, 0, 1)
        keys.append(its_keys)
        values.append(its_values)
        del table
    # A try of this task before, whose process died.
    shutil.rmtree(folder, ignore_errors=True)
    with DurableIndex(
        folder,
        np.concatenate(keys),
        np.concatenate(values),
        key_dtype=dtypes[0],
        value_dtype=dtypes[1],
        sync="never",
        fenced=True,
    ) as index:
        return len(index)


def borders(sampled: Array, shards: int) -> Array:
    """Keys at which to cut, so that shards have about equally many: fewer where many keys are equal."""
    ordered = np.sort(sampled)
    if len(ordered) == 0:
        return ordered
    cuts: Array = np.unique(ordered[[len(ordered) * part // shards for part in range(1, shards)]])
    above: Array = cuts[cuts > ordered[0]]
    return above


def build(
    ray: Any, source: Any, directory: Path, shards: int, columns: tuple[int | str, int | str], sync: Any
) -> _map.Map:
    """Builds shards in a directory that has none. The caller holds its lock."""
    dataset = dataset_of(source)
    schema = dataset.schema
    names = columns_of(schema, *columns)
    # Of an empty table: what other dtypes the columns can't have is said before anything is read.
    empty = schema.empty_table().select(names)
    keys, values = _columns(empty, 0, 1)
    dtypes = (str(keys.dtype), str(values.dtype))
    fragments = list(dataset.get_fragments())
    rows = sum(fragment.count_rows() for fragment in fragments)
    sources = [portable(ray, fragment, schema, names) for fragment in fragments]
    task = {name: ray.remote(function) for name, function in (("sample", sample), ("deal", deal), ("load", load))}
    share = min(1.0, _SAMPLED / max(rows, 1))
    drawn = [task["sample"].remote(each, schema, names[0], share) for each in sources] if rows else []
    sampled = np.concatenate([np.empty(0, dtypes[0]), *ray.get(drawn)])
    lows = borders(sampled.astype(dtypes[0]), shards)
    folders = [_map.new_folder() for _ in range(len(lows) + 1)]
    dealt = directory / f"build-{uuid.uuid4().hex[:12]}"
    parts = [dealt / folder for folder in folders]
    for part in parts:
        part.mkdir(parents=True)
    texts = [str(part) for part in parts]
    ray.get([task["deal"].remote(each, schema, names, lows, texts, at) for at, each in enumerate(sources)])
    ray.get(
        [
            task["load"].remote(str(part), str(directory / folder), dtypes)
            for part, folder in zip(parts, folders, strict=True)
        ]
    )
    made = _map.write(directory, _map.Map(1, dtypes[0], dtypes[1], sync, tuple(folders), lows))
    shutil.rmtree(dealt)
    return made

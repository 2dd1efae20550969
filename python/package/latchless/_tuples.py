"""Composite keys: tuples of columns, which are stored as one byte string for each key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchless._asked import Array
from latchless._dtypes import Column, Duplicates, again, categories_of, decoded
from latchless._latchless import StringColumn, TupleType
from latchless._text import Texts, described_keys
from latchless._views import listed


@dataclass(frozen=True)
class Tuples(Texts):
    """The description of keys that are tuples: their parts' descriptions, in place of one `Column` or `Texts`."""

    dtype: Any = ()
    is_key: bool = True
    parts_of: tuple[Column | Texts, ...] = ()
    """The descriptions of the parts."""
    compiled: TupleType | None = field(default=None, compare=False)

    @staticmethod
    def of(parts: Sequence[Column | Texts]) -> Tuples:
        """The description of tuples of these parts."""
        if len(parts) < 2:
            raise ValueError(f"keys that are tuples have at least two parts, not {len(parts)}")
        name = f"({'; '.join(part.name for part in parts)})"
        compiled = TupleType(name, [part.told() for part in parts])
        dtype = tuple(part.dtype for part in parts)
        return Tuples(dtype=dtype, is_key=True, parts_of=tuple(parts), compiled=compiled)

    @property
    def name(self) -> str:
        """The names of the parts, as files have them: the name of a zone may have a comma before it."""
        return f"({'; '.join(part.name for part in self.parts_of)})"

    @property
    def label(self) -> str:
        """The type as a constructor takes it."""
        return f"({', '.join(part.label for part in self.parts_of)})"

    @property
    def pickled(self) -> Any:
        """The type as pickles have it."""
        return tuple(part.pickled for part in self.parts_of)

    @property
    def last(self) -> Column | Texts:
        """The last part."""
        return self.parts_of[-1]

    def told(self) -> Any:
        """The compiled part's description."""
        return self.compiled

    def to_words(self, data: Any) -> StringColumn:
        """The column of a tuple of columns, or of a list of tuples."""
        if isinstance(data, StringColumn):
            return data
        columns = columns_of(data) or self._of_rows(data)
        if len(columns) != len(self.parts_of):
            raise ValueError(f"a key has {len(self.parts_of)} parts, {self.name}, not {len(columns)}")
        assert self.compiled is not None
        return self.compiled.encode([self._words(at, column) for at, column in enumerate(columns)])

    def _words(self, at: int, column: Any) -> Any:
        """The words of a part."""
        part = self.parts_of[at]
        its, _ = part.one_or_many(column)
        try:
            return part.to_words(its)
        except (TypeError, ValueError, OverflowError) as error:
            if type(error) in (TypeError, ValueError, OverflowError):
                raise type(error)(f"part {at} of the keys: {error}") from None
            raise

    def _of_rows(self, data: Any) -> tuple[list[Any], ...]:
        """The columns of a list of tuples."""
        rows = data.tolist() if isinstance(data, np.ndarray) else list(data)
        for at, row in enumerate(rows):
            if not isinstance(row, tuple):
                raise TypeError(
                    f"keys are tuples {self.name}, or a tuple of their columns, but the key at position {at} is "
                    f"of type {type(row).__name__}"
                )
            if len(row) != len(self.parts_of):
                raise ValueError(
                    f"a key has {len(self.parts_of)} parts, {self.name}, not {len(row)} as at position {at}"
                )
        return tuple(map(list, zip(*rows, strict=True))) if rows else tuple([] for _ in self.parts_of)

    def from_words(self, column: StringColumn | Array | list[Any]) -> Any:
        """The columns of keys: an array for each part that is of a dtype, a list for each that is strings."""
        missing = [part.missing_word() if isinstance(part, Column) else 0 for part in self.parts_of]
        assert self.compiled is not None
        assert isinstance(column, StringColumn)
        columns = self.compiled.decode(column, missing)
        return tuple(part.from_words(its) for part, its in zip(self.parts_of, columns, strict=True))

    def groups_of(self, data: Any) -> tuple[StringColumn | Array, NDArray[np.uint64] | None, Array] | None:
        """The first parts of keys, what chooses from them for each key, and the last parts: as batches take them.

        None where keys aren't given as columns, of which the last is an array.
        """
        columns = columns_of(data)
        if columns is None or len(columns) != len(self.parts_of) or not isinstance(self.last, Column):
            return None
        *first, numbers = columns
        if not is_column(numbers):
            return None
        codes = None
        chosen = categories_of(first[0]) if len(first) == 1 else None
        if chosen is not None and (chosen[1] >= 0).all() and len(chosen[0]) > 0:
            first, codes = [chosen[0]], chosen[1].astype(np.uint64)
        words = [self._words(at, column) for at, column in enumerate([*first, numbers])]
        if len(first) == 1:
            return words[0], codes, words[-1]
        assert self.compiled is not None
        return self.compiled.encode(words[:-1]), codes, words[-1]

    def in_groups(self, groups: StringColumn, codes: NDArray[np.int64], numbers: Array) -> Any:
        """The columns of keys of groups, which codes choose from; -1 chooses none."""
        missing = [part.missing_word() if isinstance(part, Column) else 0 for part in self.parts_of]
        assert self.compiled is not None
        known = self.compiled.decode(groups, missing)
        columns = []
        for part, its, none in zip(self.parts_of[:-1], known, missing, strict=False):
            # The last element is chosen by -1.
            if isinstance(part, Column):
                columns.append(part.from_words(np.append(its, np.array([none], its.dtype))[codes]))
                continue
            objects = np.empty(len(its) + 1, object)
            objects[:-1] = its
            columns.append(objects[codes].tolist())
        return *columns, self.last.from_words(numbers)

    def kept(self, column: StringColumn, duplicates: Duplicates) -> NDArray[np.int64] | None:
        """Where those of equal keys are that are inserted; None where the index itself keeps the last of them."""
        kept, twice = (None, None) if duplicates == "last" else column.distinct()
        if twice is not None and duplicates == "raise":
            raise ValueError(again(listed(self.from_words(column.take(np.array([twice]))))[0], twice))
        return super().kept(column, duplicates) if twice is None else kept


def columns_of(data: Any) -> tuple[Any, ...] | None:
    """The columns of composite keys: a tuple of array-likes, or a MultiIndex of pandas. None for anything else."""
    if hasattr(data, "get_level_values") and hasattr(data, "levels"):
        return tuple(data.get_level_values(at) for at in range(data.nlevels))
    if isinstance(data, tuple) and len(data) > 1 and any(map(is_column, data)):
        return data
    return None


def is_column(data: Any) -> bool:
    """Whether this is a column. A tuple is a key, and a string has a length, too."""
    return hasattr(data, "__len__") and not isinstance(data, (str, bytes, tuple)) and getattr(data, "ndim", 1) > 0


def tuples_of(keys: Any, given: Any) -> Tuples | None:
    """The type of keys that are tuples: the requested one, or the one that they have. None for other keys."""
    if isinstance(given, str) and given.startswith("("):
        given = tuple(given[1:-1].split("; "))
    if isinstance(given, tuple):
        return Tuples.of([described_keys(None, dtype) for dtype in given])
    if given is not None or keys is None:
        return None
    columns = columns_of(keys)
    if columns is None and isinstance(keys, list) and keys and isinstance(keys[0], tuple):
        whole = (row for row in keys if isinstance(row, tuple) and len(row) == len(keys[0]))
        columns = tuple(map(list, zip(*whole, strict=True)))
    if columns is None:
        return None
    return Tuples.of([described_keys(decoded(each) if is_column(each) else [each], None) for each in columns])

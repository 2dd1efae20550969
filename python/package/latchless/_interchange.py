"""Copies and pickles of an index, and equality."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from latchless._asked import Array
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


def restored(cls: type[Index], key_dtype: Any, value_dtype: Any, *parts: Array) -> Index:
    """The index with these ascending entries, times as integers, of dtypes by their names, or of `str` or `bytes`.

    Strings are offsets into one array of bytes. A pickle that has the dtypes themselves is of a version that kept
    no zones.
    """
    from latchless._dtypes import columns_of_a_file
    from latchless._text import described

    if isinstance(key_dtype, (str, type, tuple)):
        key, value = described(None, key_dtype, None, value_dtype)
    else:
        key, value = columns_of_a_file("the pickle", (str(key_dtype), str(value_dtype)), False, (None, None))
    return cls._restored(key, value, parts)


def restored_strings(cls: type[StringIndex] | type[BytesIndex], value_dtype: Any, *parts: Array) -> Index:
    """As `restored`, for the pickles of earlier versions."""
    return restored(cls, cls.key_type, value_dtype, *parts)


def restored_pairs(cls: type[MultiIndex], key_dtype: Any, *parts: Array) -> MultiIndex:
    """The index with these ascending pairs, whose keys are given as those of `restored`."""
    from latchless._text import described_keys

    key = described_keys(None, key_dtype)
    return cls._restored(key, key.whole(parts[:-1]), parts[-1])


def restored_rows(cls: type[MultiIndex], key_dtype: Any, offsets: Array, keys: Array, rows: Array) -> MultiIndex:
    """As `restored_pairs`, for the pickles of earlier versions: keys of a dtype are strings of eight bytes."""
    from latchless._text import Texts, described_keys

    key = described_keys(None, key_dtype)
    if isinstance(key, Texts):
        return restored_pairs(cls, key_dtype, offsets, keys, rows)
    column = StringColumn.of_buffers(False, offsets.tobytes(), keys.tobytes())
    return cls._restored(key, column.words(key.told()), rows)


def equal(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    """Whether columns are equal, one by one: those of one dtype by their bits, so that NaN equals NaN."""
    return all(map(_equal, ours, theirs))


def _equal(one: Array, other: Array) -> bool:
    if one.dtype == other.dtype:
        ours, theirs = (np.ascontiguousarray(each).view(np.uint8) for each in (one, other))
        return np.array_equal(ours, theirs)
    if one.dtype.kind == other.dtype.kind == "f":
        return np.array_equal(one, other, equal_nan=True)
    return np.array_equal(one, other)


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same: NaN is, and NaT."""
    # These aren't equal to themselves.
    return bool(one is other or one == other or (one != one and other != other))  # noqa: PLR0124


def named_columns(keys: Any, values: Any) -> dict[str, Any]:
    """Keys and values as columns of a frame: 'key', or of tuples 'key_0' and so on; 'value', or those of rows."""
    tuples = keys if isinstance(keys, tuple) else None
    columns = {"key": keys} if tuples is None else {f"key_{at}": part for at, part in enumerate(tuples)}
    if getattr(getattr(values, "dtype", None), "names", None) is None:
        return {**columns, "value": values}
    twice = [name for name in values.dtype.names if name in columns]
    if twice:
        raise ValueError(f"a column of the values is called {twice[0]!r}, as the keys are in a frame")
    return {**columns, **{name: np.ascontiguousarray(values[name]) for name in values.dtype.names}}


def columns_of_frame(frame: Any, key: Any, value: Any) -> tuple[Any, Any]:
    """Columns of a frame as keys and values: one column, or several for tuples and for rows."""
    names = list(frame.columns)
    used: list[str] = []
    if key is None and hasattr(frame, "iloc"):
        keys = frame.index
    else:
        used = names[:1] if key is None else [key] if isinstance(key, str) else list(key)
        keys = tuple(frame[name] for name in used) if len(used) > 1 else frame[used[0]]
    if isinstance(value, str):
        return keys, frame[value]
    its = [name for name in names if name not in used] if value is None else list(value)
    if len(its) == 1 and value is None:
        return keys, frame[its[0]]
    return keys, {name: frame[name] for name in its}


def columns_of_series(series: Any) -> tuple[Any, Any]:
    """The index of a Series of pandas, and its values."""
    if not (hasattr(series, "index") and hasattr(series, "isna") and getattr(series, "ndim", 0) == 1):
        raise TypeError(f"this is made of a Series of pandas, not of {type(series).__name__}")
    return series.index, series


def columns_of_entries(other: Any) -> tuple[Any, Any]:
    """The keys and the values of an index, a mapping, a Series of pandas, or an iterable of pairs."""
    if isinstance(other, Mapping) and hasattr(other, "to_numpy"):
        keys, values = other.to_numpy()
        return keys, values
    if isinstance(other, Mapping):
        return list(other.keys()), list(other.values())
    if hasattr(other, "index") and hasattr(other, "isna"):
        return columns_of_series(other)
    pairs = list(other)
    return [key for key, _ in pairs], [value for _, value in pairs]


# ---- copies of subclasses ----

_OWN = {"_key", "_value", "_missing", "key_dtype", "value_dtype", "key_zone", "value_zone"}
"""Attributes that every index gets when it is made."""


def state_of(index: Any) -> Any:
    """A subclass's additional attributes, as a pickle has them: None if there are none."""
    for made in type(index).__mro__[:-1]:
        if "__getstate__" in vars(made):
            return index.__getstate__()
    attributes = {name: its for name, its in vars(index).items() if name not in _OWN}
    slots = {
        name: getattr(index, name) for made in type(index).__mro__ for name in _slots(made) if hasattr(index, name)
    }
    return (attributes, slots) if slots else attributes or None


def _slots(made: type) -> list[str]:
    names = vars(made).get("__slots__", ())
    names = (names,) if isinstance(names, str) else names
    private = [name.startswith("__") and not name.endswith("__") for name in names]
    # As the compiler names those that are private.
    return [
        f"_{made.__name__.lstrip('_')}{name}" if is_private else name
        for name, is_private in zip(names, private, strict=True)
        if name not in ("__dict__", "__weakref__")
    ]


def copied(index: Any, memo: Any = None) -> Any:
    """A copy of an index, with what its class has added: copies of these as well, if there is a memo of copies."""
    restore, arguments, state = index.__reduce__()
    made = restore(*arguments)
    if memo is not None:
        memo[id(index)] = made
        state = copy.deepcopy(state, memo)
    if state is None:
        return made
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return made
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    for name, its in {**attributes, **slots}.items():
        setattr(made, name, its)
    return made

"""As-of joins of frames."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from latchless._asked import Array
from latchless._dtypes import Column, columns
from latchless._latchless import nearest_rows
from latchless._neighbours import Direction, distance_of, farthest_of
from latchless._text import described_keys
from latchless._zones import ZonedDtype

Names = str | Sequence[str]
Rows = NDArray[np.int64]

_SMALL = 1 << 20
"""Integers of a smaller range are codes as they are."""


def asof_join(
    left: Any,
    right: Any,
    on: str | None = None,
    *,
    left_on: str | None = None,
    right_on: str | None = None,
    by: Names | None = None,
    left_by: Names | None = None,
    right_by: Names | None = None,
    direction: Direction = "backward",
    allow_exact_matches: bool = True,
    tolerance: Any = None,
    suffix: str = "_right",
) -> Any:
    """Join each row of a frame with the nearest row of another one, as `pandas.merge_asof` does.

    The rows need not be sorted, and no index is kept. An `Index` of `(by, on)` answers the same question many
    times, while it changes.

    Parameters
    ----------
    left, right : frames
        Both of pandas, or both of Polars.
    on, left_on, right_on : str
        The column of numbers or times that is compared: of both frames, or of each. Rows where it is null, NaN or
        NaT have no match.
    by, left_by, right_by : str or sequence of str
        Columns that must be equal: of both frames, or of each. Null equals nothing.
    direction : {'backward', 'forward', 'nearest'}
        'backward' finds the last row up to the left one, 'forward' the first one from it on, 'nearest' the nearer
        of the two, and of two equally near ones the one before. Of equal ones it is the last row, or, where it is
        after the left one, the first row.
    allow_exact_matches : bool
        Whether a row with exactly this number or time counts.
    tolerance : scalar
        The largest distance: a number, or a timedelta of any unit for times.
    suffix : str
        The end of the names of right columns that the left frame has as well.
    Returns
    -------
    frame
        The rows of the left frame, in their order and with their index, and the columns of the right frame beside
        them: null, as the library has it, where there is no match. A column that is compared and has the same name
        in both frames is there once.

    Raises
    ------
    KeyError
        A column that isn't there.
    TypeError, ValueError, OverflowError
        Frames of two libraries or of none; columns that can't be compared exactly, such as times with a zone and
        times without one; or what `Index.asof` raises it for.

    Notes
    -----
    Time: O(n + m) for n left and m right rows if both are sorted by `on`, otherwise that of sorting them.

    Examples
    --------
    >>> import pandas
    >>> from latchless import asof_join
    >>> trades = pandas.DataFrame({"time": [12, 12, 16], "symbol": ["EUR", "JPY", "JPY"]})
    >>> quotes = pandas.DataFrame({"time": [10, 15, 20], "symbol": ["EUR", "JPY", "EUR"], "bid": [1.5, 0.6, 1.6]})
    >>> asof_join(trades, quotes, "time", by="symbol")
       time symbol  bid
    0    12    EUR  1.5
    1    12    JPY  NaN
    2    16    JPY  0.6
    """
    library = _library_of(left, right)
    ons = _pairs("on", on, left_on, right_on)
    if len(ons) != 1:
        raise ValueError(f"on is one column, not {len(ons)}")
    bys = _pairs("by", by, left_by, right_by)
    for its, theirs in [*ons, *bys]:
        for frame, name in ((left, its), (right, theirs)):
            if name not in frame.columns:
                raise KeyError(name)
    sides = [_Side(library, frame, name) for frame, name in zip((left, right), ons[0], strict=True)]
    if bys:
        codes = [_codes(library, left[its], right[theirs]) for its, theirs in bys]
        for side, its_codes in zip(sides, _combined(codes), strict=True):
            side.codes = its_codes
    rows = _nearest(sides[0], sides[1], tolerance, (direction, bool(allow_exact_matches)))
    same = {theirs for its, theirs in [*ons, *bys] if its == theirs}
    names = [name for name in right.columns if name not in same]
    renamed = {name: f"{name}{suffix}" for name in names if name in left.columns}
    return library.joined(left, right, names, renamed, rows)


def joined_rows(left: Any, right: Any, rows: Rows, ids: Rows, name: str, suffix: str) -> Any:
    """Some rows of a frame, and beside them those rows of another one, or without it their numbers in a column."""
    library = _library_of(left, left if right is None else right)
    taken = library.taken(left, rows)
    if right is None:
        if name in left.columns:
            raise ValueError(f"the frame has a column {name!r} already: name says another one")
        return library.with_column(taken, name, ids)
    out = np.flatnonzero((ids < 0) | (ids >= len(right)))
    if len(out):
        raise ValueError(f"the id {ids[out[0]]} is no row of the right frame, which has {len(right)}")
    names = list(right.columns)
    renamed = {its: f"{its}{suffix}" for its in names if its in left.columns}
    return library.joined(taken, right, names, renamed, ids)


def _pairs(what: str, both: Names | None, left: Names | None, right: Names | None) -> list[tuple[str, str]]:
    """The names of columns that are compared, of the left frame and of the right one."""
    if both is not None and (left is not None or right is not None):
        raise TypeError(f"{what} is of both frames: left_{what} and right_{what} say the same")
    sides = [both if side is None else side for side in (left, right)]
    lefts, rights = ([] if its is None else [its] if isinstance(its, str) else list(its) for its in sides)
    if len(lefts) != len(rights):
        raise ValueError(f"there are {len(lefts)} columns left_{what} but {len(rights)} right_{what}")
    return list(zip(lefts, rights, strict=True))


class _Library(Protocol):
    """What a library's frames are asked for."""

    def known(self, column: Any) -> NDArray[np.bool_] | None:
        """Where a column isn't null; None: nowhere. NaN and NaT of NumPy's needn't count."""

    def integers(self, column: Any) -> Array | None:
        """A column of integers without nulls as an array; None for any other."""

    def codes(self, left: Any, right: Any) -> tuple[Rows, Rows]:
        """Integers that are equal where the elements are, and negative where these are null."""

    def chosen(self, column: Any, rows: Array) -> Any:
        """Some rows of a column."""

    def taken(self, frame: Any, rows: Rows) -> Any:
        """Some rows of a frame."""

    def with_column(self, frame: Any, name: str, column: Array) -> Any:
        """A frame with one more column."""

    def joined(self, left: Any, right: Any, names: list[str], renamed: dict[str, str], rows: Rows) -> Any:
        """A frame, and beside it columns of some rows of another one, null where the row is -1."""


class _Pandas:
    def known(self, column: Any) -> NDArray[np.bool_] | None:
        return None if isinstance(column.dtype, np.dtype) else np.asarray(column.notna())

    def integers(self, column: Any) -> Array | None:
        its = column.dtype
        return column.to_numpy() if isinstance(its, np.dtype) and its.kind in "iu" else None

    def codes(self, left: Any, right: Any) -> tuple[Rows, Rows]:
        pandas = importlib.import_module("pandas")
        categories = [getattr(side.dtype, "categories", None) for side in (left, right)]
        # Dtypes are equal whatever the order of their categories.
        if categories[0] is not None and categories[0].equals(categories[1]):
            return left.cat.codes.to_numpy(np.int64), right.cat.codes.to_numpy(np.int64)
        both = pandas.concat([left.reset_index(drop=True), right.reset_index(drop=True)], ignore_index=True)
        codes = pandas.factorize(both)[0]
        return codes[: len(left)], codes[len(left) :]

    def chosen(self, column: Any, rows: Array) -> Any:
        return column[rows]

    def taken(self, frame: Any, rows: Rows) -> Any:
        return frame.take(rows)

    def with_column(self, frame: Any, name: str, column: Array) -> Any:
        return frame.assign(**{name: column})

    def joined(self, left: Any, right: Any, names: list[str], renamed: dict[str, str], rows: Rows) -> Any:
        pandas = importlib.import_module("pandas")
        take, fills = pandas.api.extensions.take, bool((rows < 0).any())
        its = {}
        for name in names:
            column = right[name]
            array = (
                column.to_numpy()
                if isinstance(column.dtype, np.dtype) and column.dtype.kind not in "Mm"
                else column.array
            )
            its[renamed.get(name, name)] = take(array, rows, allow_fill=True) if fills else array.take(rows)
        return pandas.concat([left, pandas.DataFrame(its, left.index, copy=False)], axis=1)


class _Polars:
    def known(self, column: Any) -> NDArray[np.bool_] | None:
        known: NDArray[np.bool_] = column.is_not_null().to_numpy()
        return known if column.null_count() else None

    def integers(self, column: Any) -> Array | None:
        return column.to_numpy() if column.dtype.is_integer() and not column.null_count() else None

    def codes(self, left: Any, right: Any) -> tuple[Rows, Rows]:
        polars = importlib.import_module("polars")
        its, theirs = (column.alias("by").to_frame() for column in (left, right))
        known = theirs.unique().with_row_index("code")
        codes = polars.col("code").cast(polars.Int64).fill_null(-1)
        joined = (side.join(known, "by", "left", maintain_order="left").select(codes) for side in (its, theirs))
        lefts, rights = (side["code"].to_numpy() for side in joined)
        return lefts, rights

    def chosen(self, column: Any, rows: Array) -> Any:
        return column.filter(rows)

    def taken(self, frame: Any, rows: Rows) -> Any:
        return frame[rows]

    def with_column(self, frame: Any, name: str, column: Array) -> Any:
        return frame.with_columns(importlib.import_module("polars").Series(name, column))

    def joined(self, left: Any, right: Any, names: list[str], renamed: dict[str, str], rows: Rows) -> Any:
        polars = importlib.import_module("polars")
        rows = polars.Series(rows)
        rows = polars.select(polars.when(rows >= 0).then(rows)).to_series()
        return left.hstack(right.select(polars.col(names).gather(rows)).rename(renamed))


def _library_of(left: Any, right: Any) -> _Library:
    libraries = {type(frame).__module__.partition(".")[0] for frame in (left, right)}
    if libraries == {"pandas"} and all(hasattr(frame, "merge") for frame in (left, right)):
        return _Pandas()
    if libraries == {"polars"} and all(hasattr(frame, "hstack") for frame in (left, right)):
        return _Polars()
    names = " and ".join(f"{type(frame).__module__}.{type(frame).__name__}" for frame in (left, right))
    raise TypeError(f"frames are both of pandas, or both of Polars (collected, if they are lazy), not {names}")


class _Side:
    """The rows of a frame that can have a match: those whose column that is compared isn't null."""

    def __init__(self, library: _Library, frame: Any, name: str) -> None:
        self.column, self.count = frame[name], len(frame)
        self.codes = np.zeros(self.count, np.int64)
        known = library.known(self.column)
        self.rows: Rows | None = None if known is None else np.flatnonzero(known)
        """Their positions; None: all rows."""
        if known is not None:
            self.column = library.chosen(self.column, known)

    def chosen(self, codes: Rows) -> Array:
        """The codes of these rows, as the compiled part takes them: there are none as large as negative ones."""
        its: Array = codes if self.rows is None else codes[self.rows]
        return np.ascontiguousarray(its).view(np.uint64)


def _codes(library: _Library, left: Any, right: Any) -> tuple[Rows, Rows]:
    """Integers that are equal where the elements are, and negative where these are null."""
    its, theirs = library.integers(left), library.integers(right)
    if its is not None and theirs is not None and len(its) and len(theirs):
        least = min(int(its.min()), int(theirs.min()))
        if max(int(its.max()), int(theirs.max())) - least < _SMALL and its.dtype == theirs.dtype:
            lefts, rights = ((side - side.dtype.type(least)).astype(np.int64) for side in (its, theirs))
            return lefts, rights
    return library.codes(left, right)


def _combined(codes: list[tuple[Rows, Rows]]) -> tuple[Rows, Rows]:
    """One code for several of each row, negative where one of them is."""
    lefts, rights = codes[0]
    for its, theirs in codes[1:]:
        count = 1 + max(int(side.max(initial=0)) for side in (its, theirs))
        lefts, rights = _dense(
            *(
                np.where((one < 0) | (other < 0), -1, one * count + other)
                for one, other in ((lefts, its), (rights, theirs))
            )
        )
    return lefts, rights


def _dense(left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """Codes of which there aren't many more than rows."""
    if max(int(side.max(initial=0)) for side in (left, right)) < max(_SMALL, len(left) + len(right)):
        return left, right
    known, codes = np.unique(np.concatenate([left, right]), return_inverse=True)
    codes -= int((known < 0).sum())
    return codes[: len(left)], codes[len(left) :]


def _nearest(left: _Side, right: _Side, tolerance: Any, how: tuple[str, bool]) -> Rows:
    """The right rows of the left ones, and -1 where there is none."""
    column = _common(left.column, right.column)
    steps = None if tolerance is None else distance_of(column, farthest_of(column, tolerance))
    asked, rows = ((side.chosen(side.codes), column.to_words(side.column)) for side in (left, right))
    groups = 1 + max(int(side.codes.max(initial=0)) for side in (left, right))
    found = nearest_rows(asked, rows, column.dtype.kind, groups, (*how, steps))
    if right.rows is not None:
        found[found >= 0] = right.rows[found[found >= 0]]
    if left.rows is None:
        return found
    spread = np.full(left.count, -1)
    spread[left.rows] = found
    return spread


def _common(left: Any, right: Any) -> Column:
    """The column that the elements of both are kept in exactly."""
    its, theirs = described_keys(left, None), described_keys(right, None)
    if not isinstance(its, Column) or not isinstance(theirs, Column):
        raise TypeError("on is a column of numbers or of times: strings are compared by `Index.floor_many`")
    kinds = {its.dtype.kind, theirs.dtype.kind}
    if (its.zone is None) != (theirs.zone is None) or (kinds & {"M", "m"} and len(kinds) > 1):
        theirs.to_array(left)  # It says why not.
    common = np.promote_types(its.dtype, theirs.dtype)
    return columns(common if theirs.zone is None else ZonedDtype(common, theirs.zone), np.int64)[0]

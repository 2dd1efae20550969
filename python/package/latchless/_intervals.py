"""The class `IntervalIndex`: intervals, and those that overlap others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latchless._asked import Array
from latchless._dtypes import Column, Dtype, columns, listed
from latchless._frames import Names, joined_rows
from latchless._groups import Groups
from latchless._index import check_fill
from latchless._latchless import IntervalCore
from latchless._multi import row_words
from latchless._neighbours import Direction
from latchless._text import described_keys

if TYPE_CHECKING:
    from typing_extensions import Self

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


class IntervalIndex(IntervalCore):
    """Half-open intervals [start, end) with an id each, in groups, for many threads at once.

    It finds the intervals that overlap others: the features of a gene at some positions, meetings at a time,
    sessions of a user. Intervals are inserted and removed while other threads ask.

    Parameters
    ----------
    starts, ends : array-like
        n integers or times each, in any order; each end after its start. None: an empty index.
    by : array-like, tuple of array-likes or scalar
        The group of each interval, such as its chromosome: of any type that keys of an `Index` have, categorical
        columns included, or a tuple of columns, such as chromosomes and strands. One scalar is for all. None:
        there are no groups.
    values : array-like
        n integers from 0 to 2**63 - 1: the id of each interval. By default its position.
    dtype : dtype
        Of times, with their unit and zone, or of integers, which are all int64. By default that of the starts,
        else int64.
    fill : float
        How full nodes are at first, 0.01 to 1.0. 1.0 is for data that no longer changes.
    limit_bytes : int
        The most memory that the index may take.

    Raises
    ------
    TypeError
        Positions that are neither integers nor times; groups of another type than before, or groups of some
        intervals only.
    ValueError
        An end that isn't after its start, NaT, nulls, unequal lengths.
    OverflowError
        A position that isn't exact in the dtype.
    MemoryError
        More memory than `limit_bytes`, or than there is.

    Notes
    -----
    Group, start, end and id together are what an interval is: one that is inserted twice is stored once. A
    question may be empty: it overlaps nothing. One whose end is before its start is a ValueError. Groups that no
    interval has find nothing.

    A batch with more than one question for 128 intervals copies all of these first, 24 bytes each. Batches
    release the interpreter's lock. Intervals that other threads insert or remove meanwhile are seen or not; all
    others are seen once. Positions up to the greatest one but one can be in an interval.

    Examples
    --------
    >>> from latchless import IntervalIndex
    >>> genes = IntervalIndex([100, 150, 100], [200, 400, 200], by=["chr1", "chr1", "chr2"])
    >>> genes.overlaps([180, 0, 300], [185, 1000, 301], by=["chr1", "chr2", "chr3"])
    (array([0, 0, 1]), array([0, 1, 2]))
    >>> genes.insert_many([5], [10], by="chr3", values=[7])
    1
    >>> genes.nearest([20], [30], by=["chr3"])
    (array([7]), array([11]), array([ True]))
    """

    dtype: np.dtype[Any]
    """The dtype of positions."""

    def __new__(
        cls,
        starts: ArrayLike | Any = None,
        ends: ArrayLike | Any = None,
        by: Any = None,
        values: ArrayLike | None = None,
        *,
        dtype: Dtype | None = None,
        fill: float = 0.8,
        limit_bytes: int | None = None,
    ) -> Self:
        """Make an index: see the class."""
        if (starts is None) != (ends is None) or (starts is None and (by is not None or values is not None)):
            raise TypeError("starts and ends are given together, and by and values with them")
        starts = listed(starts)
        column, groups, intervals = _positions(starts, dtype), Groups(), None
        check_fill(fill)
        if starts is not None:
            its = _words(column, starts, ends, True)
            numbers = groups.added(by, len(its[0]))
            intervals = (numbers, *its), _ids(values, len(its[0]))
        made = super().__new__(cls, intervals, fill, limit_bytes)
        made._column, made._groups, made.dtype = column, groups, column.dtype
        return made

    _column: Column
    _groups: Groups

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        start: str = "start",
        end: str = "end",
        by: Names | None = None,
        value: str | None = None,
        **how: Any,
    ) -> Self:
        """Make an index of columns of a DataFrame of pandas. More arguments are as for the class.

        Parameters
        ----------
        frame : DataFrame
            A frame that has the columns.
        start, end : str
            The columns of starts and of ends.
        by : str or sequence of str
            The columns of groups.
        value : str
            The column of ids. By default the position of a row.

        Examples
        --------
        >>> import pandas
        >>> from latchless import IntervalIndex
        >>> frame = pandas.DataFrame({"chrom": ["1", "2"], "strand": ["+", "-"], "start": [5, 5], "end": [9, 7]})
        >>> index = IntervalIndex.from_pandas(frame, by=["chrom", "strand"])
        >>> index.count([6, 6], [7, 7], by=(["2", "2"], ["-", "+"]))
        array([1, 0])
        """
        if not (hasattr(frame, "columns") and hasattr(frame, "iloc")):
            raise TypeError(f"this is made of a DataFrame of pandas, not of {type(frame).__name__}")
        return cls(*_of_frame(frame, start, end, by), None if value is None else frame[value], **how)

    @classmethod
    def from_polars(
        cls,
        frame: Any,
        start: str = "start",
        end: str = "end",
        by: Names | None = None,
        value: str | None = None,
        **how: Any,
    ) -> Self:
        """Make an index of columns of a DataFrame of Polars: see `from_pandas`."""
        if not (hasattr(frame, "columns") and hasattr(frame, "hstack")):
            raise TypeError(f"this is made of a DataFrame of Polars, not of {type(frame).__name__}")
        return cls(*_of_frame(frame, start, end, by), None if value is None else frame[value], **how)

    # ---- questions ----

    def overlaps(self, starts: ArrayLike | Any, ends: ArrayLike | Any, *, by: Any = None) -> Pairs:
        """All pairs of a question and an interval that overlaps it, in the order of the questions.

        Parameters
        ----------
        starts, ends : array-like
            n questions [start, end), in any order.
        by : array-like, tuple of array-likes or scalar
            Their groups, if intervals have groups.

        Returns
        -------
        positions : array (m, int64)
            The positions of questions.
        ids : array (m, int64)
            The ids of the intervals, ascending for each question.

        Raises
        ------
        TypeError, ValueError, OverflowError
            What `IntervalIndex` raises them for; empty questions are none of it.

        Notes
        -----
        `ncls.all_overlaps_both` returns the same pairs, in another order.

        Examples
        --------
        >>> from latchless import IntervalIndex
        >>> IntervalIndex([0, 5], [9, 7]).overlaps([6, 8, 9], [8, 9, 10])
        (array([0, 0, 1]), array([0, 1, 0]))
        """
        positions, ids = self._overlaps(self._asked(starts, ends, by))
        return positions, ids.view(np.int64)

    def contains(self, points: ArrayLike | Any, *, by: Any = None) -> Pairs:
        """All pairs of a point and an interval that contains it. See `overlaps`.

        Examples
        --------
        >>> from latchless import IntervalIndex
        >>> IntervalIndex([0, 5], [9, 7]).contains([7, 6])
        (array([0, 1, 1]), array([0, 0, 1]))
        """
        positions, ids = self._overlaps(self._asked(points, None, by))
        return positions, ids.view(np.int64)

    def count(self, starts: ArrayLike | Any, ends: ArrayLike | Any, *, by: Any = None) -> NDArray[np.int64]:
        """How many intervals overlap each of n questions: n integers. See `overlaps`.

        Examples
        --------
        >>> from latchless import IntervalIndex
        >>> IntervalIndex([0, 5], [9, 7]).count([6, 8, 9], [8, 9, 10])
        array([2, 1, 0])
        """
        return self._count(self._asked(starts, ends, by))

    def coverage(self, starts: ArrayLike | Any, ends: ArrayLike | Any, *, by: Any = None) -> Array:
        """How much of each of n questions is in any interval: n integers, of times n timedeltas. See `overlaps`.

        What is in several intervals counts once. More than 2**63 - 1 is 2**63 - 1.

        Examples
        --------
        >>> from latchless import IntervalIndex
        >>> IntervalIndex([0, 5], [6, 9]).coverage([4, 8], [7, 100])
        array([3, 1])
        """
        return self._lengths(self._coverage(self._asked(starts, ends, by)))

    def nearest(
        self, starts: ArrayLike | Any, ends: ArrayLike | Any, *, by: Any = None, direction: Direction = "nearest"
    ) -> tuple[NDArray[np.int64], Array, NDArray[np.bool_]]:
        """The interval that is nearest to each of n questions. See `overlaps`.

        Parameters
        ----------
        direction : {'nearest', 'backward', 'forward'}
            'backward' finds the last interval that ends before the question, 'forward' the first one that begins
            after it, 'nearest' one that overlaps it or else the nearer of the two.

        Returns
        -------
        ids : array (n, int64)
            Of equally near intervals it is the one that starts first, ends first, has the least id; -1 for none.
        distances : array (n, int64 or timedelta64)
            From the question's nearest position to the interval's: 0 if they overlap, 1 if one starts where the
            other ends.
        found : array (n, bool)
            Whether there is one.

        Examples
        --------
        >>> from latchless import IntervalIndex
        >>> IntervalIndex([0, 50], [9, 70]).nearest([9, 60, 100], [10, 61, 101])
        (array([0, 1, 1]), array([ 1,  0, 31]), array([ True,  True,  True]))
        """
        ids, distances, found = self._nearest(self._asked(starts, ends, by), direction)
        return ids.view(np.int64), self._lengths(distances), found

    def join(
        self,
        frame: Any,
        right: Any = None,
        *,
        start: str = "start",
        end: str = "end",
        by: Names | None = None,
        name: str = "id",
        suffix: str = "_right",
    ) -> Any:
        """Join each row of a frame with the intervals that overlap its own: an inner join.

        Parameters
        ----------
        frame : DataFrame
            Of pandas or Polars.
        right : DataFrame
            One of the same library, whose rows the ids are: its columns come beside those of the frame. Without it
            the ids come, in a column `name`.
        start, end : str
            The frame's columns of starts and of ends.
        by : str or sequence of str
            The frame's columns of groups.
        suffix : str
            The end of the names of right columns that the frame has as well.

        Returns
        -------
        frame
            A row for each pair, in the order of `overlaps`: the frame's row, with its index, and what belongs to
            the interval.

        Examples
        --------
        >>> import pandas
        >>> from latchless import IntervalIndex
        >>> exons = pandas.DataFrame({"start": [0, 5], "end": [9, 7], "exon": ["a", "b"]})
        >>> reads = pandas.DataFrame({"start": [6, 8], "end": [8, 9]})
        >>> IntervalIndex.from_pandas(exons).join(reads, exons[["exon"]])
           start  end exon
        0      6    8    a
        0      6    8    b
        1      8    9    a
        """
        starts, ends, groups = _of_frame(frame, start, end, by)
        positions, ids = self.overlaps(starts, ends, by=groups)
        return joined_rows(frame, right, positions, ids, name, suffix)

    # ---- changes ----

    def insert(self, start: Any, end: Any, *, by: Any = None, value: int = 0) -> bool:
        """Insert an interval, atomically. Returns whether it is new.

        Examples
        --------
        >>> from latchless import IntervalIndex
        >>> index = IntervalIndex()
        >>> index.insert(5, 9, value=7), index.insert(5, 9, value=7), len(index)
        (True, False, 1)
        """
        return self.insert_many([start], [end], by=by if by is None else _alone(by), values=[value]) == 1

    def remove(self, start: Any, end: Any, *, by: Any = None, value: int = 0) -> bool:
        """Remove an interval, atomically. Returns whether it was there."""
        return self.remove_many([start], [end], by=by if by is None else _alone(by), values=[value]) == 1

    def insert_many(
        self, starts: ArrayLike | Any, ends: ArrayLike | Any, *, by: Any = None, values: ArrayLike | None = None
    ) -> int:
        """Insert n intervals: as for the class. Returns how many were new.

        By default the ids are the positions in this batch.

        Raises
        ------
        TypeError, ValueError, OverflowError
            As for the class. Nothing was inserted.
        MemoryError, KeyboardInterrupt
            The exception's attribute `refused` has the positions (int64, ascending) of the intervals that weren't
            inserted; all others were. Without this attribute nothing was.
        """
        its = _words(self._column, starts, ends, True)
        ids = _ids(values, len(its[0]))
        return self._insert_many((self._groups.added(by, len(its[0])), *its), ids)

    def remove_many(
        self, starts: ArrayLike | Any, ends: ArrayLike | Any, *, by: Any = None, values: ArrayLike
    ) -> int:
        """Remove n intervals; those that aren't there are no error. Returns how many were removed.

        A KeyboardInterrupt has the positions of those that weren't looked at in its attribute `refused`.

        Examples
        --------
        >>> from latchless import IntervalIndex
        >>> IntervalIndex([0, 5], [9, 7]).remove_many([5, 0], [7, 9], values=[1, 1])
        1
        """
        its = self._asked(starts, ends, by)
        return self._remove_many(its, _ids(values, len(its[1])))

    # ---- the whole ----

    def to_numpy(self) -> tuple[Any, Any, Any, NDArray[np.int64]]:
        """All intervals: starts, ends, groups, ids, in the order of their groups and lengths.

        Groups are a column, a tuple of columns, or None.

        Examples
        --------
        >>> from latchless import IntervalIndex
        >>> IntervalIndex([0, 5], [9, 7], by=["b", "a"], values=[3, 4]).to_numpy()
        (array([5, 0]), array([7, 9]), ['a', 'b'], array([4, 3]))
        """
        numbers, starts, ends, ids = self._all()
        shown = (self._column.from_words(words.view(np.uint64)) for words in (starts, ends))
        return *shown, self._groups.keys(numbers), ids.view(np.int64)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} intervals, dtype={self._column.label})"

    def _asked(self, starts: Any, ends: Any, by: Any) -> tuple[Any, Array, Array | None]:
        """Questions as the compiled part takes them."""
        its = _words(self._column, starts, ends, False)
        return self._groups.known(by, len(its[0])), *its

    def _lengths(self, lengths: NDArray[np.int64]) -> Array:
        """Lengths in the unit of times, if positions are such."""
        if self._column.dtype.kind == "i":
            return lengths
        return lengths.view(f"m8[{np.datetime_data(self._column.dtype)[0]}]")


def _positions(starts: Any, dtype: Any) -> Column:
    """How positions are stored."""
    column = described_keys(starts, dtype)
    if not isinstance(column, Column) or column.dtype.kind not in "iuMm":
        its = column.label if isinstance(column, Column) else "strings or tuples"
        raise TypeError(f"positions are integers or times, not {its}")
    return column if column.dtype.kind in "Mm" else columns(np.int64, np.int64)[0]


def _words(column: Column, starts: Any, ends: Any, is_stored: bool) -> tuple[Array, Array | None]:
    """Starts and ends as words. What is stored has a position, and no question ends before it starts."""
    sides = [None if side is None else column.to_words(listed(side)) for side in (starts, ends)]
    first, last = sides
    assert first is not None
    for words in sides:
        if words is not None and column.dtype.kind in "Mm":
            lost = words.view(np.int64) == np.iinfo(np.int64).min
            if lost.any():
                raise ValueError(f"positions must not be NaT, but the one at position {int(lost.argmax())} is")
    if last is None:
        return first, None
    if len(first) != len(last):
        raise ValueError(f"there are {len(first)} starts but {len(last)} ends")
    lows, highs = first.view(np.int64), last.view(np.int64)
    wrong = highs <= lows if is_stored else highs < lows
    if wrong.any():
        at = int(wrong.argmax())
        its = [column.from_words(words[at : at + 1])[0] for words in (first, last)]
        why = "an end must be after its start" if is_stored else "an end must not be before its start"
        raise ValueError(f"{why}, but the interval at position {at} is from {its[0]} to {its[1]}")
    return first, last


def _ids(values: Any, count: int) -> NDArray[np.uint64]:
    return row_words(np.arange(count) if values is None else values, count)


def _alone(by: Any) -> Any:
    """The group of one interval as columns."""
    return tuple([part] for part in by) if isinstance(by, tuple) else [by]


def _of_frame(frame: Any, start: str, end: str, by: str | Sequence[str] | None) -> tuple[Any, Any, Any]:
    """Starts, ends and groups of a frame."""
    names = [] if by is None else [by] if isinstance(by, str) else list(by)
    for name in (start, end, *names):
        if name not in frame.columns:
            raise KeyError(name)
    groups = tuple(frame[name] for name in names)
    return frame[start], frame[end], groups if len(groups) > 1 else groups[0] if groups else None

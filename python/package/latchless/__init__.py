"""An ordered index in main memory for NumPy and Arrow columns.

>>> import numpy as np
>>> from latchless import Index
>>> quotes = Index(np.array([10, 20, 30]), np.array([1.5, 1.6, 1.7]))
>>> quotes.insert_many([25, 5], [1.65, 1.4])
2
>>> times, prices, found = quotes.asof([4, 12, 26])
>>> prices
array([ nan, 1.5 , 1.65])
>>> quotes.range(10, 30)
(array([10, 20, 25]), array([1.5 , 1.6 , 1.65]))

Keys may be strings as well:

>>> pages = Index(["/about", "/", "/about/us"], [2, 1, 3])
>>> pages.prefix("/about")
(['/about', '/about/us'], array([2, 3]))

Values may be rows of several columns, and `asof_join` joins frames:

>>> prices = Index([10, 20], {"bid": [1.5, 1.6], "ask": [1.75, 1.8]})
>>> prices.asof([15])[1]["ask"]
array([1.75])

A `MultiIndex` says in which rows of a column a key is:

>>> from latchless import MultiIndex
>>> cities = MultiIndex(["Ulm", "Bonn", "Ulm"])
>>> cities.rows("Ulm")
array([0, 2])

An `IntervalIndex` finds the intervals that overlap others:

>>> from latchless import IntervalIndex
>>> IntervalIndex([0, 5], [9, 7]).overlaps([6, 8], [8, 9])
(array([0, 0, 1]), array([0, 1, 0]))

`Frozen.open` reads an index in the file that `Index.save` wrote, without loading it.
"""

from latchless._durable import DurableIndex, Recovery, SnapshotPolicy, Stopped
from latchless._frames import asof_join
from latchless._frozen import Frozen
from latchless._index import Index
from latchless._intervals import IntervalIndex
from latchless._latchless import __version__
from latchless._multi import MultiIndex
from latchless._strings import BytesIndex, StringIndex

__all__ = [
    "BytesIndex",
    "DurableIndex",
    "Frozen",
    "Index",
    "IntervalIndex",
    "MultiIndex",
    "Recovery",
    "SnapshotPolicy",
    "Stopped",
    "StringIndex",
    "__version__",
    "asof_join",
]

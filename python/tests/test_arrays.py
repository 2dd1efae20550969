"""Arrays in any form: misaligned, read-only, strided, of the other byte order, and changing meanwhile."""

import sysconfig
import threading

import numpy as np
import pytest
from conftest import assert_same

from latchless import Index

INDEX = Index(np.arange(0, 2000, 2), np.arange(0, 2000, 2) * 10)
QUERIES = np.arange(1500)
EXPECTED = INDEX.get_many(QUERIES)


def misaligned(array):
    return np.frombuffer(b"\0" + array.tobytes(), array.dtype, offset=1)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def strided(array):
    return np.repeat(array, 3)[::3]


def backwards(array):
    return array[::-1].copy()[::-1]


def other_byte_order(array):
    return array.astype(array.dtype.newbyteorder())


def sub_class(array):
    class Sub(np.ndarray):
        pass

    return array.view(Sub)


def field_of_records(array):
    records = np.zeros(len(array), [("flag", "u1"), ("key", array.dtype)])
    records["key"] = array
    return records["key"]


FORMS = [
    misaligned,
    read_only,
    strided,
    backwards,
    other_byte_order,
    sub_class,
    field_of_records,
    list,
    tuple,
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_array_gives_the_same(form):
    queries = form(QUERIES)
    for got, expected in zip(INDEX.get_many(queries), EXPECTED, strict=True):
        assert_same(got, expected)
    assert_same(INDEX.floor_many(queries)[1], INDEX.floor_many(QUERIES)[1])
    offsets, _, _ = INDEX.range_many(queries, form(QUERIES + 10))
    assert offsets[-1] == INDEX.count_many(QUERIES, QUERIES + 10).sum()
    index = Index(form(QUERIES), form(QUERIES * 2))
    assert_same(index.to_numpy()[1], QUERIES * 2)
    index.insert_many(form(QUERIES), form(QUERIES * 3))
    assert_same(index.to_numpy()[1], QUERIES * 3)
    assert index.remove_many(queries) == len(QUERIES)


@pytest.mark.parametrize("form", [misaligned, strided, other_byte_order])
def test_times_and_floats_in_every_form(form):
    for dtype in ("M8[ns]", "f8", "f4", "u2"):
        keys = QUERIES.astype(dtype) if dtype[0] != "M" else QUERIES.view(dtype)
        index = Index(form(keys), 1)
        assert index.key_dtype == np.dtype(dtype)
        assert index.contains_many(form(keys)).all()


def test_narrower_integers_are_widened():
    for dtype in ("i1", "u1", "i4", "u4", "u8", "bool"):
        queries = np.array([0, 1], dtype)
        assert INDEX.contains_many(queries).tolist() == [True, False]


def test_rooms_for_answers_in_every_form():
    room = np.zeros(1 + 8 * len(QUERIES), np.uint8)[1:].view(np.int64)
    assert not room.flags.aligned
    INDEX.get_many(QUERIES, out=room)
    assert_same(room, EXPECTED[0])
    narrow = Index(np.array([1, 2]), np.array([5, 6], "i2"))
    small = np.zeros(2, "i2")
    narrow.get_many([2, 3], -1, out=small)
    assert small.tolist() == [6, -1]


def test_sets_views_and_generators():
    index = Index({3, 1, 2}, 0)
    assert list(index) == [1, 2, 3]
    assert index.remove_many({1: 0, 2: 0}.keys()) == 2
    assert index.insert_many((key for key in (7, 8)), (value for value in (70, 80))) == 2
    assert Index(range(3), range(3)).get_many(range(5))[1].tolist() == [True] * 3 + [False] * 2


def test_large_integers_in_lists():
    index = Index(key_dtype="u8")
    index.insert_many([1, 2**64 - 1, 2**63], 0)
    assert list(index) == [1, 2**63, 2**64 - 1]
    assert Index(key_dtype="i8").get_many([0, -(2**63)])[1].tolist() == [False, False]
    assert Index([2**63], 0).key_dtype == np.dtype("u8")
    for keys in ([2**70], [1, 2**64], [-(2**63), 2**63], [-(2**70)]):
        with pytest.raises(OverflowError, match="outside of u?int64"):
            Index(keys, 0)


def test_columns_of_pandas_make_an_index():
    pandas = pytest.importorskip("pandas")
    berlin = pandas.to_datetime(["2024-01-01", "2024-06-01"]).tz_localize("Europe/Berlin")
    for column in (berlin, pandas.Series(berlin)):
        index = Index(column, column)
        assert index.to_numpy()[0].equals(berlin)
        assert index.get_many(column)[0].equals(berlin)
        assert index[berlin[1]] == berlin[1]
        assert index.get_many(list(berlin))[1].all()
    nullable = Index(pandas.Series([3, 1], dtype="Int16"), pandas.Series([0.5, 1.5], dtype="Float32"))
    assert (nullable.key_dtype, nullable.value_dtype) == (np.dtype("i2"), np.dtype("f4"))
    assert nullable == {1: 1.5, 3: 0.5}
    assert INDEX.get_many(pandas.Categorical([2, 3]))[0].tolist() == [20, 0]
    assert Index(pandas.Series([3, 1], dtype="category"), 0).key_dtype == np.dtype("i8")
    for column in (pandas.Series([3, None], dtype="Int16"), pandas.Categorical([1, None])):
        for ask in (INDEX.get_many, lambda column: Index(column, 0)):
            with pytest.raises(ValueError, match="null"):
                ask(column)
    with pytest.raises(TypeError):
        INDEX.get_many(pandas.Categorical(["a"]))
    assert Index(pandas.Categorical(["b", "a"]), 0).key_dtype is str
    for ask in (INDEX.get_many, lambda column: Index(column, 0)):
        with pytest.raises(TypeError):
            ask(pandas.period_range("2024", periods=2, freq="M"))
    for frame in (pandas.DataFrame({"key": [1, 2]}), np.zeros((2, 2), int)):
        for ask in (INDEX.get_many, lambda column: Index(column, 0)):
            with pytest.raises(ValueError, match="one-dimensional"):
                ask(frame)


def test_memory_of_others():
    import array

    for keys in (memoryview(np.arange(3)), array.array("q", range(3)), memoryview(bytes(range(3))), range(3)):
        assert INDEX.get_many(keys)[0].tolist() == [0, 0, 20]
        assert list(Index(keys, keys)) == [0, 1, 2]
    assert len(INDEX.get_many(memoryview(b""))[0]) == 0


def test_keys_that_another_thread_writes():
    """Each key is read once: what was found is what one of the two contents has."""
    index = Index(np.arange(1000), np.arange(1000))
    queries = np.zeros(200_000, np.int64)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            queries[:] = 999
            queries[:] = 0

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(20):
            values, found = index.get_many(queries)
            assert found.all()
            assert np.isin(values, (0, 999)).all()
            changing = Index(key_dtype="i8")
            assert changing.insert_many(queries, 1) in (1, 2)
            changing.check_invariants()
    finally:
        stop.set()
        writer.join()


def test_nan_that_comes_while_a_batch_runs_is_no_key():
    index = Index(np.arange(10.0), 0)
    queries = np.ones(500_000)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            queries[-1] = np.nan
            queries[-1] = 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(20):
            try:
                index.insert_many(queries, 5)
            except ValueError as error:
                assert "position 499999" in str(error)  # noqa: PT017 (either outcome is right)
            assert len(index) == 10
    finally:
        stop.set()
        writer.join()


@pytest.mark.skipif(
    sysconfig.get_config_var("Py_GIL_DISABLED"),
    # There the batch may begin between NumPy's check of the array's references and its freeing the memory.
    reason="without a global lock NumPy's resize(refcheck=False) is guarded against nobody",
)
def test_an_array_cannot_be_resized_while_a_batch_reads_it():
    index = Index(np.arange(1000), 0)
    queries = np.zeros(3_000_000, np.int64)
    done = threading.Event()
    refused = []

    def resize():
        step = 0
        while not done.is_set() and not refused:
            step += 1
            try:
                queries.resize(3_000_000 + step % 2 * 100_000, refcheck=False)
            except ValueError as error:
                refused.append(error)

    other = threading.Thread(target=resize)
    other.start()
    try:
        for _ in range(200):
            index.get_many(queries)
            if refused:
                break
    finally:
        done.set()
        other.join()
    assert refused

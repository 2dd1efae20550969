"""Arrow's columns of strings, in and out of indexes of strings."""

import ctypes

import numpy as np
import pytest
from conftest import WITHOUT_PYARROW, assert_same, printed

from latchless import BytesIndex, StringIndex

TEXTS = [f"{'é' * (at % 3)}{at * 7919 % 1003:04}{'x' * (at % 17)}" for at in range(1003)]


@pytest.fixture(params=[StringIndex, BytesIndex], ids=["str", "bytes"])
def made(request):
    return request.param


@pytest.fixture
def pyarrow():
    return pytest.importorskip("pyarrow")


@pytest.fixture
def keys(made):
    return TEXTS if made is StringIndex else [text.encode() for text in TEXTS]


def types_of(made, pyarrow):
    if made is StringIndex:
        return [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()]
    return [pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()]


def test_batches_of_every_type(made, keys, pyarrow):
    index = made(keys, range(len(keys)))
    at = np.arange(len(keys))
    for its in types_of(made, pyarrow):
        column = pyarrow.array(keys, its)
        assert_same(index.get_many(column)[0], at)
        assert_same(index.get_many(column[100:300])[0], at[100:300])
        assert_same(index.get_many(column[7:8])[0], at[7:8])
        assert index.get_many(column[:0])[0].tolist() == []
        parts = pyarrow.chunked_array([column[600:], column[:0], column[:600]])
        assert_same(index.get_many(parts)[0], np.concatenate([at[600:], at[:600]]))
        assert made(column, at) == index
        assert made().insert_many(parts, 0) == len(keys)
        assert index.contains_many(pyarrow.array([keys[0]] * 3, its)).all()
    assert index.remove_many(pyarrow.array(keys[:10])) == 10


def test_tables_of_every_type(made, keys, pyarrow):
    expected = made(keys, range(len(keys)))
    for its in types_of(made, pyarrow):
        table = pyarrow.table({"v": range(len(keys)), "k": pyarrow.array(keys, its)})
        assert made.from_arrow(table, "k", "v") == expected
        assert made.from_arrow(table, 1, 0) == made.from_arrow(table, -1, -2) == expected
        assert made.from_arrow(table.to_reader(max_chunksize=100), 1, 0) == expected
        assert made.from_arrow(table.to_batches()[0], 1, 0) == expected
        assert made.from_arrow(table.to_struct_array().chunk(0), 1, 0) == expected
        part = table.slice(77, 401)
        assert made.from_arrow(part, 1, 0) == made(keys[77:478], range(77, 478))
        assert made.from_arrow(part.to_struct_array().chunk(0)[5:9], 1, 0) == made(keys[82:86], range(82, 86))
        ordered = pyarrow.table({"k": pyarrow.array(list(expected), its), "v": list(expected.values())})
        assert made.from_arrow(ordered, "k", "v", assume_sorted=True, fill=1.0) == expected
    for missing, error in (("price", KeyError), (3, IndexError), (1.5, TypeError)):
        with pytest.raises(error):
            made.from_arrow(table, missing, "v")


def test_cells_of_one_width(pyarrow):
    keys = [at.to_bytes(16, "big") for at in range(0, 5000, 3)]
    column = pyarrow.array(keys, pyarrow.binary(16))
    index = BytesIndex(column, range(len(keys)), assume_sorted=True)
    assert list(index) == keys
    assert_same(index.get_many(column[40:60])[0], np.arange(40, 60))


@pytest.mark.parametrize("dtype", ["i8", "f4", "bool", "M8[ns]", "u2"])
def test_our_streams_are_what_pyarrow_makes_of_the_columns(made, keys, pyarrow, rng, dtype):
    values = rng.integers(0, 2, len(keys)).astype(dtype)
    index = made(keys, values)
    table = pyarrow.table(index)
    table.validate(full=True)
    listed, values = index.range()
    its = types_of(made, pyarrow)[1]
    assert table.equals(pyarrow.table({"key": pyarrow.array(listed, its), "value": values}))
    assert pyarrow.schema(index) == table.schema
    assert made.from_arrow(index) == made.from_arrow(table) == made.from_arrow(index.to_arrow()) == index
    assert made.from_arrow(index).value_dtype == np.dtype(dtype)


def test_empty_streams(made, pyarrow):
    assert pyarrow.table(made()).num_rows == 0
    assert made.from_arrow(made(value_dtype="bool")).value_dtype == np.dtype(bool)
    for its in types_of(made, pyarrow):
        assert (
            len(made.from_arrow(pyarrow.table({"a": pyarrow.array([], its), "b": pyarrow.array([], "i4")}))) == 0
        )


def test_streams_may_be_left_unread(made, keys):
    index = made(keys, 0)
    for _ in range(100):
        index.__arrow_c_stream__()
        index.__arrow_c_schema__()


def test_other_types_are_a_type_error_that_names_them(made, pyarrow):
    others = types_of(BytesIndex if made is StringIndex else StringIndex, pyarrow)[0]
    columns = {
        "binary" if made is StringIndex else "string": pyarrow.array(["a"], others),
        "dictionary": pyarrow.array(["a"]).dictionary_encode(),
        "l": pyarrow.array([1]),
        "null": pyarrow.nulls(1),
        "nested": pyarrow.array([["a"]]),
    }
    asked = [(name, column) for name, column in columns.items() if name != "dictionary"]
    # The keys of a dictionary are those that it encodes.
    if made is StringIndex:
        assert made(["a"], 7).get_many(columns["dictionary"])[0].tolist() == [7]
    else:
        asked.append(("string", columns["dictionary"]))
    for name, column in asked:
        with pytest.raises(TypeError, match=f"of type {name}"):
            made().get_many(column)
    for name, column in columns.items():
        with pytest.raises(TypeError, match=f"of type {name}"):
            made.from_arrow(pyarrow.table({"a": column, "b": [1]}))
    for name in ("dictionary", "null", "nested"):
        with pytest.raises(TypeError, match=f"values can't be made from a column of type {name}"):
            made.from_arrow(pyarrow.table({"a": pyarrow.array([made.key_type()]), "b": columns[name]}))
    with pytest.raises(TypeError, match="no Arrow stream"):
        made.from_arrow([1, 2])
    with pytest.raises(TypeError, match="no columns"):
        made.from_arrow(pyarrow.array(["a"]))


def test_nulls_are_a_value_error_with_their_position(made, keys, pyarrow):
    index = made(keys, 0)
    for its in types_of(made, pyarrow):
        column = pyarrow.array([*keys[:20], None, keys[0], None], its)
        parts = pyarrow.chunked_array([column[:3], column[3:]])
        for some, at in ((column, 20), (column[20:], 0), (column[13:22], 7), (parts, 20)):
            for operation in (index.get_many, index.remove_many, lambda some: index.insert_many(some, 0)):
                with pytest.raises(ValueError, match=f"the key at position {at} is"):
                    operation(some)
        table = pyarrow.table({"a": column, "b": np.arange(len(column))})
        with pytest.raises(ValueError, match="the key at position 20 is"):
            made.from_arrow(table)
        assert index.contains_many(column[:20]).all()
    with pytest.raises(ValueError, match="values must not be null"):
        made.from_arrow(pyarrow.table({"a": pyarrow.array(keys[:2]), "b": [1, None]}))
    assert len(index) == len(set(keys))


def test_strings_that_are_no_utf8_are_a_value_error(pyarrow):
    for wrong in (b"\xff", "é".encode()[:1], b"\xed\xa0\x80"):
        for its in (pyarrow.string(), pyarrow.large_string()):
            offsets = np.array([0, 1, 2, 2 + len(wrong)], "i4" if its == pyarrow.string() else "i8")
            buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"ab" + wrong)]
            column = pyarrow.Array.from_buffers(its, 3, buffers)
            with pytest.raises(ValueError, match="position 2 isn't UTF-8"):
                StringIndex(column, 0)
            with pytest.raises(ValueError, match="position 2 isn't UTF-8"):
                StringIndex.from_arrow(pyarrow.Table.from_arrays([column, pyarrow.array([1, 2, 3])], ["a", "b"]))
    # A character that is cut in two between keys: together they are a text.
    column = pyarrow.Array.from_buffers(
        pyarrow.string(), 2, [None, pyarrow.py_buffer(np.array([0, 1, 2], "i4")), pyarrow.py_buffer("é".encode())]
    )
    with pytest.raises(ValueError, match="position 0 isn't UTF-8"):
        StringIndex(column, 0)


class Foreign:
    """An array of Arrow's whose second buffer, of offsets or views, begins with what the test wants."""

    def __init__(self, array, words):
        self.array, self.words = array, np.array(words, "i4").tobytes()

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = self.array.__arrow_c_array__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        buffers = ctypes.c_void_p.from_address(get(array, b"arrow_array") + 40).value
        ctypes.memmove(ctypes.c_void_p.from_address(buffers + 8).value, self.words, len(self.words))
        return schema, array


def test_broken_offsets_are_a_value_error(pyarrow):
    for offsets in ([0, 2, 1, 3], [-1, 0, 1, 2], [2, 2, 2, 0]):
        with pytest.raises(ValueError, match="broken"):
            BytesIndex(Foreign(pyarrow.array([b"a", b"b", b"c"]), offsets), 0)
    assert list(BytesIndex(Foreign(pyarrow.array([b"a", b"b", b"c"]), [0, 0, 2, 3]), 0)) == [b"", b"ab", b"c"]


@pytest.mark.parametrize(
    "view",
    [(-1, 0, 0), (20, 1, 0), (20, -1, 0), (20, 0, -1), (20, 0, 5), (2**31 - 1, 0, 2**31 - 1)],
    ids=str,
)
def test_views_that_lead_outside_are_a_value_error(pyarrow, view):
    length, buffer, offset = view
    data = b"0123456789" * 2
    with pytest.raises(ValueError, match="broken"):
        BytesIndex(Foreign(pyarrow.array([data], pyarrow.binary_view()), [length, 0, buffer, offset]), 0)
    assert list(BytesIndex(Foreign(pyarrow.array([data], pyarrow.binary_view()), [20, 0, 0, 0]), 0)) == [data]


def test_what_goes_wrong_in_a_producer_is_told(pyarrow):
    table = pyarrow.table({"a": ["x"], "b": [1]})

    def broken():
        yield table.to_batches()[0]
        raise RuntimeError("the line went dead")

    reader = pyarrow.RecordBatchReader.from_batches(table.schema, broken())
    with pytest.raises(ValueError, match="the line went dead"):
        StringIndex.from_arrow(reader)


def test_without_pyarrow():
    pytest.importorskip("polars")
    code = """
from latchless import BytesIndex, StringIndex
index = StringIndex(["b", "a" * 20], [0.5, 1.5])
frame = polars.from_dataframe(index)
assert frame.rows() == [("a" * 20, 1.5), ("b", 0.5)], frame
assert StringIndex.from_arrow(frame) == StringIndex.from_arrow(index) == index
assert index.get_many(frame["key"])[0].tolist() == [1.5, 0.5]
assert BytesIndex.from_arrow(polars.DataFrame({"k": [b"x"], "v": [1]})) == {b"x": 1}
to_arrow(index)
"""
    assert printed(WITHOUT_PYARROW + code) == "this needs pyarrow: pip install latchless[arrow]\n"


def test_pandas_and_duckdb(pyarrow):
    pandas, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    index = StringIndex(TEXTS, range(len(TEXTS)))
    frame = pandas.DataFrame({"page": TEXTS, "hits": range(len(TEXTS))})
    assert StringIndex.from_arrow(frame, "page", "hits") == index
    assert StringIndex(frame["page"], frame["hits"]) == index
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert pandas.DataFrame.from_arrow(index)["key"].tolist() == sorted(TEXTS)
    connection = duckdb.connect()
    connection.register("pages", index.to_arrow())
    few = connection.sql("select key, value * 2 as twice from pages where key like 'é%'")
    listed, values = index.prefix("é")
    assert StringIndex.from_arrow(few, "key", "twice") == StringIndex(listed, values * 2)

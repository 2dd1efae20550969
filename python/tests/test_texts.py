"""Indexes whose values are strings, or bytes: every operation against a dict, refusals, and threads."""

import copy
import pickle
import random
import threading

import numpy as np
import pytest
from conftest import assert_refused, forks_amid, in_child, run_all

from latchless import BytesIndex, Index, StringIndex

# Bytes of values: within a word, next to the key, around the largest stored there, outside, and the longest.
LENGTHS = [0, 1, 7, 8, 20, 100, 190, 192, 193, 300, 5000, 65_535]
MAKES = [(made, kind) for made in (StringIndex, BytesIndex) for kind in (str, bytes)]


@pytest.fixture(params=MAKES, ids=lambda pair: f"{pair[0].key_type.__name__}-{pair[1].__name__}")
def types(request):
    return request.param


@pytest.fixture
def made(types):
    return types[0]


@pytest.fixture
def kind(types):
    return types[1]


def of(kind, text):
    return text if kind is str else text.encode()


def value_of(kind, number):
    """A value of any length, whose bytes say which one it is; texts have characters of two bytes."""
    length = LENGTHS[number % (len(LENGTHS) - (number % 50 != 0))]
    text = f"{number}é"[:length] if length < 10 else f"{number}é".ljust(length - 1, chr(97 + number % 26))
    while len(text.encode()) > length:
        text = text[:-1]
    return of(kind, text)


@pytest.fixture
def model(made, kind):
    rng = random.Random(3)
    numbers = rng.sample(range(4000), 1200)
    return {of(made.key_type, f"key/{number:05}"): value_of(kind, number) for number in numbers}


@pytest.fixture
def index(made, kind, model):
    return made(list(model), list(model.values()))


def test_all_entries_in_order(index, model, kind):
    ordered = sorted(model.items())
    assert index.value_dtype is kind
    assert list(index.items()) == ordered
    assert list(index.values()) == [value for _, value in ordered]
    assert list(reversed(index.items())) == ordered[::-1]
    assert index.range() == ([key for key, _ in ordered], [value for _, value in ordered])
    assert (index.first(), index.last()) == (ordered[0], ordered[-1])
    assert ordered[7][1] in index.values()
    assert len(index) == len(model)
    index.check_invariants()


@pytest.mark.parametrize("threads", [1, 3])
def test_batches_of_lookups(index, model, made, threads):
    keys = [of(made.key_type, f"key/{number:05}") for number in range(4000)] * 2
    values, found = index.get_many(keys, threads=threads)
    assert type(values) is list
    assert values == [model.get(key) for key in keys]
    assert found.tolist() == [key in model for key in keys]
    assert index.contains_many(keys, threads=threads).tolist() == found.tolist()
    default = object()
    assert index.get_many(keys[:99], default)[0] == [model.get(key, default) for key in keys[:99]]
    assert index.get_many([]) == ([], pytest.approx(np.empty(0, bool)))


def test_the_mapping_protocol_against_a_dict(made, kind):
    index, model, rng = made(value_dtype=kind), {}, random.Random(5)
    assert (index.first(), len(index), list(index)) == (None, 0, [])
    for _ in range(6000):
        key, value = of(made.key_type, f"{rng.randrange(300)}"), value_of(kind, rng.randrange(2000))
        match rng.randrange(9):
            case 0 | 1 | 2:
                index[key] = model[key] = value
            case 3:
                assert index.pop(key, None) == model.pop(key, None)
            case 4:
                assert index.setdefault(key, value) == model.setdefault(key, value)
            case 5:
                assert index.get(key) == model.get(key)
                assert index.get(key, b"none") == model.get(key, b"none")
            case 6:
                assert index.replace(key, value) == model.get(key)
                if key in model:
                    model[key] = value
            case 7:
                expected = model.get(key, value) if rng.randrange(2) else value
                done = index.compare_exchange(key, expected, value)
                assert done == (key in model and model[key] == expected)
                if done:
                    model[key] = value
            case _:
                expected = model.get(key, value)
                assert index.compare_remove(key, expected) == (key in model)
                model.pop(key, None)
    assert dict(index.items()) == model
    index.check_invariants()
    assert index.popitem(last=False) == min(model.items())
    assert index.peekitem() == max(model.items())
    with pytest.raises(KeyError):
        index[of(made.key_type, "none")]
    # Without a default the empty string goes in.
    assert index.setdefault(of(made.key_type, "new")) == kind()
    index.update({of(made.key_type, "new"): of(kind, "one"), of(made.key_type, "newer"): of(kind, "two")})
    assert index.prefix(of(made.key_type, "new"))[1] == [of(kind, "one"), of(kind, "two")]


def test_neighbours_ranges_and_prefixes(index, model, made):
    ordered, text = sorted(model), made.key_type
    for number in range(0, 4000, 37):
        key = of(text, f"key/{number:05}")
        below, above = [each for each in ordered if each <= key], [each for each in ordered if each >= key]
        assert index.floor(key) == ((below[-1], model[below[-1]]) if below else None)
        assert index.ceiling(key) == ((above[0], model[above[0]]) if above else None)
    keys, values = index.range(ordered[100], ordered[200], closed="both", reverse=True, limit=50)
    assert keys == ordered[151:201][::-1]
    assert values == [model[key] for key in keys]
    keys, values = index.prefix(of(text, "key/012"))
    assert keys == [key for key in ordered if key.startswith(of(text, "key/012"))]
    assert values == [model[key] for key in keys]
    assert index.remove_prefix(of(text, "key/012")) == len(keys)
    assert index.count() == len(model) - len(keys)
    index.check_invariants()


def test_loads_and_inserts(made, kind, model):
    keys, values = list(model), list(model.values())
    ordered = sorted(model)
    loaded = made(ordered, [model[key] for key in ordered], assume_sorted=True, fill=1.0)
    assert loaded == made(keys, values)
    # Of equal keys the last one stays, in a build and in a batch.
    double = made(keys + keys, values[::-1] + values)
    assert double == loaded
    index = made(value_dtype=kind)
    assert index.insert_many(keys[:700] * 2, values[:700][::-1] + values[:700]) == 700
    assert index.insert_many(keys, values) == len(keys) - 700
    assert index == loaded
    assert index.insert_many(keys, of(kind, "one")) == 0
    assert set(index.values()) == {of(kind, "one")}
    assert set(made(keys, of(kind, "all")).values()) == {of(kind, "all")}
    assert index.remove_many(keys[:100]) == 100
    index.check_invariants()
    index.clear()
    assert len(index) == 0


def test_arrays_of_strings_are_values(made):
    keys = [of(made.key_type, letter) for letter in "abc"]
    texts, cells = np.array(["one", "é", "three"]), np.array([b"one", b"", b"\xff\x01"])
    assert list(made(keys, texts).values()) == ["one", "é", "three"]
    assert list(made(keys, cells).values()) == [b"one", b"", b"\xff\x01"]
    assert list(made(keys, texts.astype(object)).values()) == ["one", "é", "three"]
    assert list(made(keys, (each for each in "xyz")).values()) == ["x", "y", "z"]
    assert made(value_dtype="str").value_dtype is str
    assert made(value_dtype=np.dtype("S")).value_dtype is bytes
    if hasattr(np.dtypes, "StringDType"):
        assert list(made(keys, texts.astype(np.dtypes.StringDType())).values()) == ["one", "é", "three"]


def test_columns_of_arrow(made, kind):
    pyarrow = pytest.importorskip("pyarrow")
    keys = [of(made.key_type, letter) for letter in "abcd"]
    values = [of(kind, text) for text in ("one", "", "é", "x" * 300)]
    kinds = ["string", "large_string", "string_view"] if kind is str else ["binary", "large_binary", "binary_view"]
    for name in kinds:
        column = pyarrow.array(values, getattr(pyarrow, name)())
        index = made(keys, column)
        assert index.value_dtype is kind
        assert list(index.values()) == values
        assert index.insert_many(keys, pyarrow.chunked_array([column[:3], column[3:]])) == 0
        of_table = made.from_arrow(pyarrow.table({"k": pyarrow.array(keys), "v": column}), "k", "v")
        assert of_table == index
        sliced = pyarrow.table({"k": pyarrow.array(keys), "v": column}).slice(1, 2)
        assert list(made.from_arrow(sliced).items()) == list(zip(keys[1:3], values[1:3], strict=True))
    table = index.to_arrow()
    assert table.schema.field("value").type == (pyarrow.large_string() if kind is str else pyarrow.large_binary())
    assert table.column("value").to_pylist() == values
    assert made.from_arrow(table) == index
    assert pyarrow.schema(index) == table.schema
    assert made(value_dtype=kind).to_arrow().num_rows == 0
    nulls = pyarrow.array([*values[:2], None, values[3]])
    with pytest.raises(ValueError, match="values must not be null, but the value at position 2 is"):
        made(keys, nulls)
    if kind is bytes:
        cells = pyarrow.array([b"ab", b"cd"], pyarrow.binary(2))
        table = pyarrow.table([pyarrow.array(keys[:2]), cells], ["k", "v"])
        assert list(made.from_arrow(table).values()) == [b"ab", b"cd"]


def test_columns_of_pandas_and_polars(made):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    keys = [of(made.key_type, letter) for letter in "ab"]
    for values in (
        pandas.Series(["one", "two"]),
        pandas.Series(["one", "two"], dtype="string"),
        polars.Series(["one", "two"]),
    ):
        assert list(made(keys, values).values()) == ["one", "two"]
    assert list(made(keys, polars.Series([b"one", b"two"])).values()) == [b"one", b"two"]
    with pytest.raises(ValueError, match="null"):
        made(keys, pandas.Series(["one", None], dtype="string"))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(index, protocol):
    other = pickle.loads(pickle.dumps(index, protocol))
    assert type(other) is type(index)
    assert other == index
    assert other.value_dtype is index.value_dtype


def test_pickles_pass_arrays_out_of_band(index):
    buffers = []
    data = pickle.dumps(index, 5, buffer_callback=buffers.append)
    assert (len(data) < 700, len(buffers)) == (True, 4)
    assert pickle.loads(data, buffers=[memoryview(bytes(buffer)) for buffer in buffers]) == index


def test_a_pickle_that_was_changed_is_a_value_error():
    restore, (cls, key, value, *columns), _ = StringIndex(["a", "b"], ["x", "é"]).__reduce__()
    assert restore(cls, key, value, *columns) == StringIndex(["a", "b"], ["x", "é"])
    with pytest.raises(ValueError, match="the offsets of the values don't fit their bytes"):
        restore(cls, key, value, *columns[:2], columns[2] + 1, columns[3])
    with pytest.raises(ValueError, match="the value at position 1 isn't UTF-8"):
        restore(cls, key, value, *columns[:3], columns[3] & np.array([0xFF, 0xFF, 0x7F], "u1"))


def test_copies_are_apart(index, model):
    for other in (index.copy(), copy.copy(index), copy.deepcopy(index)):
        assert type(other) is type(index)
        assert other == index
        other.clear()
        assert len(index) == len(model)


def test_equality_and_what_it_says_of_itself():
    index = StringIndex(["a", "b"], ["x", "yz"])
    assert repr(index) == "StringIndex({'a': 'x', 'b': 'yz'}, value_dtype=str)"
    assert repr(BytesIndex([b"a"], [b"x"])) == "BytesIndex({b'a': b'x'}, value_dtype=bytes)"
    assert index == {"a": "x", "b": "yz"}
    # The same bytes, cut elsewhere; of another type; numbers.
    assert index != StringIndex(["a", "b"], ["xy", "z"])
    assert index != StringIndex(["a", "b"], [b"x", b"yz"])
    assert index != StringIndex(["a", "b"], [1, 2])
    assert StringIndex(["a", "b"], [1, 2]) != index
    assert StringIndex(value_dtype=str) != StringIndex(value_dtype=bytes)
    other = StringIndex(value_dtype=str)
    other.update(index)
    assert other == index
    with pytest.raises(TypeError):
        StringIndex(["a"], [1]).update(index)
    with pytest.raises(TypeError, match="values are bytes, not str"):
        StringIndex(value_dtype=bytes).update(index)


# ---- refusals ----

ONE = [
    lambda index, value: index.setdefault(index.first()[0] * 2, value),
    lambda index, value: index.__setitem__(index.first()[0], value),
    lambda index, value: index.replace(index.first()[0], value),
    lambda index, value: index.compare_exchange(*index.first(), value),
]
MANY = [
    lambda index, values: index.insert_many(list(index)[: len(values)], values),
    lambda index, values: type(index)(list(index)[: len(values)], values, value_dtype=index.value_dtype),
]


def test_values_of_another_type_are_a_type_error(index, kind):
    name, other = kind.__name__, b"one" if kind is str else "one"
    for value in (other, 1, 1.5, None, ["a"], bytearray(b"one"), memoryview(b"one"), np.int64(3)):
        # As a default None is the empty string.
        operations = ONE if value is not None else ONE[1:]
        assert_refused(TypeError, f"a value is {name}, not of type", index, operations, value)
        good = of(kind, "good")
        assert_refused(TypeError, f"values are {name}, but the value at position 1 is", index, MANY, [good, value])
    remove = [lambda index, value: index.compare_remove(index.first()[0], value)]
    assert_refused(TypeError, f"a value is {name}", index, remove, 1)
    for array in (np.arange(2), np.array([0.5, 1.5]), np.array([other, other])):
        assert_refused(TypeError, f"values are {name}", index, MANY, array)
    for scalar in (1, None, bytearray(b"one")):
        with pytest.raises(TypeError):
            index.insert_many(list(index)[:2], scalar)
    pyarrow = pytest.importorskip("pyarrow")
    column = pyarrow.array([other, other])
    assert_refused(TypeError, f"values are {name} and can't be made from", index, MANY, column)
    assert_refused(TypeError, f"values are {name} and can't be made from", index, MANY, pyarrow.array([1, 2]))


def test_strings_that_are_no_values_are_a_value_error(index, kind):
    too_long = of(kind, "x" * 16_777_216)
    assert_refused(ValueError, "16777216 bytes", index, ONE, too_long)
    match = "the value at position 1 has 16777216 bytes, more than the 16777215 that a value may have"
    assert_refused(ValueError, match, index, MANY, [of(kind, "good"), too_long])
    assert not index.compare_remove(index.first()[0], too_long)
    assert not index.compare_exchange(index.first()[0], too_long, of(kind, "x"))
    index[index.first()[0]] = of(kind, "x" * 16_777_215)
    assert len(index.first()[1]) == 16_777_215
    masked = np.ma.masked_array([of(kind, "a"), of(kind, "b")], [False, True])
    assert_refused(ValueError, "values must not be masked", index, MANY, masked)
    assert_refused(ValueError, "values must be one-dimensional", index, MANY, np.array([[of(kind, "a")]]))
    for count in (1, 3):
        with pytest.raises(ValueError, match=f"there are 2 keys but {count} values"):
            index.insert_many(list(index)[:2], [of(kind, "a")] * count)
    if kind is str:
        assert_refused(ValueError, "the value has a lone surrogate", index, ONE, "a\ud800")
        match = "the value at position 1 has a lone surrogate"
        assert_refused(ValueError, match, index, MANY, ["a", "\ud800"])
    index.check_invariants()


def test_what_tells_no_type_is_one_of_numbers():
    assert StringIndex().value_dtype == np.dtype("int64")
    assert StringIndex([], []).value_dtype == np.dtype("int64")
    assert StringIndex([], [], value_dtype=str).value_dtype is str
    for dtype in ("U5", "S3", object, list, 7):
        with pytest.raises(TypeError):
            StringIndex(value_dtype=dtype)
    assert Index([1], ["a"]).value_dtype is str
    with pytest.raises(TypeError):
        StringIndex(["a", "b"], [1, "b"])
    with pytest.raises(TypeError, match="value at position 1"):
        StringIndex(["a", "b"], ["a", 1])


def test_files_bring_values_back(made, kind, tmp_path):
    path = tmp_path / "index.arrow"
    entries = {of(made.key_type, f"key-{at:05}"): value_of(kind, at) for at in range(3000)}
    entries[of(made.key_type, "empty")] = of(kind, "")
    entries[of(made.key_type, "long")] = of(kind, "x" * 65_535)
    index = made(list(entries), list(entries.values()), value_dtype=kind)
    assert index.save(path) == len(entries)
    again = made.open(path)
    assert again == index
    assert again.value_dtype is kind
    assert dict(again.items()) == entries
    again.check_invariants()
    assert again.save(path) == len(entries)
    assert made(value_dtype=kind).save(path) == 0
    assert len(made.open(path)) == 0


def test_files_of_other_values_are_refused(made, kind, tmp_path):
    path = tmp_path / "index.arrow"
    made([of(made.key_type, "a")], [value_of(kind, 1)], value_dtype=kind).save(path)
    other = {StringIndex: BytesIndex, BytesIndex: StringIndex}[made]
    with pytest.raises(ValueError, match="keys of type"):
        other.open(path)
    for at in range(0, path.stat().st_size, 7):
        damaged = bytearray(path.read_bytes())
        damaged[at] ^= 4
        (tmp_path / "damaged.arrow").write_bytes(damaged)
        with pytest.raises(ValueError):
            made.open(tmp_path / "damaged.arrow")


def test_refused_memory_names_what_was_not_done(made, kind):
    keys = [of(made.key_type, f"key-{at:07}") for at in np.random.default_rng(1).permutation(20_000).tolist()]
    values = [value_of(kind, at % 9) for at in range(20_000)]
    index = made(value_dtype=kind, limit_bytes=1 << 19)
    with pytest.raises(MemoryError) as caught:
        index.insert_many(keys, values)
    refused = caught.value.refused
    assert 0 < len(refused) < len(keys)
    there = index.contains_many(keys)
    assert np.flatnonzero(~there).tolist() == refused.tolist()
    found, _ = index.get_many(keys)
    assert all(value is None or value == values[at] for at, value in enumerate(found))
    index.check_invariants()
    with pytest.raises(MemoryError):
        made(keys, values, limit_bytes=1 << 19)


# ---- threads ----


def test_values_are_whole_under_threads(made, kind):
    index, own = made(value_dtype=kind), 4
    counter = of(made.key_type, "counter")
    index[counter] = of(kind, "0")

    def whole(value):
        assert value == value_of(kind, int(value.partition(of(kind, "é"))[0]))

    def work(thread):
        rng = random.Random(thread)
        numbers = [number for number in range(400) if len(value_of(bytes, number)) >= 20]
        for _ in range(40):
            some = [rng.choice(numbers) for _ in range(300)]
            keys = [of(made.key_type, f"key/{number % 50}/{thread % 2}") for number in some]
            index.insert_many(keys, [value_of(kind, number) for number in some])
            for value in index.get_many(keys)[0]:
                whole(value if value is not None else value_of(kind, numbers[0]))
            for key, value in zip(*index.prefix(of(made.key_type, "key/1")), strict=True):
                whole(value)
                index[key] = value_of(kind, rng.choice(numbers))
            near = index.floor(keys[0])
            if near is not None and near[0] != counter:
                whole(near[1])
            if (gone := index.pop(keys[1], None)) is not None:
                whole(gone)
            done = 0
            while done < 20:
                now = index[counter]
                # Long ones and short ones take turns.
                count = int(now.split(of(kind, " "))[0]) + 1
                done += index.compare_exchange(counter, now, of(kind, f"{count} {'x' * (250 * (count % 2))}"))

    run_all(*(lambda thread=thread: work(thread) for thread in range(own)))
    index.check_invariants()
    assert int(index[counter].split(of(kind, " "))[0]) == own * 40 * 20


def test_lists_may_change_after_a_batch_has_begun():
    keys = [f"{at:06}" for at in range(100_000)]
    values = ["ant" * 100] * 100_000
    index, stop = StringIndex(value_dtype=str), threading.Event()

    def change():
        while not stop.is_set():
            values[:] = ["bee"] * len(values)
            values[:] = ["ant" * 100] * len(values)

    def insert():
        try:
            for _ in range(5):
                index.insert_many(keys, values)
        finally:
            stop.set()

    run_all(change, insert)
    assert set(index.values()) <= {"bee", "ant" * 100}
    index.check_invariants()


def test_forks_amid_batches_of_other_threads():
    index = StringIndex([f"{at:05}" for at in range(5000)], "x" * 300)

    def write(seed, done):
        rng = random.Random(seed)
        while not done.is_set():
            keys = [f"{rng.randrange(9999):05}" for _ in range(2000)]
            index.insert_many(keys, [key * rng.randrange(80) for key in keys])
            index.get_many(keys)

    def child():
        index["child"] = "x" * 500
        assert len(index["child"]) == 500
        assert len(index.range()[1]) == len(index)
        index.check_invariants()

    in_child(child)
    forks_amid(write, child, times=10)

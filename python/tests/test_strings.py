"""Indexes of strings and of bytes: every operation against a dict and its sorted keys."""

import copy
import pickle
import random

import numpy as np
import pytest
from conftest import assert_same

from latchless import BytesIndex, Index, StringIndex

COUNT = 1500


def words(rng: random.Random, count: int) -> list[str]:
    """Short keys of a few letters: many are prefixes of others, and one is empty."""
    return ["", *("".join(rng.choices("ab\0é", k=rng.randrange(1, 9))) for _ in range(count))]


def urls(rng: random.Random, count: int) -> list[str]:
    """Keys that begin alike, as addresses do."""
    hosts = [f"https://{'www.' * (at % 2)}host{at}.example.org" for at in range(20)]
    return [f"{rng.choice(hosts)}/{rng.choice('abc')}/page-{rng.randrange(4 * count)}" for _ in range(count)]


def characters(rng: random.Random, count: int) -> list[str]:
    """Characters of one to four bytes, those below and above the surrogates among them."""
    alphabet = "\0a~\x7f\x80ÿ߿ࠀ\ud7ff\ue000�\uffff𐀀𝄞\U0010ffff"
    return ["".join(rng.choices(alphabet, k=rng.randrange(6))) for _ in range(count)]


def long_ones(rng: random.Random, count: int) -> list[str]:
    """Keys of up to 65,535 bytes, which differ at their end."""
    some = [rng.choice("xy") * rng.choice([200, 3000, 65_530]) + f"{rng.randrange(99):02}" for _ in range(60)]
    return some + words(rng, count // 10)


SETS = [words, urls, characters, long_ones]


@pytest.fixture(params=[StringIndex, BytesIndex], ids=["str", "bytes"])
def made(request):
    return request.param


@pytest.fixture(params=SETS, ids=lambda keys: keys.__name__)
def keys(request, made):
    """Keys of the index's type, some of them more than once."""
    found = request.param(random.Random(20261123), COUNT)
    return found if made is StringIndex else [key.encode() for key in found]


@pytest.fixture
def model(keys):
    return {key: at for at, key in enumerate(keys[: len(keys) // 2])}


@pytest.fixture
def index(made, model):
    return made(list(model), list(model.values()))


def key_of(made, text):
    return text if made is StringIndex else text.encode()


def near(ordered, key, name):
    """The neighbour of a key among sorted keys."""
    if name in ("floor", "lower"):
        there = [each for each in ordered if each < key or (each == key and name == "floor")]
        return there[-1] if there else None
    there = [each for each in ordered if each > key or (each == key and name == "ceiling")]
    return there[0] if there else None


def test_all_entries_in_order(index, model):
    ordered = sorted(model)
    assert list(index) == ordered
    assert list(reversed(index)) == ordered[::-1]
    assert list(index.items()) == [(key, model[key]) for key in ordered]
    listed, values = index.range()
    assert listed == ordered
    assert_same(values, np.array([model[key] for key in ordered]))
    assert len(index) == len(model)
    index.check_invariants()


@pytest.mark.parametrize("fill", [0.3, 1.0])
def test_loads(made, keys, fill):
    """Of equal keys the last one stays."""
    model = {key: at for at, key in enumerate(keys)}
    assert made(keys, range(len(keys)), fill=fill) == model
    ordered = sorted(model)
    index = made(ordered, [model[key] for key in ordered], assume_sorted=True, fill=fill)
    assert index == model
    index.check_invariants()


def test_builds_of_keys_that_differ_late(made):
    """A sort of eight bytes at a time: keys that end amid them, zeros at their end, many equal ones."""
    rng = random.Random(7)
    texts = [f"{'a' * length}{end}" for length in range(0, 400, 3) for end in ("", "\0", "b", "\0\0c", "b" * 9)]
    texts += [f"{'a' * 200}{at:07}" for at in range(500)] + ["a" * 300] * 100
    texts += [f"ab{zeros * chr(0)}" for zeros in range(40)]
    rng.shuffle(texts)
    keys = [key_of(made, text) for text in texts]
    index = made(keys, range(len(keys)))
    assert index == {key: at for at, key in enumerate(keys)}
    assert list(index) == sorted(set(keys))
    index.check_invariants()


def test_lookups(index, model, keys):
    values, found = index.get_many(keys)
    assert_same(values, np.array([model.get(key, 0) for key in keys]))
    assert_same(found, np.array([key in model for key in keys]))
    assert_same(index.contains_many(keys), found)
    assert index.get_many(keys, -1)[0].tolist() == [model.get(key, -1) for key in keys]
    for key in keys[::7]:
        assert index.get(key) == model.get(key)
        assert index.get(key, "none") == model.get(key, "none")
        assert (key in index) == (key in model)


def test_threads_give_the_same(index, keys):
    many = keys * 9
    for one, several in zip(index.get_many(many), index.get_many(many, threads=3), strict=True):
        assert_same(several, one)


def test_neighbours(index, model, keys):
    ordered = sorted(model)
    assert index.first() == (ordered[0], model[ordered[0]])
    assert index.last() == (ordered[-1], model[ordered[-1]])
    for key in keys[::31]:
        for name in ("floor", "ceiling", "lower", "higher"):
            expected = near(ordered, key, name)
            assert getattr(index, name)(key) == (None if expected is None else (expected, model[expected]))


@pytest.mark.parametrize("closed", ["left", "right", "both", "neither"])
def test_ranges(index, model, keys, closed):
    ordered, rng = sorted(model), random.Random(1)
    bounds = [None, ordered[0], ordered[-1], *rng.sample(keys, 5)]
    for low in bounds:
        for high in bounds:
            inside = [
                key
                for key in ordered
                if (low is None or low < key or (low == key and closed in ("left", "both")))
                and (high is None or key < high or (key == high and closed in ("right", "both")))
            ]
            listed, values = index.range(low, high, closed=closed)
            assert listed == inside
            assert values.tolist() == [model[key] for key in inside]
            assert index.count(low, high, closed=closed) == len(inside)
            assert index.range(low, high, closed=closed, reverse=True, limit=7)[0] == inside[::-1][:7]
            for limit in (0, 1, 5, 10**9):
                assert index.range(low, high, closed=closed, limit=limit)[0] == inside[:limit]


def test_prefixes(index, model, keys):
    ordered = sorted(model)
    for key in [*keys[::97], keys[0][:0]]:
        for length in {len(key) // 2, len(key), 1}:
            prefix = key[:length]
            inside = [each for each in ordered if each.startswith(prefix)]
            listed, values = index.prefix(prefix)
            assert listed == inside
            assert values.tolist() == [model[each] for each in inside]
            assert index.count_prefix(prefix) == len(inside)
            assert index.prefix(prefix, reverse=True, limit=3)[0] == inside[::-1][:3]


def test_prefixes_of_the_highest_bytes():
    index = BytesIndex([b"\xfe\xff", b"\xfe\xff\xff", b"\xff", b"\xff\xff", b"\xff\xff\x00"], range(5))
    assert index.prefix(b"\xff")[1].tolist() == [2, 3, 4]
    assert index.prefix(b"\xff\xff")[1].tolist() == [3, 4]
    assert index.prefix(b"\xfe\xff")[1].tolist() == [0, 1]
    assert index.prefix(b"")[1].tolist() == [0, 1, 2, 3, 4]
    assert index.remove_prefix(b"\xff\xff") == 2
    assert list(index) == [b"\xfe\xff", b"\xfe\xff\xff", b"\xff"]


def test_range_removal(index, model):
    ordered = sorted(model)
    low, high = ordered[len(ordered) // 4], ordered[len(ordered) // 2]
    assert index.remove_range(low, high) == sum(low <= key < high for key in ordered)
    rest = [key for key in ordered if not low <= key < high]
    assert list(index) == rest
    prefix = rest[0][:3] or rest[1][:1]
    assert index.remove_prefix(prefix) == sum(key.startswith(prefix) for key in rest)
    rest = [key for key in rest if not key.startswith(prefix)]
    assert list(index) == rest
    assert index.remove_range() == len(rest)
    assert (len(index), index.first(), index.last()) == (0, None, None)
    index.check_invariants()


def test_inserts_and_removals(made, keys):
    index, half = made(), len(keys) // 2
    model = {key: at for at, key in enumerate(keys)}
    assert index.insert_many(keys[:half], range(half)) == len(set(keys[:half]))
    assert index.insert_many(keys[half:], range(half, len(keys))) == len(model) - len(set(keys[:half]))
    assert index == model
    gone = set(keys[: half // 2])
    assert index.remove_many(keys[: half // 2]) == len(gone)
    assert index == {key: value for key, value in model.items() if key not in gone}
    assert index.insert_many(keys[:5], 7) == len(set(keys[:5]))
    assert index.get_many(keys[:5])[0].tolist() == [7] * 5
    index.check_invariants()


def test_large_batches(made):
    """Several chunks of a batch, and several pieces of a range."""
    rng = random.Random(3)
    texts = [f"{rng.randrange(10**6):x}/{at % 7}" for at in range(60_000)]
    keys = texts if made is StringIndex else [text.encode() for text in texts]
    model = {key: at for at, key in enumerate(keys)}
    index = made()
    assert index.insert_many(keys, range(len(keys))) == len(model)
    ordered = sorted(model)
    assert index.range()[0] == ordered
    assert index.range(reverse=True)[0] == ordered[::-1]
    assert index.range(ordered[5], ordered[-5], limit=40_000)[0] == ordered[5:-5][:40_000]
    assert made(keys, range(len(keys))) == index
    assert index.remove_many(keys[::3]) == len(set(keys[::3]))
    assert list(index) == sorted(set(keys) - set(keys[::3]))


def test_the_mapping_protocol_against_a_dict(made, keys):
    index, model = made(), {}
    for step, key in enumerate(keys[:800]):
        match step % 6:
            case 0 | 1:
                index[key] = model[key] = step
            case 2:
                assert index.pop(key, None) == model.pop(key, None)
            case 3:
                assert index.setdefault(key, step) == model.setdefault(key, step)
            case 4:
                assert index.get(key) == model.get(key)
            case 5:
                assert index.replace(key, -step) == model.get(key)
                model.update({key: -step} if key in model else {})
    ordered = sorted(model.items())
    assert index == model
    assert model == index
    assert list(index.keys()) == [key for key, _ in ordered]
    assert list(index.values()) == [value for _, value in ordered]
    assert list(reversed(index.items())) == ordered[::-1]
    assert (index.peekitem(), index.peekitem(last=False)) == (ordered[-1], ordered[0])
    for last in (True, False):
        assert index.popitem(last) == ordered.pop(-1 if last else 0)
    for key, _ in ordered[::2]:
        del index[key]
    assert list(index.items()) == ordered[1::2]
    index.update(model)
    assert index == model
    index.update(made(list(model), 5))
    assert index == dict.fromkeys(model, 5)
    index.update(ordered)
    index.clear()
    assert index == {}
    index.update([ordered[0]])
    assert list(index.items()) == ordered[:1]


def test_names_are_keys_of_an_index_of_strings():
    index = StringIndex(["a"], [1])
    index.update({"b": 2}, c=3)
    index.update(d=4)
    assert index == {"a": 1, "b": 2, "c": 3, "d": 4}
    with pytest.raises(TypeError, match="bytes"):
        BytesIndex().update({b"a": 1}, b=2)


def test_conditional_updates(made):
    one, two = key_of(made, "one"), key_of(made, "two")
    index = made([one], [10])
    assert index.compare_exchange(one, 10, 11)
    assert not index.compare_exchange(one, 10, 12)
    assert not index.compare_exchange(two, 0, 12)
    assert index.replace(two, 1) is None
    assert not index.compare_remove(one, 10)
    assert index.compare_remove(one, 11)
    assert len(index) == 0


@pytest.mark.parametrize("dtype", ["i8", "u8", "f8", "i2", "u4", "f4", "bool", "M8[ns]", "m8[s]"])
def test_values_of_every_dtype(rng, dtype):
    values = rng.integers(0, 2, 300).astype(dtype)
    keys = [f"{at:03}" for at in range(300)]
    index = StringIndex(keys, values)
    assert index.value_dtype == np.dtype(dtype)
    assert_same(index.get_many(keys)[0], values)
    assert_same(index.range()[1], values)
    index["new"] = values[0]
    assert index["new"] == values[0]
    missing = index.get_many(["none"])[0]
    assert missing.dtype == np.dtype(dtype)
    assert missing[0] != missing[0] if missing.dtype.kind in "fMm" else missing[0] == 0
    other = pickle.loads(pickle.dumps(index))
    assert_same(other.range()[1], index.range()[1])


def test_views_are_lazy_and_longer_than_a_page(made):
    keys = [key_of(made, f"{at:05}") for at in range(5000)]
    index, seen = made(keys, range(5000)), []
    for key in index:
        seen.append(key)
        if key < keys[3000]:
            del index[key]
    assert seen == keys
    assert (keys[4000], 4000) in index.items()
    assert index.keys() & {keys[0], keys[4999]} == {keys[4999]}


def test_copies_are_apart(index, model):
    for other in (index.copy(), copy.copy(index), copy.deepcopy(index)):
        assert type(other) is type(index)
        assert other == index
        other.clear()
        assert len(index) == len(model)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(index, protocol):
    other = pickle.loads(pickle.dumps(index, protocol))
    assert type(other) is type(index)
    assert other == index
    assert other.value_dtype == index.value_dtype


def test_pickles_pass_arrays_out_of_band(made, keys):
    index, buffers = made(keys, 0), []
    data = pickle.dumps(index, 5, buffer_callback=buffers.append)
    assert len(data) < 600
    assert pickle.loads(data, buffers=[memoryview(bytes(buffer)) for buffer in buffers]) == index


def test_order_is_that_of_code_points():
    """UTF-16 has another: a character beyond U+FFFF comes before U+E000 there."""
    assert list(StringIndex(["\ue000", "\U00010000", "z", "é"], 0)) == ["z", "é", "\ue000", "\U00010000"]


def test_equality():
    assert StringIndex(["a"], [1]) == StringIndex(["a"], [1])
    assert StringIndex(["a"], [1]) != StringIndex(["a"], [2])
    assert StringIndex(["ab", "c"], 1) != StringIndex(["a", "bc"], 1)
    assert StringIndex(["a"], [1]) != BytesIndex([b"a"], [1])
    assert StringIndex(["a"], [1]) == {"a": 1}
    assert StringIndex() == Index() == {}
    assert StringIndex(["a"], [1]) != 5


def test_what_it_says_of_itself():
    assert repr(StringIndex(["b", "a"], [1.5, 2.5])) == "StringIndex({'a': 2.5, 'b': 1.5}, value_dtype='float64')"
    assert repr(BytesIndex([b"b"], [1])) == "BytesIndex({b'b': 1}, value_dtype='int64')"
    many = StringIndex([str(at) for at in range(10_000)], 0, fill=1.0)
    assert "10000 entries" in repr(many)
    assert 8 * 10_000 < many.live_nbytes <= many.nbytes < 60 * 10_000
    stats = many.stats()
    assert stats["levels"] >= 2
    assert stats["leaves"] > 10
    with pytest.raises(TypeError):
        hash(many)


def test_memory_is_used_again_after_a_clear(made):
    keys = [key_of(made, f"{at:09}") for at in range(50_000)]
    index = made(keys, 0)
    index.clear()
    before = index.nbytes
    for _ in range(5):
        index.insert_many(keys, 0)
        index.clear()
    assert index.nbytes <= 2 * before

"""`asof_join` of frames against `pandas.merge_asof` and `polars.DataFrame.join_asof`."""

import datetime

import numpy as np
import pytest

from latchless import asof_join

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

SYMBOLS = np.array(["EUR", "EURUSD", "JPY", "A", "Z", "ÄÖ"])
KINDS = ["i8", "i4", "u2", "f8", "M8[s]", "M8[ns]", "wide", "u8"]
GROUPS = ["str", "int", "far", "category", "mixed", "two", None]


def sides(rng, kind, group, unique=False):
    """Two frames of pandas, sorted by `on`; `by` says their columns of groups."""
    frames = []
    for count, some in ((400, [0, 1, 2, 4, 5]), (250, [0, 1, 2, 3])):
        on = np.sort(rng.integers(0, 300, count))
        if kind == "wide":  # Codes and numbers don't fit one word.
            on = np.sort(rng.integers(-(1 << 62), 1 << 62, count))
        elif kind == "f8":
            on = on / 4
        on = on.astype("i8" if kind == "wide" else kind)
        codes = np.array(some)[rng.integers(0, len(some), count)]
        frames.append(pandas.DataFrame({"on": on, **groups(codes, group, len(frames))}))
    by = {None: [], "two": ["by", "other"]}.get(group, ["by"])
    right = frames[1].drop_duplicates(["on", *by], ignore_index=True) if unique else frames[1]
    right = right.assign(
        price=rng.normal(size=len(right)), row=np.arange(len(right)), name=SYMBOLS[right.index % 6]
    )
    return frames[0].assign(row=np.arange(400)), right, by


def groups(codes, group, side):
    if group is None:
        return {}
    if group == "int":
        return {"by": codes - 3}
    if group == "far":
        return {"by": codes * (1 << 50)}
    if group == "two":
        return {"by": SYMBOLS[codes % 2], "other": codes // 2}
    names = pandas.Series(SYMBOLS[codes])
    if group == "category":
        return {"by": names.astype(pandas.CategoricalDtype(SYMBOLS))}
    # Equal dtypes, whose categories have other numbers.
    order = SYMBOLS if side == 0 else SYMBOLS[::-1]
    return {"by": names.astype(pandas.CategoricalDtype(order)) if group == "mixed" else names}


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("group", GROUPS)
def test_against_pandas(rng, kind, group, exact, direction):
    left, right, by = sides(rng, kind, group)
    limit = None
    if kind not in ("wide", "u2", "u8") and rng.random() < 0.6:
        limit = pandas.Timedelta(2, "s" if kind == "M8[s]" else "ns") if kind.startswith("M") else 2
    how = {"direction": direction, "allow_exact_matches": exact, "tolerance": limit}
    their_right = right
    if group == "mixed":
        their_right = right.assign(by=right["by"].cat.reorder_categories(SYMBOLS))
    expected = pandas.merge_asof(left, their_right, on="on", by=by or None, suffixes=("", "_right"), **how)
    pandas.testing.assert_frame_equal(asof_join(left, right, "on", by=by or None, **how), expected)
    # Neither side need be sorted, and the left one's index stays.
    mixed, other = (side.sample(frac=1, random_state=5) for side in (left, right.drop_duplicates(["on", *by])))
    ours = asof_join(mixed, other, "on", by=by or None, **how)
    assert ours.index.equals(mixed.index)
    if len(other) == len(right):
        pandas.testing.assert_frame_equal(ours.sort_index(), expected)


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("kind", ["i8", "f8", "M8[ns]", "wide"])
@pytest.mark.parametrize("group", ["str", "int", "two", None])
def test_against_polars(rng, kind, group, direction):
    left, right, by = sides(rng, kind, group, unique=True)
    # Of two that are equally near Polars takes the one after.
    how = {"strategy": direction, "tolerance": None}
    if direction == "nearest":
        left = left[left["on"] % 2 == 0] if kind == "i8" else left
        right = right[right["on"] % 2 == 0] if kind == "i8" else right
    left, right = polars.from_pandas(left), polars.from_pandas(right)
    expected = left.sort("on").join_asof(right.sort("on"), on="on", by=by or None, check_sortedness=False, **how)
    ours = asof_join(left, right, "on", by=by or None, direction=direction)
    assert ours.columns == expected.columns
    different = ours.filter(
        ours["price"].is_not_null() & expected["price"].is_not_null() & (ours["price"] != expected["price"])
    )
    if direction != "nearest":
        assert ours.equals(expected)
    else:  # Ties apart, which are rare.
        assert ours["price"].is_null().equals(expected["price"].is_null())
        assert len(different) < len(ours) / 3


def test_nulls_match_nothing(rng):
    on = [1.0, np.nan, 3.0, 4.0, np.nan]
    by = ["a", "a", None, "b", None]
    for dtype in ("float64", "Float64", "Int64"):
        left = pandas.DataFrame(
            {"on": pandas.array(on, dtype), "by": by, "more": pandas.Categorical(list("xyxyx"))}
        )
        right = left.rename(columns={"more": "its"}).assign(price=range(5), more=left["more"])
        for some in (["by"], ["by", "more"]):
            found = asof_join(left, right, "on", by=some)["price"]
            assert found.isna().tolist() == [False, True, True, False, True]
            assert found[[0, 3]].tolist() == [0, 3]
        its = [right.assign(more=["x", "y", "x", None, "x"]), left.assign(more=["x", "y", "x", None, "x"])]
        found = asof_join(its[1], its[0], "on", by=["by", "more"])["price"]
        assert found.isna().tolist() == [False, True, True, True, True]
        alone = asof_join(left.iloc[::-1], right, "on")["price"]
        assert alone.sort_index().fillna(-1).tolist() == [0, -1, 2, 3, -1]
    left = polars.DataFrame({"on": [1, None, 3, 4, None], "by": by, "more": list("xyxyx")})
    right = left.with_columns(price=polars.int_range(5))
    for some in ("by", ["by", "more"]):
        assert asof_join(left, right, "on", by=some)["price"].to_list() == [0, None, None, 3, None]
    floats = polars.DataFrame({"on": on, "price": range(5)})
    assert asof_join(floats, floats, "on")["price_right"].to_list() == [0, None, 2, 3, None]


def test_names_and_indexes():
    left = pandas.DataFrame({"t": [5, 6], "s": ["a", "b"], "v": [1, 2]}, index=["x", "y"])
    right = pandas.DataFrame({"u": [4, 5], "r": ["a", "b"], "v": [3, 4]})
    found = asof_join(left, right, left_on="t", right_on="u", left_by="s", right_by="r", suffix="_2")
    assert found.columns.tolist() == ["t", "s", "v", "u", "r", "v_2"]
    assert found.index.tolist() == ["x", "y"]
    assert found["v_2"].tolist() == [3, 4]
    assert found["u"].dtype == np.int64  # All have a match.
    empty = asof_join(left, right.iloc[:0], left_on="t", right_on="u", left_by="s", right_by="r")
    assert empty["u"].isna().all()
    assert asof_join(left.iloc[:0], right, left_on="t", right_on="u").columns.tolist() == [
        "t",
        "s",
        "v",
        "u",
        "r",
        "v_right",
    ]


def test_times_of_two_units_and_zones():
    utc = pandas.date_range("2024-01-01", periods=3, freq="h", tz="UTC").as_unit("us")
    left = pandas.DataFrame({"t": utc.tz_convert("Europe/Berlin").as_unit("ns") + pandas.Timedelta(1, "ns")})
    right = pandas.DataFrame({"t": utc, "v": range(3)})
    assert asof_join(left, right, "t")["v"].tolist() == [0, 1, 2]
    near = asof_join(left, right, "t", direction="forward", tolerance=datetime.timedelta(hours=1))["v"]
    assert near.fillna(-1).tolist() == [1, 2, -1]
    assert asof_join(left, right, "t", tolerance=pandas.Timedelta(0))["v"].isna().all()
    naive = right.assign(t=right["t"].dt.tz_localize(None))
    for one, other in ((left, naive), (naive, left)):
        with pytest.raises(TypeError, match="zone"):
            asof_join(one, other, "t")


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"on": "no"}, KeyError, "no"),
        ({"on": "t", "by": "no"}, KeyError, "no"),
        ({"on": ["t", "s"]}, ValueError, "on is one column"),
        ({}, ValueError, "on is one column, not 0"),
        ({"on": "t", "left_on": "t"}, TypeError, "on is of both frames"),
        ({"left_on": "t"}, ValueError, "1 columns left_on but 0 right_on"),
        ({"on": "s"}, TypeError, "numbers or of times"),
        ({"on": "t", "direction": "up"}, ValueError, "backward, forward or nearest"),
        ({"on": "t", "tolerance": -1}, ValueError, "at least 0"),
        ({"on": "t", "tolerance": "1s"}, TypeError, "tolerance"),
    ],
)
def test_refused(how, error, words):
    frame = pandas.DataFrame({"t": [1], "s": ["a"]})
    with pytest.raises(error, match=words):
        asof_join(frame, frame, **how)


def test_other_frames_are_refused():
    frame = pandas.DataFrame({"t": [1], "v": [2]})
    for other in (polars.from_pandas(frame), {"t": [1]}, frame["t"], polars.from_pandas(frame).lazy()):
        with pytest.raises(TypeError, match="both of pandas, or both of Polars"):
            asof_join(frame, other, "t")
    with pytest.raises(TypeError):
        asof_join(frame, frame.assign(t=["x"]), "t")
    with pytest.raises(TypeError):
        asof_join(frame, frame.assign(t=[datetime.datetime(2024, 1, 1)]), "t")
    with pytest.raises(OverflowError):
        asof_join(frame.assign(t=[(1 << 60) + 1]), frame.assign(t=[0.5]), "t")

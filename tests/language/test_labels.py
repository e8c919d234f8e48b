"""Arrays of text as arguments: the labels that functions of scores and clusters are given. What compares, picks, sorts
and joins them is compiled; which texts there are is no part of a program's key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, refused
from tests.support.params import one_in
from tracebuf.errors import TracebufError
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(0)
Y = np.array(["cat", "dog", "ant", "dog", "cat", "cat", "bee", "ant", "dog"])
Z = np.array(["dog", "dog", "ant", "horse", "cat", "cat", "bee", "cow", "ant"])
X = RNG.normal(size=9)
ROWS = RNG.normal(size=(9, 3))


def sizes_and_kind(y):
    kind = "text" if y.dtype.kind in "OUS" else "numbers"
    return len(y), y.shape, y.ndim, y.size, y.dtype, kind, isinstance(y, np.ndarray), isinstance(y, str), type(y)


def of_one_label(y, x, positive="dog"):
    chosen = y == positive
    return x[chosen].mean(), (y != positive).sum(), np.sum(x[y <= "cat"]), chosen


def means_by_label(rows, y):
    found = []
    for label in np.unique(y):
        found.append(rows[y == label].mean(axis=0))
    return np.array(found)


def centres(rows, y):
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    made = np.zeros((len(classes), rows.shape[1]))
    for k in range(len(classes)):
        made[k] = rows[codes == k].sum(axis=0) / counts[k]
    return made, classes, codes


def confusion(y, z):
    labels = np.union1d(y, z)
    n = len(labels)
    made = np.zeros((n, n), dtype=int)
    for a, b in zip(np.searchsorted(labels, y), np.searchsorted(labels, z)):
        made[a, b] += 1
    return made, labels


def confusion_by_hand(y, z):
    labels = np.unique(np.concatenate((y, z)))
    made = np.zeros((len(labels), len(labels)))
    for i, a in enumerate(labels):
        for j, b in enumerate(labels):
            made[i, j] = np.sum((y == a) & (z == b))
    return made


def binarized(y):
    classes = np.unique(y)
    positive = classes[-1]
    made = (y == positive).astype(int).reshape(-1, 1)
    return made, positive, classes[0], classes[::2]


def column(y):
    y = np.asarray(y)
    if np.ndim(y) == 2 and np.shape(y)[1] == 1:
        y = np.ravel(y)
    if len(np.shape(y)) != 1:
        raise ValueError(f"bad input shape {np.shape(y)}")
    return np.isin(y, ["cat", "dog", "eel"]), np.isin(y, y[:2]), y == y[0], y.reshape(-1, 1)[:, 0] != y[::-1]


def picked(y, x):
    order = np.argsort(x)
    return y[order], y[x > 0], np.sort(y), np.flip(y).copy(), np.where(x > 0, y, y[::-1]), y[2:5].copy()


def accuracy(y, z, weights=None):
    if y.shape != z.shape:
        raise ValueError("sizes differ")
    right = y == z
    return np.average(right, weights=weights), np.array_equal(y, z), (y < z).mean()


def changes(y):
    n, last = 0, y[0]
    for label in y:
        if label != last:
            n += 1
        last = label
    return n, last


def told(y):
    labels = np.unique(y)
    if len(labels) > 3:
        raise ValueError("too many labels: %s." % labels)  # noqa: UP031
    return f"{labels[0]} to {labels[-1]!r}", "first of %d: %s" % (len(labels), labels), str(labels[0])  # noqa: UP031


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    f.__name__: (f, args) for f, args in (
        (sizes_and_kind, (Y,)), (of_one_label, (Y, X)), (means_by_label, (ROWS, Y)), (centres, (ROWS, Y)),
        (confusion, (Y, Z)), (confusion_by_hand, (Y, Z)), (binarized, (Y,)), (column, (Y,)), (picked, (Y, X)),
        (accuracy, (Y, Z)), (changes, (Y,)), (told, (Y[:4],)),
    )
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, CALLS))
@pytest.mark.cases(4)
def test_labels_on_the_whole_ladder(name: str) -> None:
    climb(*CALLS[name], tolerance=1e-12)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.cases(6)
def test_other_labels_run_the_same_program(name: str) -> None:
    function, args = CALLS[name]
    f = tracebuf.bufferize(function)
    agree(f, *args)
    made = len(f.specializations())
    keep = [k for k in range(len(args[0])) if k != 1]
    others = [np.array([w[::-1] for w in x], x.dtype) if isinstance(x, np.ndarray) and x.dtype.kind == "U" else x
              for x in args]  # fmt: skip
    agree(f, *others)
    agree(f, *(x[keep] for x in args))
    assert len(f.specializations()) == made


@pytest.mark.slow
def test_texts_of_all_kinds() -> None:
    for y in (np.array(["a"]), np.array(["", "b", ""]), np.array(["é", "z", "\U0001f600", "e"]),
              np.array(["a\0b", "a", "a\0"]), np.array([["p", "q"], ["q", "r"]]), np.asfortranarray([["p", "q"]] * 3),
              Y[::2], Y[::-1], np.array([], "<U3"), np.array("dog")):  # fmt: skip
        agree(kinds_of_all, y)
        agree(kinds_of_all, y, "q")


def kinds_of_all(y, one="a\0"):
    u, inverse = np.unique(y, return_inverse=True)
    return y == one, u, inverse, y.shape, np.isin(y, ["dog", "q"]), y.T == one, y.ravel() == one, y.dtype


@pytest.mark.slow
def test_arguments_are_results_as_eagers_are() -> None:
    agree(given_back, Y, Z)
    agree(given_back, Y, Y)
    agree(given_back, Y, Y[:])
    for y in (Y, Y[::2], Y[::-1], Y[:1], Y[:0], Y[1:2]):
        agree(views, y)
    for y in (Y.reshape(3, 3), np.asfortranarray(Y.reshape(3, 3)), Y.reshape(3, 3)[:, :1], Y.reshape(1, 9)):
        agree(views_of_two_axes, y.copy(order="K"))


def views(y):
    return y[1:], y[::-1], y[:0], y[None], y.ravel(), y[::2], np.broadcast_to(y, (2, y.size))[0], y.reshape(-1, 1)


def views_of_two_axes(y):
    return y.T, y[0], y[:, 0], y[1:], y.ravel(), y.ravel(order="F"), np.squeeze(y), np.flip(y, 1), y[::-1, ::-1]


def test_results_that_depend_on_the_path() -> None:
    for x in (X, -X, np.zeros(9)):
        for f in (one_or_other, first_or_last, copy_or_given, found_first):
            agree(f, Y, Z, x)


def test_an_argument_out_of_a_loop_is_the_argument() -> None:
    for n in (0, 1, 3):
        agree(last_bound, Y, Z, n)
        agree(bound_while, Y, Z, n)


def last_bound(y, z, n):
    for _ in range(n):
        y = z
    return y


def bound_while(y, z, n):
    found = y
    while n > 1:
        found = z
        n -= 1
    return found, y, found == z


def one_or_other(y, z, x):
    return y if x[0] > 0 else z


def first_or_last(y, z, x):
    label = y[0] if x[0] > 0 else z[-1]
    return label, label == "dog", f"{label}", (y if x[1] > 0 else z) == label


def copy_or_given(y, z, x):
    if x[0] > 0:
        y = np.unique(y)
    return len(y), y


def found_first(y, z, x):
    for label, v in zip(y, x):
        if v > 0.5:
            return label
    return None


NAMES = np.array(["low", "middle", "high"])


def named(x):
    return NAMES[np.digitize(x, [-0.5, 0.5])], NAMES


def named_among(y, x):
    return NAMES[(x > 0).astype(int)] == y, np.isin(y, NAMES), np.union1d(y, NAMES), y is NAMES


class Classifier:
    """A classifier in the style of scikit-learn's."""

    def fit(self, rows, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.means_ = np.array([rows[codes == k].mean(axis=0) for k in range(len(self.classes_))])
        return self

    def predict(self, rows):
        distances = ((rows[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[np.argmin(distances, axis=1)]

    def score(self, rows, y):
        return np.mean(self.predict(rows) == y), len(self.classes_), self.classes_[-1], self.classes_


def fitted(model, rows, y):
    model.fit(rows, y)
    return model.predict(rows), model.score(rows, y)


def score(model, rows, y):
    return model.score(rows, y)


@pytest.mark.slow
def test_labels_from_outside_and_in_objects() -> None:
    agree(named, X)
    agree(named_among, Y, X)
    agree(named_among, NAMES[[0, 0, 2, 1, 1, 1, 0, 2, 2]], X)
    agree(named_among, NAMES, X[:3])
    model = Classifier().fit(ROWS, Y)
    agree(score, model, ROWS, Y)
    f = tracebuf.bufferize(score)
    for y in (Y, Z, Y[::-1].copy()):
        agree(f, Classifier().fit(ROWS, y), ROWS, Y)
    assert len(f.specializations()) <= 2
    agree(fitted, model, ROWS, Z)


def of_signs(x):
    signs = np.where(x > 0, "positive", "not")
    return signs, signs == "not", np.array(["low", "middle", "high"])[np.digitize(x, [-0.5, 0.5])]


def of_lists(names, others):
    y, z = np.asarray(names), np.array(others)
    labels, codes = np.unique(names, return_inverse=True)
    return np.mean(y == z), labels, codes, np.isin(names, others), np.repeat(["a", "bc"], 2), np.union1d(y, others)


def selected(y, x):
    kinds = np.select([x > 0.5, x > -0.5], ["high", "mid"], default="low")
    order = np.lexsort((x, y))
    return kinds, np.select([x > 0.5, x > -0.5], ["high", y], "low"), order, y[order], np.lexsort((y, x > 0))


def joined_with_known(y):
    more = np.append(y, "zebra")
    return more, np.concatenate([y, ["q", "longer than that"]]), np.full(2, "x"), np.where(y == "cat", y, "none")


@pytest.mark.slow
def test_arrays_of_known_texts() -> None:
    climb(of_signs, (X,))
    climb(joined_with_known, (Y,))
    climb(selected, (Y, X))
    agree(selected, Y, -X)
    f = tracebuf.bufferize(of_signs)
    for x in (X, -X, X[:3], X + 1):
        agree(f, x)
    agree(of_lists, ["b", "a", "b"], ["b", "b", "a"])
    agree(of_lists, ("b", "a", ""), ["b", "b", "ab"])
    for y in (Y, Z, Y[:0], Z[::2]):
        agree(joined_with_known, y)
    agree(two_views_or_none, X)


def two_views_or_none(x):
    names = np.array(["a", "b"])
    more = np.array(["a", "b"])
    return names, more, names is more


def test_texts_out_of_arrays() -> None:
    agree(as_texts, Y)
    agree(as_texts, np.array(["", "é b", "xyz"]))


def as_texts(y):
    first = y[0]
    shown = "{} {!r} {:>5}|".format(first, first, first), f"{first:-<6}{first!s}"  # noqa: UP032
    found = first.startswith("c"), first in y, first in ["cat"]
    return shown, "%5s %r" % (first, first), len(first), first.upper(), str(first), [str(first)], found  # noqa: UP031


def test_searchsorted_of_texts_that_are_not_in_order() -> None:
    f = tracebuf.bufferize(places)
    agree(f, np.unique(Y), Z)
    with pytest.raises(tracebuf.UnsupportedError, match="not in order"):
        f(Y, Z)


def places(labels, z):
    return np.searchsorted(labels, z), labels.searchsorted("bee", side="right"), np.searchsorted(labels, ["a", "cat"])


def given_back(y, z):
    u = np.unique(y)
    return y, np.asarray(z), [u, u], {"z": z.copy()}, y is z


@pytest.mark.slow
def test_calls_with_labels_and_numbers_in_turn() -> None:
    f = tracebuf.bufferize(means_by_label)
    for y in (Y, np.arange(9) % 3, Z.astype("<U9"), Y, RNG.normal(size=9), Y[RNG.permutation(9)]):
        agree(f, ROWS, y)


def test_labels_that_change_between_calls() -> None:
    f, y = tracebuf.bufferize(of_one_label), Y.copy()
    for k in range(300):
        y[k % 9] = "dog" if k % 2 else "gnu"
        found, expected = f(y, X), of_one_label(y, X)
        assert found[1] == expected[1]
        assert np.array_equal(found[3], expected[3])


def test_numbers_are_unlike_texts() -> None:
    agree(unlike, Y)


def unlike(y):
    return y == 1, y != 2.5, y == None, y[0] == 3, y[0] != None  # noqa: E711


def last_of_each(y, z, x):
    w = y
    for _ in range(3):
        w = w[1:]
    return w


def merged(y, z, x):
    w = y
    for k in range(int(abs(x[0]) * 3)):
        w = np.unique(np.concatenate([w, z[k : k + 1]]))
    return w


def rest(y, z, x):
    w = y
    while len(w) > 2:
        w = w[w != w[0]]
    return w


def most_frequent(y, z, x):
    best = None
    for label in np.unique(y):
        if best is None or np.sum(y == label) > np.sum(y == best):
            best = label
    return best, np.unique(z)[np.argmax(np.unique(z, return_counts=True)[1])]


def first_place(y, z, x):
    for k, label in enumerate(y):
        if label == "ant":
            return k, label
    return -1, None


def by_case(y, z, x):
    match y[0]:
        case "dog":
            return 1
        case "cat":
            return 2
    return 3


def raised(y, z, x):
    if (y == "dog").sum() > 2:
        raise ValueError("bad", y[0], 2)
    raise KeyError(f"label {y[0]} of {np.unique(y)}")


def masked(y, z, x):
    x[y == "dog"] += 1
    x[np.isin(y, z)] *= 2
    return next((k for k, label in enumerate(y) if label == "ant"), None), any(a == b for a, b in zip(y, z))


def swapped(y, z, x):
    if x[0] > 0:
        y, z = z, y
    held = {"y": y, "pair": (z, y)}
    held["u"] = np.unique(held["y"])
    return held


def one_hot(y, z, x):
    labels, codes = np.unique(y, return_inverse=True)
    made = np.zeros((len(y), len(labels)))
    made[np.arange(len(y)), codes] = 1
    return made, labels[codes], labels[codes] is y


def spoken(y, z, x):
    for label in np.unique(y):
        print(label, np.sum(y == label))
    print(f"{y[0]:>8} {y}")
    return [np.mean(a == b) for a, b in [(y, z), (z, y)]]


@pytest.mark.parametrize("f", one_in(3, [
    last_of_each, merged, rest, most_frequent, first_place, by_case, raised, masked, swapped, one_hot, spoken,
]))  # fmt: skip
@pytest.mark.cases(4)
def test_statements(f: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    for args in ((Y, Z, X), (np.array(["dog"] * 8 + ["ant"]), Y[::-1], -X), (Z, Y, np.abs(X) + 0.1)):
        agree(f, *args)
        shown = capsys.readouterr().out
        assert shown[: len(shown) // 2] == shown[len(shown) // 2 :]


def test_words_of_errors() -> None:
    for y in (Y, Z):
        found = []
        for f in (raised, tracebuf.bufferize(raised)):
            with pytest.raises((ValueError, KeyError)) as info:
                f(y, Z, X.copy())
            found.append(info.value.args)
        assert found[0] == found[1]


def stores(y):
    y[0] = "x"


def stored_in_place(y):
    y.sort()


def added(y):
    return y + "x"


def listed(y):
    return list(y)


def in_a_dict(y):
    return {label: 1 for label in np.unique(y)}  # noqa: C420


def in_a_list(ys):
    return [len(y) for y in ys]


def truth(y):
    return 1 if y[0] else 2


def counted(y):
    return np.count_nonzero(y)


def unstable(y):
    return np.argsort(y)


def converted(y):
    return y.astype(float)


@pytest.mark.parametrize("f", [stores, stored_in_place, added, listed, in_a_dict, truth, counted, unstable, converted])
def test_what_is_not_certainly_right_is_refused(f: Callable[..., Any]) -> None:
    assert isinstance(refused(f, Y), TracebufError)


def test_where_arrays_of_text_stay_refused() -> None:
    assert "has dtype <U3" in str(refused(in_a_list, [Y, Z]))
    assert "has dtype object" in str(refused(sizes_and_kind, Y.astype(object)))
    assert "dtype" in str(refused(sizes_and_kind, Y.astype("S3")))
    assert "dtype" in str(refused(sizes_and_kind, Y.astype(">U3")))

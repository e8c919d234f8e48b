"""Arrays of text among the arguments of a call: labels, as they are given to functions of scores and clusters.

Such an array is, in a trace, an array of ints (`codes`), which are fetched anew at each call, equal where the texts
are, and in their order (running/labels). What compares, picks, sorts and joins elements does that with the codes;
results are made of text again where they are returned or shown. Which texts there are, and how many, is no part of a
program's key. Limitations: an array of text is an argument by itself, not in a container, and nothing is stored to it;
what is not listed here is refused.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.call import Call
from tracebuf.frontends.numpy.call.captures import WHOLE, Hidden, NewCapture
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.paths.iteration import Items
from tracebuf.frontends.numpy.record.callees import Buffer, Partial, Text, made_text, shown_label
from tracebuf.frontends.numpy.record.heap import Record, TextArray, TextItem, is_label
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, PyBool, Scalar
from tracebuf.ir.types import I1
from tracebuf.running.labels import Codes, CodesOfKnown, Coding, Known, Letters, item_of

INSTEAD = "do it outside, or pass ints: labels, y = np.unique(y, return_inverse=True)"
COMPARISONS = ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")
Functions = tuple[Callable[..., Any], ...]
UFUNCS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
KEEPING: Functions = (np.ravel, np.reshape, np.copy, np.squeeze, np.transpose, np.expand_dims, np.swapaxes,
                      np.moveaxis, np.flip, np.flipud, np.fliplr, np.roll, np.repeat, np.tile, np.take, np.atleast_1d,
                      np.atleast_2d, np.broadcast_to, np.sort, np.delete, np.array)  # fmt: skip
"""Functions that give elements of their first argument, an array of text, whatever these are."""
JOINING: Functions = (np.concatenate, np.hstack, np.vstack, np.stack, np.column_stack, np.append, np.union1d,
                      np.intersect1d)  # fmt: skip
"""Functions that give elements of several arrays of text."""
OF_TWO: Functions = (np.append, np.union1d, np.intersect1d)
"""Those of them that take two arrays, not a list of such."""
ASKING: Functions = (np.shape, np.ndim, np.size, np.isin, np.searchsorted, np.array_equal, np.array_equiv)
"""Functions that give numbers, which equality and order of texts decide."""
LIKE: Functions = (np.zeros_like, np.ones_like, np.empty_like, np.full_like)
"""Functions that make an array of numbers of the sizes of their first argument, where they are told a dtype."""
NAMED = frozenset(("axis", "order", "shape", "kind", "repeats", "reps", "indices", "mode", "shift", "side", "invert",
                   "assume_unique", "return_index", "return_inverse", "return_counts", "a", "ar", "x", "arr", "v", "m",
                   "element", "test_elements", "array", "ndim", "a1", "a2", "ar1", "ar2"))  # fmt: skip
"""The parameters of those that may be named, to no other effect than on arrays of ints."""
METHODS = ("reshape", "ravel", "flatten", "copy", "squeeze", "transpose", "swapaxes", "take", "repeat", "compress")
"""Methods that give elements of an array of text, whatever these are."""
COUNTING: Functions = (np.shape, np.ndim, np.size)
"""Those that only ask for sizes."""
OF_KNOWN = frozenset[Callable[..., Any]]((
    *KEEPING, *JOINING, *ASKING, np.asarray, np.asanyarray, np.unique, np.where, np.full, np.setdiff1d, np.select,
))  # fmt: skip
"""Functions that are given lists of known texts in the place of arrays."""
KINDS = (types.FunctionType, types.BuiltinFunctionType, type(np.sum))
"""The types of NumPy's functions, whose objects can be hashed."""
PASSED = (enumerate, zip)
"""Builtins that hand on what they go through."""


# -- what a trace begins with
def given(i: Evaluator, call: Call, tops: Sequence[Any]) -> list[Any]:
    """The arguments and captured values of a call, with objects that stand for them in the place of arrays of text."""
    arguments, texts = len(tops) - len(call.hidden), {p: x for p, x in enumerate(tops) if is_one(x)}
    places = {p: p if p < arguments else call.hidden[p - arguments].place for p in texts}
    held = {h.place: (h.fetch, x) for h, x in zip(call.hidden, tops[arguments:])}
    among = [f.coding for f, x in held.values() if isinstance(f, Letters) and isinstance(x, ArrayRef)]
    coding = next((c for c in among if c.given == tuple(places.values())), Coding(tuple(places.values())))
    if not coding.positions:
        return list(tops)
    i.coding = coding
    needed = fetches(coding, {places[p]: call.tops[p] for p in places})
    if missing := [h for h in needed if h.place not in held]:
        raise NewCapture(missing[0], missing[1:])
    letters, *codes = (held[h.place][1] for h in needed)
    ints = dict(zip(coding.positions, codes))
    found = list(tops)
    made: dict[int, Record] = {}
    for p, buffer in texts.items():
        if buffer.leaf not in made:  # one array that is passed twice is one object
            made[buffer.leaf] = new_array(i, ints[places[p]], letters, call.values[buffer.leaf].dtype)
            i.label_arguments[made[buffer.leaf]] = buffer.leaf
        found[p] = made[buffer.leaf]
    return found


def fetches(coding: Coding, names: Mapping[Any, str]) -> list[Hidden]:
    """How the table of a coding, and the codes at its positions, are fetched."""
    found = [Hidden("labels", ("labels", coding.positions), Letters(coding), WHOLE)]
    for p in coding.positions:
        found.append(Hidden(names.get(p, "labels"), ("labels", coding.positions, p), Codes(coding, p), WHOLE))
    return found


def array_of_known(i: Evaluator, texts: tuple[str, ...]) -> Record:
    """A new array of known texts."""
    coding, position = i.coding or Coding(()), Known(texts)
    if position not in coding.positions:
        more = fetches(Coding((*coding.positions, position)), {})
        raise NewCapture(more[0], more[1:])
    codes, letters = i.hidden["labels", coding.positions, position], i.hidden["labels", coding.positions]
    return new_array(i, i.call(ast.Pass(), np.copy, [codes], {}), letters, np.array(texts).dtype)


def known_texts(x: Any) -> tuple[str, ...] | None:
    """The texts of a list or tuple of known ones; None for anything else."""
    if type(x) in (list, tuple) and x and all(isinstance(item, str) for item in x):
        return tuple(map(str, x))
    return None


def with_arrays(i: Evaluator, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any] | None:
    """The arguments of a function of NumPy's with arrays in the place of known texts that it makes arrays of, where it
    gives elements of them; None where there are none."""
    if not args or not isinstance(function, KINDS) or function not in OF_KNOWN:
        return None
    first, *rest = args
    if function is np.select and len(args) == 3 and type(rest[0]) in (list, tuple) and not kwargs:
        if any(isinstance(x, str) for x in (*rest[0], rest[1])) and all(map(is_text, (*rest[0], rest[1]))):
            return [first, [in_place_of(i, x) for x in rest[0]], in_place_of(i, rest[1])]
        return None
    if function is np.where and len(args) == 3 and all(isinstance(x, str) or is_label(x) for x in rest):
        return [first, *(in_place_of(i, x) for x in rest)]
    if function is np.full and len(args) == 2 and isinstance(rest[0], str):
        return [first, in_place_of(i, rest[0])]
    if function in JOINING and type(first) in (list, tuple) and not isinstance(first[0] if first else "", str):
        if any(known_texts(x) for x in first) and all(known_texts(x) or is_array(x) for x in first):
            return [type(first)([in_place_of(i, x) for x in first]), *rest]
        return None
    if function is np.append and len(args) == 2 and isinstance(rest[0], str) and is_array(first) and not kwargs:
        return [first, array_of_known(i, (str(rest[0]),))]
    if function in OF_TWO and rest and any(map(known_texts, args[:2])):
        return [in_place_of(i, x) for x in args[:2]] + rest[1:]
    alone = function in ASKING and not among(args)
    if (texts := known_texts(first)) is not None and (function not in (*ASKING, *JOINING) or alone):
        return [array_of_known(i, texts), *rest]
    return None


def is_text(x: Any) -> bool:
    """Whether a value is a known text, or an array of text."""
    return isinstance(x, str) or is_array(x)


def in_place_of(i: Evaluator, x: Any) -> Any:
    """An array, or a text out of one, in the place of known texts; anything else as it is."""
    if isinstance(x, str):
        return i.subscript(ast.Pass(), array_of_known(i, (str(x),)), (0, Ellipsis))
    texts = known_texts(x)
    return x if texts is None else array_of_known(i, texts)


def is_one(x: Any) -> bool:
    """Whether a value is an array of text as a trace finds it."""
    return isinstance(x, Buffer) and x.kind is np.ndarray


@lru_cache(maxsize=64)
def class_of(dtype: str) -> type[TextArray]:
    """The class of what stands for arrays of text of a dtype."""
    return type("NumPy array of text", (TextArray,), {"dtype": np.dtype(dtype), "__module__": __name__})


def new_array(i: Evaluator, codes: ArrayRef, letters: ArrayRef, dtype: np.dtype) -> Record:
    """What stands for an array of text with these codes."""
    made = Record(class_of(dtype.str))
    made.fields.update(codes=codes, letters=letters)
    i.r.heap.own(made, i.r)
    return made


def like(i: Evaluator, x: Record, codes: Any) -> Any:
    """The array of text, or the text, of other codes; the array itself for its own."""
    if codes is x.fields.get("codes"):
        return x
    if isinstance(codes, ArrayRef):
        return new_array(i, codes, x.fields["letters"], x.kind.dtype)  # type: ignore[attr-defined]
    made = Record(TextItem)
    made.fields.update(code=i.call(ast.Pass(), int, [codes], {}), letters=x.fields["letters"])
    i.r.heap.own(made, i.r)
    return made


def is_array(x: Any) -> bool:
    """Whether a value stands for an array of text."""
    return isinstance(x, Record) and issubclass(x.kind, TextArray)


def among(values: Sequence[Any]) -> bool:
    """Whether such values are among some, or items of lists, tuples and dicts among them."""
    return any(map(is_label, within(values)))


def within(values: Sequence[Any]) -> Iterator[Any]:
    """Values, and the items of lists, tuples and dicts among them."""
    for x in values:
        yield x
        if isinstance(x, (list, tuple)):
            yield from within(x)
        elif isinstance(x, dict):
            yield from within(list(x.values()))


def refusal(i: Evaluator, node: ast.AST, what: str, x: Any = None) -> UnsupportedError:
    """The refusal of what an array of text, or a text out of one, meets."""
    dtype = f" of dtype {x.kind.dtype.str}" if is_array(x) else ""
    return i.refuse(node, f"{what}{dtype or ' of text'}", INSTEAD)


# -- codes
def codes_of(i: Evaluator, x: Any) -> Any:
    """The codes of texts: of an array, of one, of known ones or a list of such; NotImplemented for anything else."""
    if is_label(x):
        return x.fields["codes" if is_array(x) else "code"]
    if isinstance(x, str):
        return i.call(ast.Pass(), int, [i.subscript(ast.Pass(), known(i, (str(x),)), 0)], {})
    texts = known_texts(x)
    return NotImplemented if texts is None else known(i, texts)


def known(i: Evaluator, texts: tuple[str, ...]) -> ArrayRef:
    """The codes of known texts, which are fetched with those of the arguments."""
    assert i.coding is not None
    hidden = Hidden("labels", ("labels", i.coding.positions, "known", texts), CodesOfKnown(i.coding, texts), WHOLE)
    if hidden.place not in i.hidden:
        raise NewCapture(hidden)
    found: ArrayRef = i.hidden[hidden.place]
    return found


def as_text(x: Record) -> Text:
    """A text out of an array as one that only the run time knows."""
    return made_text(item_of, shown_label(x).args)


# -- operators
def compared(i: Evaluator, node: ast.AST, name: str, a: Any, b: Any) -> Any:
    """a == b, a < b ...; NotImplemented where none is a text out of an array."""
    if not among((a, b)):
        return NotImplemented
    first, second = codes_of(i, a), codes_of(i, b)
    if name in COMPARISONS and first is not NotImplemented and second is not NotImplemented:
        return i.compared(node, name, first, second)
    x, other = (a, b) if is_label(a) else (b, a)
    if name in ("Eq", "NotEq") and is_label(x) and (other is None or isinstance(other, (Scalar, *NUMBERS))):
        if not is_array(x):
            return name == "NotEq"
        if (codes := x.fields["codes"]).ndim:
            return i.call(node, np.full, [i.attribute(node, codes, "shape"), name == "NotEq"], {})
    raise refusal(i, node, "a comparison of this with an array", x)


def contains(i: Evaluator, node: ast.AST, items: Any, x: Any) -> bool | PyBool:
    """`x in items`, of a text, and an array of text or known texts."""
    if is_array(items) and (isinstance(x, str) or (is_label(x) and not is_array(x))):
        return i.truth(node, i.call(node, np.any, [compared(i, node, "Eq", items, x)], {}))
    if type(items) in (list, tuple) and not is_array(x) and all(isinstance(item, str) for item in items):
        if not items:
            return False
        return i.truth(node, i.call(node, np.any, [i.compared(node, "Eq", codes_of(i, items), codes_of(i, x))], {}))
    raise refusal(i, node, "`in` of an array, or of a text out of one,", items)


def operate(i: Evaluator, node: ast.AST, a: Any, b: Any) -> None:
    """Refuses an operator on text out of an array."""
    if is_label(a) or is_label(b):
        raise refusal(i, node, "an operator on an array", a if is_label(a) else b)


def subscript(i: Evaluator, node: ast.AST, base: Any, index: Any) -> Any:
    """base[index]; NotImplemented where no text out of an array is in it."""
    if is_label(index) or (isinstance(index, tuple) and among(index)):
        raise refusal(i, node, "an index that is an array, or a text out of one,", index)
    if not is_label(base):
        return NotImplemented
    if not is_array(base):
        raise refusal(i, node, "an index of a text out of an array")
    return like(i, base, i.subscript(node, base.fields["codes"], index))


def items(i: Evaluator, node: ast.AST, x: Record) -> Items:
    """What a loop over an array of text goes through."""
    if not is_array(x):
        raise refusal(i, node, "iterating over a text out of an array")
    it = i.iterable(node, x.fields["codes"])
    assert isinstance(it, Items)
    return Items(it.count, lambda k: like(i, x, it.get(k)), [x])


def attribute(i: Evaluator, node: ast.AST, x: Record, name: str) -> Any:
    """x.name"""
    kind: Any = np.ndarray if is_array(x) else np.str_
    if not hasattr(kind, name):
        raise Raises(AttributeError(f"'numpy.{kind.__name__}' object has no attribute '{name}'"))
    if not is_array(x):
        if hasattr(str, name) and (found := i.attribute(node, as_text(x), name)) is not NotImplemented:
            return found
        raise refusal(i, node, f"`.{name}` of a text out of an array")
    if name in ("shape", "ndim", "size"):
        return i.attribute(node, x.fields["codes"], name)
    if name == "dtype":
        return x.kind.dtype  # type: ignore[attr-defined]
    if name == "T":
        return like(i, x, i.attribute(node, x.fields["codes"], name))
    if name in (*METHODS, "searchsorted", "astype", "argsort"):
        return Partial(getattr(np.ndarray, name), (x,), {})
    raise refusal(i, node, f"`.{name}` of an array", x)


# -- calls
def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call with text out of arrays; NotImplemented where the callee hands its arguments on."""
    name = getattr(function, "__name__", str(function))
    if any(function is f for f in PASSED):
        return NotImplemented
    if isinstance(getattr(function, "__self__", None), str) and name == "format":
        return NotImplemented
    if any(function is f for f in (isinstance, type, len, getattr, hasattr, str, repr)):
        return asked(i, node, function, args, kwargs)
    if isinstance(function, np.ufunc):
        codes = [codes_of(i, x) for x in args]
        if function not in UFUNCS or len(args) != 2 or kwargs or any(x is NotImplemented for x in codes):
            raise refusal(i, node, f"np.{name} of an array", next(filter(is_label, args), None))
        return i.call(node, function, codes, {})
    told = {"dtype"} if function in (*LIKE, np.asarray, np.asanyarray, np.array) else set()
    odd = sorted(kwargs.keys() - NAMED - told)
    if isinstance(function, types.MethodDescriptorType) and args and is_array(args[0]):
        found = method(i, node, name, args, kwargs) if not odd else NotImplemented
    elif getattr(function, "__module__", None) == "numpy" and not odd and args:
        found = of_numpy(i, node, function, args, kwargs)
    else:
        found = NotImplemented
    if found is NotImplemented:
        more = f" with `{odd[0]}`" if odd else ""
        first = next((x for x in within((*args, *kwargs.values())) if is_label(x)), None)
        raise refusal(i, node, f"a call of {name}{more} on an array", first)
    return found


def check_method(i: Evaluator, node: ast.AST, name: str, args: Sequence[Any]) -> None:
    """Refuses what methods of lists, dicts and sets do with text out of arrays, but for handing it on."""
    if name not in ("append", "insert") or (name == "insert" and among(args[:1])):
        raise refusal(i, node, f"`{name}` with an array, or a text out of one,", next(filter(is_label, args), None))


def asked(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What a builtin says of an array of text, or of a text out of one."""
    x, kind = args[0] if args else None, np.ndarray if args and is_array(args[0]) else np.str_
    if not is_label(x) or kwargs:
        raise refusal(i, node, f"a call of {function.__name__} on an array", x)
    if function is isinstance and len(args) == 2 and not among(args[1:]):
        return ask(issubclass, kind, args[1])
    if function is type and len(args) == 1:
        return kind
    if function is len and len(args) == 1:
        return i.call(node, len, [x.fields["codes"] if is_array(x) else as_text(x)], {})
    if function is hasattr and len(args) == 2 and isinstance(args[1], str):
        return hasattr(kind, args[1])
    if function is getattr and len(args) in (2, 3) and isinstance(args[1], str):
        return i.attribute(node, x, args[1]) if hasattr(kind, args[1]) or len(args) == 2 else args[2]
    if function is str and len(args) == 1:
        return NotImplemented
    if function is repr and len(args) == 1:
        return NotImplemented
    raise refusal(i, node, f"a call of {function.__name__} on an array", x)


def method(i: Evaluator, node: ast.AST, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a method of an array of text."""
    x, *rest = args
    if among([*kwargs.values()]) or (name != "searchsorted" and among(rest)):
        return NotImplemented
    bound = i.attribute(node, x.fields["codes"], name) if name != "astype" else None
    if name in METHODS:
        return like(i, x, i.call(node, bound, rest, kwargs))
    if name == "searchsorted" and rest and (sought := codes_of(i, rest[0])) is not NotImplemented:
        check_sorted(i, node, x.fields["codes"])
        return i.call(node, bound, [sought, *rest[1:]], kwargs)
    if name == "argsort" and kwargs.get("kind") in ("stable", "mergesort"):
        return i.call(node, bound, rest, kwargs)
    if name == "astype" and len(rest) == 1 and not kwargs and is_same_dtype(x, rest[0]):
        return like(i, x, i.call(node, i.attribute(node, x.fields["codes"], "copy"), ["K"], {}))
    return NotImplemented


def is_same_dtype(x: Record, dtype: Any) -> bool:
    """Whether a conversion to a dtype leaves an array of text its own: str is of any length."""
    if isinstance(dtype, np.dtype):
        return bool(dtype == x.kind.dtype)  # type: ignore[attr-defined]
    return dtype in (str, np.str_, "U", "str")


def of_numpy(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function of NumPy's."""
    first, rest = args[0], args[1:]
    named = among([*kwargs.values()])
    if function in (np.asarray, np.asanyarray):
        told = [*rest[:1], *(kwargs[k] for k in kwargs if k == "dtype")]
        odd = len(rest) > 1 or kwargs.keys() - {"dtype"} or not is_array(first)
        return NotImplemented if odd or not all(d is None or is_same_dtype(first, d) for d in told) else first
    if function in LIKE and is_array(first) and not among(rest) and not named:
        dtype = kwargs.get("dtype", rest[0] if rest and function is not np.full_like else None)
        if dtype is None or ask(np.dtype, dtype).kind not in "biufc":
            return NotImplemented
        return i.call(node, function, [first.fields["codes"], *rest], kwargs)
    if function is np.unique and is_array(first) and len(args) <= 4 and "axis" not in kwargs and not among(rest):
        found = i.call(node, function, [first.fields["codes"], *rest], kwargs)
        return (like(i, first, found[0]), *found[1:]) if isinstance(found, tuple) else like(i, first, found)
    if function is np.compress and len(args) == 2 and is_array(rest[0]) and not among(args[:1]) and not named:
        return like(i, rest[0], i.call(node, function, [first, rest[0].fields["codes"]], kwargs))
    if function in KEEPING and is_array(first) and not among(rest) and not named:
        if function is np.array and (rest or kwargs):
            told = [*rest, *kwargs.values()]
            if len(told) > 1 or kwargs.keys() - {"dtype"} or not is_same_dtype(first, told[0]):
                return NotImplemented
            rest, kwargs = [], {}
        return like(i, first, i.call(node, function, [first.fields["codes"], *rest], kwargs))
    if function is np.argsort and is_array(first) and kwargs.get("kind") in ("stable", "mergesort") and not among(rest):
        return i.call(node, function, [first.fields["codes"], *rest], kwargs)
    if function in JOINING and not named and kwargs.keys() <= {"axis", "assume_unique"}:
        if type(first) in (list, tuple) and not among(rest):
            return joined(i, first, lambda codes: i.call(node, function, [type(first)(codes), *rest], kwargs))
        if function in OF_TWO and not among(args[2:]):
            return joined(i, args[:2], lambda codes: i.call(node, function, [*codes, *args[2:]], kwargs))
    if function is np.setdiff1d and is_array(first) and len(args) == 2 and not named:
        other = codes_of(i, rest[0])
        known_all = other is not NotImplemented
        return like(i, first, i.call(node, function, [first.fields["codes"], other], kwargs)) if known_all else other
    if function is np.select and len(args) == 3 and not kwargs and type(args[1]) in (list, tuple):
        choices = [*args[1], args[2]]
        return joined(i, choices, lambda codes: i.call(node, function, [first, codes[:-1], codes[-1]], {}))
    if function is np.lexsort and len(args) == 1 and type(first) in (list, tuple) and not kwargs:
        keys = [x.fields["codes"] if is_array(x) else x for x in first]
        return NotImplemented if among(keys) else i.call(node, function, [type(first)(keys)], {})
    if function is np.full and len(args) == 2 and is_array(args[1]) and not kwargs and not among(args[:1]):
        return joined(i, args[1:], lambda codes: i.call(node, function, [first, *codes], {}))
    if function is np.where and len(args) == 3 and not kwargs and not among(args[:1]):
        return joined(i, args[1:], lambda codes: i.call(node, function, [first, *codes], {}))
    if function in ASKING and "kind" not in kwargs:
        return numbers_of(i, node, function, args, kwargs)
    return NotImplemented


def joined(i: Evaluator, arrays: Sequence[Any], join: Callable[[list[Any]], Any]) -> Any:
    """What a function that gives elements of several arrays of text makes of them, of the longest dtype;
    NotImplemented where others are among them."""
    if not arrays or not all(map(is_array, arrays)):
        return NotImplemented
    dtype = np.result_type(*(x.kind.dtype for x in arrays))
    return new_array(i, join([x.fields["codes"] for x in arrays]), arrays[0].fields["letters"], dtype)


def numbers_of(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function that gives numbers, which equality and order of texts decide."""
    count = 1 if function in COUNTING else 2
    if among(args[count:]) or among([*kwargs.values()]) or len(args) < count:
        return NotImplemented
    codes = [codes_of(i, x) for x in args[:count]]
    if any(x is NotImplemented for x in codes):
        return NotImplemented
    if function is np.searchsorted:
        check_sorted(i, node, codes[0])
    return i.call(node, function, [*codes, *args[count:]], kwargs)


def check_sorted(i: Evaluator, node: ast.AST, codes: Any) -> None:
    """Records a check that codes are in order: in others NumPy finds places that depend on how it searches."""
    if not isinstance(codes, ArrayRef) or codes.ndim != 1:
        return
    first, second = (i.subscript(node, codes, slice(*s)) for s in ((None, -1), (1, None)))
    found = i.truth(node, i.call(node, np.all, [i.compared(node, "LtE", first, second)], {}))
    reason = "np.searchsorted of texts that are not in order"
    i.r.check(found.value if isinstance(found, PyBool) else i.r.constant(found, I1), UnsupportedError, reason)

"""Arguments of which NumPy makes arrays: objects with `__array__`, buffers, objects with `__array_interface__`.

A method `__array__` written in Python is inlined where NumPy would call it. Of other objects (bytearray, memoryview,
array.array, ctypes arrays, objects with `__array_interface__` or `__dlpack__`) the array that NumPy makes of them is
fetched anew at each call, as a captured one, on their own memory. What else a function does with a buffer than to ask
for its class, or to hand it on, is refused. Of objects with rules of their own for NumPy's functions (pandas) only
np.asarray is taken, once.
"""

from __future__ import annotations

import ast
import dis
import inspect
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.reshape import whole_number
from tracebuf.frontends.numpy.call.arguments import BUFFERS, INTERFACES, defers, has_supported_dtype, is_matrix
from tracebuf.frontends.numpy.call.captures import Hidden, Making, NewCapture, array_of
from tracebuf.frontends.numpy.functions.host.objects import check_steady
from tracebuf.frontends.numpy.interpreter import records
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.numbers.operands import supported
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.record.callees import Buffer, Method, NoneArray
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyBool, PyFloat, PyInt
from tracebuf.ir.types import F64

AS_THEY_ARE = frozenset((
    "isscalar", "iterable", "isfortran", "result_type", "can_cast", "min_scalar_type", "issubdtype", "isdtype",
    "array_repr", "array_str", "array2string", "vectorize", "frompyfunc", "nditer", "shares_memory",
    "may_share_memory", "typename", "copy", "copyto", "fromiter", "put", "place", "putmask", "fill_diagonal",
    "block", "apply_along_axis", "apply_over_axes", "piecewise", "testing", "require",
))  # fmt: skip
"""Functions of NumPy's that do not make an array of such an argument, or do more with it."""
OF_NONE = ("ndim", "shape", "size", "dtype", "itemsize", "nbytes")
"""What np.array(None) is asked for."""
MAKERS = (np.asarray, np.array, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
"""Functions that make arrays of anything."""
OF_ARRAYS = frozenset(name for name in dir(np.ndarray) if not name.startswith("_"))
INSTEAD = "take np.asarray(x) first"


def of_none(function: Any, args: list[Any], kwargs: dict[str, Any]) -> NoneArray | None:
    """np.array(None) and the like; None for any other call."""
    alone = len(args) == 1 and args[0] is None and not kwargs
    return NoneArray() if alone and any(function is f for f in MAKERS[:3]) else None


def with_floats(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments of a call that makes an array of a list: where an item is a float on all paths, the array is of
    floats, and so is an item that is an int or a float by the path."""
    listed = len(args) == 1 and not kwargs and type(args[0]) in (list, tuple) and any(function is f for f in MAKERS)
    if not listed:
        return args
    items = leaves(args[0])
    if not any(type(x) is Cond for x in items) or not any(is_float(x) for x in items):
        return args
    if not all(is_float(end) or is_int(end) or is_either(end) for x in items for end in ends(x)):
        return args

    def made(x: Any) -> Any:
        if type(x) in (list, tuple):
            return [made(item) for item in x]
        as_float = partial(i.call, node, float, kwargs={})
        by_path = type(x) is Cond or is_either(x)
        return i.by_items(node, (x,), i.scope.env, lambda end: as_float(args=[end])) if by_path else x

    return [made(args[0])]


def leaves(x: Any) -> list[Any]:
    """The items of lists within one another."""
    return [leaf for item in x for leaf in leaves(item)] if type(x) in (list, tuple) else [x]


def is_float(x: Any) -> bool:
    """Whether a number is one of 64 bits with a fraction."""
    return isinstance(x, (float, PyFloat)) or (isinstance(x, NpScalar) and x.element is F64 and x.python is None)


def is_either(x: Any) -> bool:
    """Whether a number is such a float, or one of Python's numbers, by the path."""
    return isinstance(x, NpScalar) and x.element is F64 and x.python is not None


def is_int(x: Any) -> bool:
    """Whether a number is an int or a bool of Python's."""
    return isinstance(x, (int, PyInt, PyBool))


def attribute_of_none(i: Evaluator, node: ast.AST, base: NoneArray, name: str) -> Any:
    """`base.name` of np.array(None)."""
    if name not in OF_NONE:
        ask(getattr, np.array(None), name)  # raises what NumPy raises
        raise i.refuse(node, f"`.{name}` of a {name_of(base)}", "test the argument first: if x is None")
    return ask(getattr, np.array(None), name)


def is_one(x: Any) -> bool:
    """Whether NumPy makes an array of a value by its own protocol."""
    return isinstance(x, Buffer) or (isinstance(x, Record) and protocol_of(x) is not None)


def protocol_of(x: Record) -> str | None:
    """The attribute by which NumPy makes an array of an object; None where it has none, or rules of its own."""
    if defers(x.kind):
        return None
    own = getattr(x.actual, "__dict__", {})
    return next((n for n in (*INTERFACES, "__array__") if hasattr(x.kind, n) or n in own or n in x.fields), None)


def given(
    i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call of a function of NumPy's, with arrays in the place of what it makes arrays of."""
    if not any(map(is_one, inside((*args, *kwargs.values())))) or not records.is_numpys(function):
        return args, kwargs
    name = function.name if isinstance(function, Method) else getattr(function, "__name__", str(function))
    if name in AS_THEY_ARE and (name != "copy" or isinstance(args[0], Record)):
        raise i.refuse(node, f"np.{name} of what is no array", INSTEAD)
    if function in MAKERS and args and isinstance(args[0], Record):
        return made_of_object(i, node, function, args, kwargs)
    if function in MAKERS and args and isinstance(args[0], Buffer) and defers(args[0].kind):
        return [made_by_itself(i, node, function, args, kwargs), *args[1:]], kwargs
    plain = isinstance(function, np.ufunc) or function in MAKERS

    def replaced(x: Any) -> Any:
        if type(x) in (list, tuple):
            return type(x)(map(replaced, x)) if any(map(is_one, inside(x))) else x
        if not is_one(x):
            return x
        if isinstance(x, Record) and not plain:
            check_plain(i, node, x, name)
        return converted(i, node, x)

    return [replaced(x) for x in args], {k: replaced(x) for k, x in kwargs.items()}


def inside(values: Sequence[Any]) -> Iterator[Any]:
    """The values, and the items of lists and tuples among them."""
    for x in values:
        yield x
        if type(x) in (list, tuple):
            yield from inside(x)


def check_plain(i: Evaluator, node: ast.AST, x: Record, name: str) -> None:
    """Refuses an object that a function of NumPy's may ask for more than its array: it has attributes that arrays have,
    or its `__array__` changes something each time that it is called."""
    names = {n for c in x.kind.__mro__[:-1] for n in vars(c)} | {*x.known, *getattr(x.actual, "__dict__", ())}
    if shared := sorted(names & OF_ARRAYS):
        text = f"np.{name} of an object with an attribute `{shared[0]}`, which NumPy may ask for"
        raise i.refuse(node, text, INSTEAD)
    method = records.in_class(x.kind.__mro__, "__array__")
    code = getattr(method, "__code__", None)
    if code is not None and any(step.opname.startswith("STORE_") and step.opname not in LOCAL for step in steps(code)):
        raise i.refuse(node, f"np.{name} of an object whose `__array__` stores", INSTEAD)


LOCAL = ("STORE_FAST", "STORE_DEREF", "STORE_NAME")
steps = lru_cache(maxsize=64)(lambda code: tuple(dis.get_instructions(code)))
"""The instructions of a code object."""


def converted(i: Evaluator, node: ast.AST, x: Any) -> ArrayRef:
    """The array that NumPy makes of a value without being told a dtype."""
    if isinstance(x, Buffer):
        check_steady(i.r, *([x] if defers(x.kind) else []))
        return fetched(i, node, x.path, x.of, Making("asarray"))
    return by_array(i, node, x, [], {}) if protocol_of(x) == "__array__" else by_interface(i, node, x, "asarray")


def by_array(i: Evaluator, node: ast.AST, x: Record, args: list[Any], kwargs: dict[str, Any]) -> ArrayRef:
    """What the object's method `__array__` gives."""
    check_lookup(i, node, x)
    if "__array__" in x.fields or "__array__" in getattr(x.actual, "__dict__", ()):
        raise i.refuse(node, "an object with an `__array__` of its own, not of its class", INSTEAD)
    method = records.special(i, node, x, "__array__", "has no __array__")
    made = i.call(node, method, args, kwargs)
    if not isinstance(made, ArrayRef):
        raise Raises(ValueError("object __array__ method not producing an array"))
    return made


def made_by_itself(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> ArrayRef:
    """The array that an object with rules of its own (pandas, xarray) gives when the call begins: itself, for it may
    give one object each time. So it is asked once."""
    x, dtype = args[0], args[1] if len(args) > 1 else kwargs.get("dtype")
    if x in i.asked or any(frame.kind == "loop" for frame in i.r.frames()):
        raise i.refuse(node, f"an array of a {name_of(x)} that is made twice, or in a loop", "make it first, and once")
    stored = any(g.storage.stored for g in i.r.given)
    if stored or i.r.heap.has_changed():
        raise i.refuse(node, f"an array of a {name_of(x)} behind stores", "make it first in the function")
    made = fetched(i, node, x.path, x.of, Making("asarray"), itself=True)
    i.asked[x] = None
    if made.ndim > 1 and (function is np.array or (dtype is not None and ask(np.dtype, dtype) != made.dtype)):
        raise i.refuse(node, f"a conversion of a {name_of(x)} of several axes", "np.asarray(x).astype(dtype)")
    return made


def check_lookup(i: Evaluator, node: ast.AST, x: Record) -> None:
    """Refuses an object whose `__getattr__` NumPy asks for `__array_interface__` first."""
    if records.in_class(x.kind.__mro__, "__getattr__") is not records.MISSING:
        raise i.refuse(node, f"an array of a {x.kind.__name__}, which has a `__getattr__`", INSTEAD)


def made_of_object(
    i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of np.array(x, dtype) and its kin with what the object's `__array__` gives, which NumPy tells the
    dtype, and whether it is to make a copy."""
    x, dtype = args[0], args[1] if len(args) == 2 else kwargs.get("dtype")
    if len(args) > 2 or not kwargs.keys() <= {"dtype"} or protocol_of(x) != "__array__":
        if protocol_of(x) == "__array__":
            raise i.refuse(node, "np.array of an object with more than a dtype", INSTEAD)
        return [converted(i, node, x), *args[1:]], kwargs
    told = [] if dtype is None else [ask(np.dtype, dtype)]
    if function is not np.array:
        return [by_array(i, node, x, told, {}), *args[1:]], kwargs
    method = records.in_class(x.kind.__mro__, "__array__")
    parameters = inspect.signature(method).parameters.values() if inspect.isfunction(method) else ()
    if not any(p.name == "copy" or p.kind is p.VAR_KEYWORD for p in parameters):
        raise i.refuse(node, "np.array of an object whose `__array__` has no parameter `copy`", "np.asarray(x).copy()")
    return [by_array(i, node, x, told, {"copy": True}), *args[1:]], {**kwargs, "copy": None}


def by_interface(i: Evaluator, node: ast.AST, x: Record, how: str) -> ArrayRef:
    """The array of an object of the caller's with `__array_interface__` or `__dlpack__`, as when the call begins."""
    check_lookup(i, node, x)
    stored = any(g.storage.stored for g in i.r.given)
    if x.actual is None or x.fields or stored or i.r.heap.has_changed():
        raise i.refuse(node, f"an array of a {x.kind.__name__} behind stores", "make it first in the function")
    return fetched(i, node, x.path, x.actual, Making(how))


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """np.frombuffer(x, dtype, count, offset), np.from_dlpack(x) and len(x); NotImplemented for any other call."""
    makes = function is np.frombuffer or function is np.from_dlpack
    if not any(map(is_one, (*args, *kwargs.values()))) or not (makes or function is len):
        return NotImplemented
    if function is len:
        if len(args) != 1 or kwargs or not isinstance(args[0], Buffer) or args[0].kind not in BUFFERS:
            return NotImplemented
        if isinstance(args[0].of, memoryview) and args[0].of.ndim == 0:
            raise i.refuse(node, "the length of a memoryview without axes", "pass it with one")
        how = Making("frombuffer", "|u1") if args[0].kind is bytes else Making("asarray")
        return as_int_value(fetched(i, node, args[0].path, args[0].of, how).shape[0])
    names = ("buffer", "dtype", "count", "offset") if function is np.frombuffer else ("x",)
    if len(args) > len(names) or not args or not kwargs.keys() <= set(names[1:]):
        raise i.refuse(node, f"np.{function.__name__} of such arguments", "leave out what is not needed")
    told = {**dict(zip(names, args)), **kwargs}
    x = told.pop(names[0])
    if function is np.from_dlpack:
        if not hasattr(x.kind, "__dlpack__"):
            raise Raises(AttributeError(f"'{name_of(x)}' object has no attribute '__dlpack__'"))
        if isinstance(x, Buffer):
            return fetched(i, node, x.path, x.of, Making("from_dlpack"))
        return by_interface(i, node, x, "from_dlpack")
    if not isinstance(x, Buffer):
        raise i.refuse(node, f"np.frombuffer of a {name_of(x)}", INSTEAD)
    dtype = ask(np.dtype, told.get("dtype", float))
    count, offset = (
        i.r.static_int(whole_number(i.r, told.get(name, default)), f"`{name}`")
        for name, default in (("count", -1), ("offset", 0))
    )
    return fetched(i, node, x.path, x.of, Making("frombuffer", dtype.str, count, offset))


def fetched(
    i: Evaluator, node: ast.AST, path: Hidden | None, x: Any, how: Making, itself: bool = False
) -> ArrayRef:
    """The array that is made of an object of the caller's at each call: `itself`, or a new array object on its
    memory."""
    i.at(node)
    if path is None:
        raise i.refuse(node, f"an array of a {type(x).__name__} in a container", "pass it as an argument of its own")
    hidden = path.made(array_of, how)
    if hidden.place not in i.hidden:
        made = ask(how, x)
        if type(made) is not np.ndarray or not has_supported_dtype(made):
            supported(getattr(made, "dtype", np.dtype(object)), f"the array of a {type(x).__name__}", i.r.loc)
            raise i.refuse(node, f"the array of a {type(x).__name__}, whose elements are byte-swapped", "convert it")
        raise NewCapture(hidden)
    found = i.hidden[hidden.place]
    if not isinstance(found, ArrayRef):
        raise i.refuse(node, f"an array of a {type(x).__name__}, of which there is none", INSTEAD)
    return found if itself else ArrayRef(found.storage)


PARTS_OF_MATRICES = frozenset(("data", "indices", "indptr"))


def part_of_matrix(i: Evaluator, node: ast.AST, base: Buffer, name: str) -> ArrayRef:
    """One of the arrays that a sparse matrix holds, at each call; it is read only."""
    i.at(node)
    if base.path is None:
        raise i.refuse(node, f"`.{name}` of a {base.kind.__name__} in a container", "pass it as an argument of its own")
    hidden = base.path.attribute(name)
    if hidden.place not in i.hidden:
        if not isinstance(ask(getattr, base.of, name), np.ndarray):
            raise i.refuse(node, f"`.{name}` of a {base.kind.__name__}", "pass a matrix in the format CSR or CSC")
        raise NewCapture(hidden)
    found = i.hidden[hidden.place]
    if not isinstance(found, ArrayRef):
        raise i.refuse(node, f"`.{name}` of a {base.kind.__name__} of other elements", "pass it as an array")
    found.storage.of_object = (base, name)  # products read its memory, which the program does not know of
    return found


def attribute(i: Evaluator, node: ast.AST, base: Buffer, name: str) -> Any:
    """An attribute of a buffer: AttributeError where it has none, as objects of its class have no more than that."""
    if is_matrix(base.of):
        if name in PARTS_OF_MATRICES:
            return part_of_matrix(i, node, base, name)
        if name == "nnz" and base.of.format in ("csr", "csc"):
            return i.call(node, int, [i.subscript(node, part_of_matrix(i, node, base, "indptr"), -1)], {})
        instead = "M.toarray() outside, or products: M @ x, M.T @ x"
        raise i.refuse(node, f"`.{name}` of a {base.kind.__name__}", instead)
    if not hasattr(base.kind, name) and base.kind in BUFFERS:
        raise Raises(AttributeError(f"'{name_of(base)}' object has no attribute '{name}'"))
    raise i.refuse(node, f"`.{name}` of a {name_of(base)}", INSTEAD)


def operands(i: Evaluator, node: ast.AST, a: Any, b: Any) -> tuple[Any, Any]:
    """The operands of an operator, with an array in the place of an object beside an array, whose operator it is: an
    object on the left is asked first, if its class has one."""
    if any(isinstance(x, Buffer) and defers(x.kind) for x in (a, b)):
        return a, b
    if isinstance(a, ArrayRef) and is_one(b):
        return a, converted(i, node, b)
    if isinstance(b, ArrayRef) and is_one(a) and not has_operators(a):
        return converted(i, node, a), b
    return a, b


def has_operators(x: Any) -> bool:
    """Whether the class of an object has an operator of its own."""
    return not isinstance(x, Buffer) and any(n in OPERATORS for c in x.kind.__mro__[:-1] for n in vars(c))


OPERATORS = frozenset(f"__{name}__" for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor", "lshift",
    "rshift", "eq", "ne", "lt", "le", "gt", "ge",
))  # fmt: skip

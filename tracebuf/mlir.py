"""MLIR programs as something to call: read, analysed, bufferized, compiled.

    module = tracebuf.mlir.read(text)                # generic form: mlir-opt -mlir-print-op-generic
    f = tracebuf.mlir.program(module, "f")           # or with options=OneShotOptions(...)
    f(a, b)                                          # native; f.on_values(a, b) and f.on_memory(a, b) interpret

Tensors are arrays, scalars NumPy or Python numbers. As with `bufferize-function-boundaries`, an array argument that the
program does not mark `bufferization.writable = false` may be overwritten, and a result may be an argument's memory.

>>> text = '''
... "func.func"() <{function_type = (tensor<?xf64>, f64) -> tensor<?xf64>, sym_name = "started"}> ({
... ^bb0(%a: tensor<?xf64>, %x: f64):
...   %first = "arith.constant"() <{value = 0 : index}> : () -> index
...   %b = "tensor.insert"(%x, %a, %first) : (f64, tensor<?xf64>, index) -> tensor<?xf64>
...   "func.return"(%b) : (tensor<?xf64>) -> ()
... }) : () -> ()
... '''
>>> a = np.ones(3)
>>> program(read(text), "started")(a, 5.0)
[array([5., 1., 1.])]
>>> a
array([5., 1., 1.])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tracebuf.bufferize.globals import bring_constants
from tracebuf.errors import InternalError, TracebufError, UnsupportedError
from tracebuf.frontends.mlir import ReadError, generic, read, read_all
from tracebuf.frozen import cached_property, frozen
from tracebuf.interpret import memref, tensor
from tracebuf.ir.clone import clone_func
from tracebuf.ir.core import is_buffer
from tracebuf.ir.dims import evaluate, symbols
from tracebuf.ir.func import Func, Module
from tracebuf.ir.slices import OutOfBounds
from tracebuf.ir.types import MemRefType, ScalarType, TensorType
from tracebuf.module_pipeline import functions_to_run, module_to_run
from tracebuf.ops.control.func import Call
from tracebuf.ops.scalars.arith import convert
from tracebuf.optimize.mlir.generalize import generalize
from tracebuf.optimize.mlir.inline_calls import called_from, inline_calls, may_be_inlined
from tracebuf.options import OneShotOptions

if TYPE_CHECKING:
    from tracebuf.backend.runtime.kernel import Counters, Kernel

__all__ = ["Program", "ReadError", "generic", "interpret", "program", "read", "read_all", "run_passes"]

DEFAULT = OneShotOptions(bufferize_function_boundaries=True, allow_return_allocs_from_loops=True, compat=None)


@frozen(slots=False)
class Program:
    """One function of a module, ready to run. `tensors` is the tensor program, `buffers` the memref program, both
    without calls; but where blocks branch, or functions call themselves, `tensor_callees` and `callees` are the
    functions that are called, and `given` the Python callables for those that are only declared.

    Every way to run it takes the function's arguments in order: for a tensor or memref an array of its dtype, rank and
    constant sizes, and the memref's strides; for a scalar a number. Raises TypeError for another number of arguments,
    kind or dtype; ValueError for another rank, size or stride, and where two arrays share memory.
    """

    name: str
    tensors: Func
    buffers: Func
    callees: tuple[Func, ...] = ()
    tensor_callees: tuple[Func, ...] = ()
    given: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    @cached_property
    def kernel(self) -> Kernel:
        """The native code, compiled on first use."""
        from tracebuf.backend.runtime.compiled import kernel_of

        return kernel_of(self.buffers, self.name, self.callees)

    def __call__(self, *args: Any, make: Callable[[Sequence[int], np.dtype], np.ndarray] = np.empty) -> list[Any]:
        """Runs natively and returns the results in order: arrays, NumPy scalars, ints for index. Raises what the
        program's checks raise (IndexError, ValueError, MemoryError). `make` makes the arrays of the call, of undefined
        contents, where it is to have memory of the caller's; these must not overlap."""
        return self.kernel.run(self._checked(args), make=make)[: self._n_results]

    def counted(self, *args: Any) -> tuple[list[Any], Counters]:
        """Runs natively; (the results, a `Counters` with what the run allocated and copied)."""
        results, counters = self.kernel.run_counted(self._checked(args))
        return results[: self._n_results], counters

    def on_values(self, *args: Any) -> list[Any]:
        """Runs the tensor program in the interpreter of values, and returns the results; no argument is changed. Where
        the program has buffers of its own among the tensors, these are interpreted as memory. Raises what a call does:
        the checks of the memref program tell what does not fit, as the tensor program has none."""
        func, known = self.tensors, {f.name: f for f in self.tensor_callees} | dict(self.given)
        try:
            with _out_of_bounds():
                if known or any(map(is_buffer, func.values())):
                    return memref.run(func, self._checked(args), may_leak=True, tensors=True, known=known).results
                return tensor.run(func, self._checked(args)).results
        except InternalError:
            self.on_memory(*args)
            raise

    def on_memory(self, *args: Any) -> memref.Result:
        """Runs the memref program in the interpreter of memory, which raises MemoryFault for every misuse; a `Result`
        with `results` and the `counts` of allocations and copies."""
        with _out_of_bounds():
            found = memref.run(self.buffers, self._checked(args), known={f.name: f for f in self.callees})
        n = self._n_results
        return memref.Result(found.results[:n], found.written[:n], found.counts)

    @property
    def _n_results(self) -> int:
        """How many results the program has; those of `buffers` may be followed by flags that tell whose they are."""
        return len(self.tensors.result_types)

    def _checked(self, args: Sequence[Any]) -> list[Any]:
        """The arguments as the function's types say; arrays that overlap are refused (MLIR behaviour 45)."""
        if len(args) != len(self.tensors.args):
            raise TypeError(f"{self.name} takes {len(self.tensors.args)} arguments, not {len(args)}")
        found = [_argument(a, v.type, k) for k, (a, v) in enumerate(zip(args, self.tensors.args))]
        for a, b in combinations([x for x in found if isinstance(x, np.ndarray)], 2):
            if np.may_share_memory(a, b) and np.shares_memory(a, b):
                raise ValueError(f"{self.name}: two arguments share memory")
        return found


def _argument(arg: Any, type_: Any, place: int) -> Any:
    if isinstance(type_, ScalarType):
        return convert(arg, type_)
    if not isinstance(type_, TensorType | MemRefType) or not isinstance(arg, np.ndarray):
        raise TypeError(f"argument {place} is {type_}, not a {type(arg).__name__}")
    if arg.dtype != type_.element.dtype:
        raise TypeError(f"argument {place} is {type_}, not an array of {arg.dtype}")
    if arg.ndim != type_.rank or any(isinstance(n, int) and n != m for n, m in zip(type_.shape, arg.shape)):
        raise ValueError(f"argument {place} is {type_}, not an array of shape {arg.shape}")
    if isinstance(type_, MemRefType) and not lies_as(arg, type_):
        raise ValueError(f"argument {place} is {type_}, not an array of strides {arg.strides}")
    return arg


def lies_as(array: np.ndarray, type_: MemRefType) -> bool:
    """Whether an array has the strides that a type asks for; those of no more than one element do not matter."""
    if 0 in array.shape:
        return True
    sizes = {s: n for d, n in zip(type_.shape, array.shape) for s in symbols(d) if d == s.expr}
    for size, stride, wanted in zip(array.shape, array.strides, type_.strides, strict=True):
        if size > 1 and wanted is not None and symbols(wanted) <= sizes.keys():
            if stride != evaluate(wanted, sizes) * array.itemsize:
                return False
    return True


def program(
    module: Module,
    name: str = "",
    options: OneShotOptions = DEFAULT,
    *,
    given: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
) -> Program:
    """A function of a module, bufferized and ready to call.

    Blocks that branch and functions that call themselves run as they are, natively too; a recursion that takes more
    than 4 MiB of stack raises RecursionError.

    Args:
        module: from `read`.
        name: of the function; by default the module's last one.
        options: of the analysis, with `bufferize_function_boundaries`; `compat="mlir"` decides as MLIR does.
        given: Python callables for functions that are only declared, by name: they get arrays and numbers, and return
            what is declared; arrays that they return are copied.

    Raises KeyError for an unknown name, UnsupportedError for what can be analysed but not run (functions that are only
    declared and not given, unknown ops), DecisionError where MLIR's decisions would change the results, TracebufError
    without `bufferize_function_boundaries`.
    """
    if not options.bufferize_function_boundaries:
        raise TracebufError("a program is run with bufferize_function_boundaries")
    name = name or module.funcs[-1].name
    for arg in module.func(name).args:
        if not isinstance(arg.type, ScalarType | TensorType | MemRefType):
            raise UnsupportedError(f"{name}: an argument of type {arg.type} cannot be given")
    buffers, *callees = functions_to_run(module_to_run(module, options, name), name, given)
    if may_be_inlined(module, name):
        tensors, called = inline_calls(module, name, given), list[Func]()
    else:
        tensors, *called = [clone_func(f)[0] for f in called_from(module, name)]
    for func in (tensors, *called):
        generalize(func)
    if buffers.name in {op.callee for f in (buffers, *callees) for op in f.walk() if isinstance(op, Call)}:
        callees.insert(0, buffers)
    return Program(name, tensors, buffers, tuple(callees), (tensors, *called) if callees else (), dict(given))


def run_passes(module: Module, *passes: str, compat: Literal["mlir", "tracebuf"] = "mlir") -> Module:
    """What passes make of a module, one after the other, each verified; the module is left as it is.

    Args:
        module: from `read`.
        passes: by MLIR's names, with options as `python -m tracebuf opt` takes them: "buffer-hoisting",
            "one-shot-bufferize=bufferize-function-boundaries copy-before-write". A dash before is allowed.
        compat: whose decisions, as of `--compat`.

    Raises UsageError (a TracebufError) for an unknown pass or option, TracebufError for what a pass refuses.

    >>> module = read('''
    ... "func.func"() <{function_type = () -> (), sym_name = "f"}> ({
    ...   %a = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8xf64>
    ...   "func.return"() : () -> ()
    ... }) : () -> ()
    ... ''')
    >>> [op.name for op in run_passes(module, "ownership-based-buffer-deallocation", "canonicalize").func("f").walk()]
    ['func.return']
    """
    from tracebuf import opt

    chosen = opt.parse(["-", f"--compat={compat}", *(f"-{p.lstrip('-')}" for p in passes)])
    items = [clone_func(i)[0] if isinstance(i, Func) and not i.external else i for i in module.items]
    copy = Module(items, module.loc, module.name)
    copy.attrs = dict(module.attrs)
    return opt.transformed(chosen, copy)


def interpret(
    module: Module,
    name: str = "",
    args: Sequence[Any] = (),
    *,
    given: Mapping[str, Callable[..., Any]] | None = None,
    may_leak: bool = False,
) -> memref.Result:
    """Runs a function of a module as it stands, on tensors, buffers or both, and notices every misuse of memory.

    Branches between blocks, loops of them, calls and recursion are run as they are. To see what a pass does, run the
    module before and after it.

    Args:
        module: from `read`, or what a pass made of it.
        name: of the function; by default the module's last one.
        args: arrays for tensors and memrefs, of which the memrefs' are really modified, and numbers.
        given: Python callables for functions that are only declared, and for ops that are not known, by name: they get
            arrays and numbers, and return what the op has as results. An array that they return is the caller's to
            free, unless it is (part of) one that they got.
        may_leak: whether buffers may be left over, as where no pass has inserted frees.

    Returns a `Result`: `results`, `counts` of allocations and copies. Raises MemoryFault for a use after free, a double
    free, a leak, a read of what was never written; IndexError for an element or slice that a tensor does not have;
    InternalError for an op that cannot be run.
    """
    known = runnable(module)
    func = known[name or module.funcs[-1].name]
    with _out_of_bounds():
        return memref.run(func, args, may_leak=may_leak, tensors=True, known={**known, **(given or {})})


@contextmanager
def _out_of_bounds() -> Iterator[None]:
    """What no tensor has is the program's fault: an IndexError, as natively."""
    try:
        yield
    except OutOfBounds as e:
        raise IndexError(str(e)) from None


def runnable(module: Module) -> dict[str, Func]:
    """Copies of a module's functions that the interpreter runs: those with a body, by name."""
    known: dict[str, Func] = {}
    for f in module.funcs:
        if not f.external:
            known[f.name], _ = clone_func(f)
            bring_constants(known[f.name], module)
            generalize(known[f.name])
    return known

"""`Evaluator`, the interpreter as its parts see it, and `Scope`, one function being interpreted.

Every file of this room builds on this one, so that callables, iterators, dicts, records ... need not import the walkers
of the syntax tree, which import them.
"""

from __future__ import annotations

import ast
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, TypeVar

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.arguments import Leaf
from tracebuf.frontends.numpy.call.captures import CapturePlace, Hidden
from tracebuf.frontends.numpy.paths.alike import Picks
from tracebuf.frontends.numpy.paths.iteration import Items, Iterable, Range
from tracebuf.frontends.numpy.paths.loops.plan import LoopPlan, LoopSpec
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.callees import NestedFunction, Progress
from tracebuf.frontends.numpy.record.growing import Form
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, Env, PyBool
from tracebuf.frontends.numpy.source.source import Source
from tracebuf.frozen import plain
from tracebuf.ir.dims import Dim
from tracebuf.location import UNKNOWN, Location
from tracebuf.running.labels import Coding

T = TypeVar("T")


@contextmanager
def pushed(stack: list[T], item: T) -> Iterator[T]:
    """Holds an item on top of a stack, also where the body raises."""
    stack.append(item)
    try:
        yield item
    finally:
        stack.pop()


@plain(eq=True)
class Scope:
    """One function being interpreted: its source, where free names are looked up, and its frame on the call stack."""

    source: Source
    lookup: Callable[[str], Any]
    name: str
    env: Env = field(default_factory=dict)
    cells: list[Env] = field(default_factory=list)
    """For each comprehension around, what its own names hold: lambdas inside see their last values."""
    names: dict[str, Any] | None = None
    """The names of its module, if it is a function of Python's that is traced by its source."""
    given: Env = field(default_factory=dict)
    """What its parameters were given."""
    closure: Any = None
    """What tells it apart from other functions of the same code."""
    called: Location = UNKNOWN
    """Where it was called."""
    held: list[Any] = field(default_factory=list)
    """What its statements hold beside names."""
    unread: bool = False
    """Whether nothing reads what it returns: its call is a statement."""
    emit: Callable[[Any], None] | None = None
    """Of a generator function: what is done with what it yields."""
    consumer: Scope | None = None
    """Of the body of a loop over a generator: the function that the loop is in, which the generator has not called."""
    targets: list[frozenset[str]] = field(default_factory=list)
    """For each loop being traced, the names that may be read where a jump out of its body leads."""

    @contextmanager
    def inside(self, env: Env) -> Iterator[Env]:
        """A context that makes `env` the names that inner functions see."""
        outside, self.env = self.env, env
        try:
            yield env
        finally:
            self.env = outside

    @contextmanager
    def holding(self, value: Any) -> Iterator[None]:
        """A context in which a statement holds a value that no name may hold: what a loop iterates over."""
        with pushed(self.held, value):
            yield

    @contextmanager
    def letting_go(self) -> Iterator[None]:
        """A context in which the innermost statement holds nothing any more."""
        held = self.held[-1]
        self.held[-1] = []
        try:
            yield
        finally:
            self.held[-1] = held

    @contextmanager
    def jumping_to(self, names: frozenset[str]) -> Iterator[None]:
        """A context for a loop's body: a jump out of it leads to where these names may be read."""
        with pushed(self.targets, names):
            yield


class Evaluator(ABC):
    """The interpreter as its parts see it. A `node` says where in the user's source an error is."""

    r: Recorder
    scopes: list[Scope]
    handling: list[tuple[Any, Any]]
    """For each handler that is being traced, innermost last, the exception it has caught, and what the name holds."""
    bars: list[tuple[ast.For, Progress]]
    """The loops over progress bars that are being traced, innermost last."""
    ended_bars: ByIdentity[Progress, None]
    """The bars whose loops have ended."""
    ending: list[Any]
    """The generators in steps that loops being traced take to their end, innermost last."""
    trying: list[ast.Try]
    """The `try` statements whose bodies are being traced, innermost last."""
    hidden: MutableMapping[CapturePlace, Any]
    captures: dict[tuple[str, int], tuple[str, Callable[[], Any], Any]]
    """(name, how to fetch it again, value) of each value from outside, for the guards; by name and the id of where it
    was found: a plain key, which identifies hidden arguments from trace to trace."""
    taken: dict[tuple[str, int], tuple[str, Callable[[], Any], Any]]
    """The same of what modules of NumPy's hold (`Conditions.taken`)."""
    cached: ByIdentity[Any, set[str]]
    """By function of functools.lru_cache from outside: the arguments that it is called with."""
    constants: ByIdentity[Any, None]
    """Objects that are part of the key."""
    plans: dict[tuple[Any, ...], LoopPlan]
    """The plans of loops: what each was found to carry."""
    list_paths: ByIdentity[Any, Hidden]
    """How the lists of the caller's are fetched."""
    tables: ByIdentity[Any, ArrayRef]
    """The arrays of the caller's lists of lists (lists/tables)."""
    rows: ByIdentity[Any, tuple[Any, int]]
    """The list of lists that a list is in, with its place."""
    row_reads: set[ast.AST]
    """Where items are picked of which nothing but what is in them is read."""
    pools: dict[Any, Any]
    """What holds the lists that are items of lists, by the form of their items (lists/references)."""
    recursions: list[Any]
    """The functions being traced whose recursion only the run time ends, innermost last (recursion)."""
    recursion_plans: dict[Any, Any]
    """What is known of such functions, by their code and the kinds of their arguments."""
    picking: list[Picks]
    asking_items: Any
    """Of the loops being traced that pick items from lists, what they pick."""
    walking: list[Any]
    """Of the loops being traced, the dicts by run-time keys that they go through, or None."""
    sets: ByIdentity[Any, Location]
    """The sets of known items that were made, and where."""
    returned_at: Location
    """Where the function that was called last returned."""
    asked: ByIdentity[Any, None]
    """Objects that have given their array (array_likes)."""
    consumed: set[ast.AST]
    unread_call: ast.AST | None
    """The call that is a statement, where one was met last."""
    unread_function: Any
    """The function of such a call, until it runs, as its scope has it (`closure`)."""
    """Operands of arithmetic."""
    coding: Coding | None
    """How the codes of the call's arrays of text are made, if it has any (lists/labels)."""
    label_arguments: ByIdentity[Any, Leaf]
    """By what stands for an argument that is an array of text: its leaf."""

    @property
    def scope(self) -> Scope:
        """The function being interpreted."""
        return self.scopes[-1]

    @contextmanager
    def within(self, scope: Scope) -> Iterator[Scope]:
        """Makes a scope the function being interpreted."""
        with pushed(self.scopes, scope):
            yield scope

    @abstractmethod
    def is_fixed_here(self) -> bool:
        """Whether the function being interpreted belongs to this package, NumPy or SciPy."""

    @abstractmethod
    def asks_items(self, x: Any) -> bool:
        """Whether of a set from outside nothing is asked but whether it holds something."""

    # -- places and refusals
    @abstractmethod
    def at(self, node: ast.AST) -> Location:
        """Makes a node the current location in the user's source; a node without a line does not change it."""

    @abstractmethod
    def refuse(self, node: ast.AST, reason: str, instead: str = "") -> UnsupportedError:
        """The UnsupportedError for a node, to be raised: the reason, and what to write instead."""

    # -- expressions
    @abstractmethod
    def expr(self, node: ast.expr, env: Env) -> Any:
        """The value of an expression; refuses one whose type is path-dependent."""

    @abstractmethod
    def any_expr(self, node: ast.expr, env: Env) -> Any:
        """The value of an expression, of any types."""

    @abstractmethod
    def by_type(self, node: ast.AST, values: Sequence[Any], env: Env, evaluate: Callable[..., Any]) -> Any:
        """`evaluate(*values)`, for each type that a path-dependent one of them may have."""

    @abstractmethod
    def by_items(self, node: ast.AST, values: Sequence[Any], env: Env, evaluate: Callable[..., Any]) -> Any:
        """`by_type`, of the items of tuples too."""

    @abstractmethod
    def items(self, nodes: Sequence[ast.expr], env: Env) -> list[Any]:
        """The values of several expressions, starred ones unpacked."""

    @abstractmethod
    def operate(self, name: str, a: Any, b: Any) -> Any:
        """a OP b, by the operator's name in the syntax tree."""

    @abstractmethod
    def augmented(self, name: str, old: Any, right: Any) -> Any:
        """`old OP= right`: in place for arrays."""

    @abstractmethod
    def compared(self, node: ast.AST, name: str, a: Any, b: Any) -> Any:
        """`a == b`, `a < b` ..., by the operator's name in the syntax tree."""

    @abstractmethod
    def contains(self, node: ast.AST, items: Any, x: Any) -> bool | PyBool:
        """`x in items`."""

    @abstractmethod
    def attribute(self, node: ast.AST, base: Any, name: str) -> Any:
        """`base.name`."""

    @abstractmethod
    def subscript(self, node: ast.AST, base: Any, index: Any) -> Any:
        """`base[index]`."""

    # -- conditions
    @abstractmethod
    def truth(self, node: ast.AST, value: Any) -> bool | PyBool:
        """bool(value): a bool where it is known now, else a condition."""

    @abstractmethod
    def decided(self, node: ast.AST, known: bool | PyBool) -> bool | PyBool:
        """A condition as it is, or decided by a guard where entry values determine it (rule F4)."""

    @abstractmethod
    def condition(self, node: ast.AST, value: Any) -> bool | PyBool:
        """The truth of a value, decided by a guard where entry values determine it."""

    @abstractmethod
    def negate(self, condition: PyBool) -> PyBool:
        """`not condition`."""

    @abstractmethod
    def choose(self, node: ast.AST, condition: PyBool, arms: Sequence[Callable[[Env], Any]], env: Env) -> Any:
        """A traced choice between two expressions."""

    # -- containers
    @abstractmethod
    def own(self, made: Any) -> Any:
        """Registers a list or dict that the trace made; returns it."""

    @abstractmethod
    def rolled(self, node: ast.AST, items: Any) -> Any:
        """list(items), made in a loop."""

    @abstractmethod
    def put_all(self, by: Callable[..., Any], made: Any, items: Any) -> None:
        """Puts items into a container, in a loop of the prelude's."""

    @abstractmethod
    def comprehended(self, node: ast.ListComp, env: Env) -> list[Any]:
        """The items of a comprehension."""

    @abstractmethod
    def generator(self, node: ast.GeneratorExp | ast.ListComp, env: Env) -> Any:
        """The iterator over the items of a generator expression, or of a comprehension."""

    @abstractmethod
    def made_generator(self, scope: Scope) -> Any:
        """What a call of a generator function gives: nothing of it runs yet."""

    @abstractmethod
    def generator_over(self, node: ast.GeneratorExp | ast.ListComp, scope: Scope, it: Any, home: Env | None) -> Any:
        """The iterator over the items of a generator expression, of the scope and environment where it was made."""

    @abstractmethod
    def append_all(self, node: ast.AST, made: Any, items: Any) -> None:
        """Appends items to a list, in a loop."""

    @abstractmethod
    def note_growth(self, x: Any, more: Sequence[Any] = (), form: Form | None = None) -> None:
        """Notes that a list, which gets more items, or some of a form, is indexed by what only the run time knows."""

    @abstractmethod
    def array_of_number(self, number: Any, item: Any) -> ArrayRef:
        """The array whose elements are a list that is an item: a part of those of all such lists."""

    @abstractmethod
    def number_of_list(self, x: Any, item: Any) -> Any:
        """The number of a list that becomes an item of another, among those of items of a form."""

    @abstractmethod
    def change(self, node: ast.AST, x: Any) -> None:
        """Notes that a container is changed; refuses it where the container is path-dependent."""

    @abstractmethod
    def flat(self, values: Sequence[Any]) -> list[Any]:
        """The values, with the items of containers in place of these."""

    @abstractmethod
    def iterable(self, node: ast.AST, value: Any, statement: ast.AST | None = None) -> Iterable:
        """What a loop over a value iterates over."""

    @abstractmethod
    def iterate_static(self, node: ast.AST, value: Any) -> list[Any]:
        """The items of an iterable whose length is known, or made part of the key."""

    @abstractmethod
    def each(self, node: ast.AST, value: Any) -> Iterator[Any]:
        """The items of an iterable one after another, each as its turn comes; their number is known, or made part of
        the key."""

    @abstractmethod
    def short(self, it: Iterable) -> bool:
        """Whether there are so few items, at any sizes, that the iteration is unrolled."""

    @abstractmethod
    def storable(self, node: ast.AST, value: Any) -> Any:
        """A value that may be stored into elements of an array."""

    # -- calls
    @abstractmethod
    def call(self, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A call, by the callee itself (rule X1)."""

    @abstractmethod
    def call_function(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Inlines a Python function: by its source, or, where that cannot be read, by running it."""

    @abstractmethod
    def call_nested(self, function: NestedFunction, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a function defined inside a traced one."""

    @abstractmethod
    def run_scope(self, scope: Scope) -> Any:
        """Runs a function's body in a scope of its own; its result."""

    @abstractmethod
    def make_nested(self, node: ast.FunctionDef | ast.Lambda, name: str, env: Env) -> NestedFunction:
        """The function object of an inner def or lambda."""

    @abstractmethod
    def global_lookup(self, function: types.FunctionType) -> Callable[[str], Any]:
        """A look-up of a function's free names: closure cells, globals, builtins; each result becomes a guard."""

    @abstractmethod
    def capture(self, name: str, fetch: Callable[[], Any], value: Any, place: object) -> Any:
        """A value from outside: arrays are hidden arguments, scalars and functions guards (rule B5)."""

    @abstractmethod
    def at_home(self, node: ast.AST, scope: Scope, home: Env | None) -> Scope:
        """The scope of a generator, whose environment has to be the one in which it was made."""

    # -- statements
    @abstractmethod
    def block(self, body: Sequence[ast.stmt], env: Env) -> None:
        """Runs statements until one jumps."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Any, env: Env) -> None:
        """Binds a name, unpacks, or stores into an array."""

    @abstractmethod
    def branch(self, body: Sequence[ast.stmt]) -> Callable[[Env], None]:
        """What runs statements in an environment, which inner functions see."""

    @abstractmethod
    def loop_spec(
        self, node: ast.For, rng: Range, run: Callable[[Env, Dim | None], None], exits: bool = False
    ) -> LoopSpec:
        """What a loop statement is to the tracing of loops."""

    @abstractmethod
    def over(self, node: ast.For, it: Items | Range, env: Env) -> None:
        """A `for` whose iterations are alike."""

    @abstractmethod
    def unrolled(self, node: ast.For, items: Sequence[Any], env: Env, targets: frozenset[str], first: int = 0) -> None:
        """A `for` from an item on, item by item; `targets`: the names that may be read where a jump leads."""

    @abstractmethod
    def after_loop(self, node: ast.For, env: Env, exits: bool) -> None:
        """The `else` of a loop, and the effect of a `return` in it."""

    @abstractmethod
    def jump_targets(self) -> frozenset[str]:
        """The names that may be read where a jump leads."""

    @abstractmethod
    def reached(self, said: Raises) -> None:
        """Records, or raises, an exception that Python or NumPy raises for this code, where it is reached (rule F3)."""

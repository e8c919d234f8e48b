"""Where a kernel looks for signals, at a cost that its loops do not feel.

The kernel counts its work down in a register, in units of about one op on one element; when `BUDGET` units are done, it
calls `poll` (backend/runtime/entry.py), which gives it the next ones, or says that a signal handler has raised, and the
kernel returns. No loop that LLVM vectorises is touched, and no short one. Limit: one pass of cheap elements over
gigabytes is not left half-way.

- a nest that may take long (dear elements, or a product's) is cut into pieces of about `BUDGET` units, and polls after
  each; if it only stands in for a call of BLAS, it polls in each iteration of its outer loops; any other nest, which
  takes no longer than to read its operands, only counts its work;
- a loop of straight code (an `scf.for` without loops inside) is cut the same way;
- a loop around others polls in each iteration, which is one subtraction and one branch that is never taken; not a loop
  over blocks of rows (optimize/buffers/rows_by_blocks.py), whose nests poll as they do without it;
- so does an `scf.while`, of which nobody knows how often it runs.

LLVM is told that `poll` touches no memory it can see: what a signal handler does to an array while a call runs is a
race, as it is from another thread.
"""

from __future__ import annotations

from tracebuf.backend.layout.abi import BUDGET
from tracebuf.backend.llvm.code import Code
from tracebuf.ir.core import Block, Op
from tracebuf.ops.arrays.gather import SortedPlace
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.libm import Libm
from tracebuf.running.python_functions import HOSTED

LEFT = str(-(2**63))
"""What a function that counts on gives instead of a budget."""


class Polls:
    """Writes the counting and the polls; `stopped` is the label that leaves the kernel, `budget` what is left at the
    start."""

    def __init__(self, code: Code, context: str, stopped: str, budget: str = str(BUDGET)) -> None:
        self.code, self.context, self.stopped = code, context, stopped
        self.left = code.fresh_slot("i64")
        code.do(f"store i64 {budget}, ptr {self.left}")

    def state(self) -> list[tuple[str, str]]:
        """The context and the budget left, for a function that counts on."""
        return [("ptr", self.context), ("i64", self.code.inst(f"load i64, ptr {self.left}"))]

    def leave(self) -> None:
        """The end of such a function: it gives the budget left, which may be overspent, or `LEFT` if a signal handler
        raised."""
        self.code.do(f"ret i64 {self.state()[1][1]}")
        self.code.place(self.stopped)
        self.code.do(f"ret i64 {LEFT}")

    def resume(self, left: str) -> None:
        """Goes on with what that function gave; leaves the kernel where it was left."""
        self.code.do(f"store i64 {left}, ptr {self.left}")
        going = self.code.new_label()
        self.code.branch(self.code.icmp("eq", left, LEFT), self.stopped, going, self.code.rarely())
        self.code.place(going)

    def spend(self, units: str) -> str:
        """Counts work; what is left."""
        left = self.code.inst(f"sub nsw i64 {self.code.inst(f'load i64, ptr {self.left}')}, {units}")
        self.code.do(f"store i64 {left}, ptr {self.left}")
        return left

    def poll(self, units: str) -> None:
        """Counts work, and polls where the budget is spent."""
        code = self.code
        spent, going = code.new_label(), code.new_label()
        code.branch(code.icmp("slt", self.spend(units), "0"), spent, going, code.rarely())
        code.place(spent)
        code.declare("tracebuf_poll", "i64 @(ptr) cold nounwind memory(inaccessiblemem: readwrite)")
        code.imports["tracebuf_poll"] = ("runtime", "poll")
        more = code.call("i64", "tracebuf_poll", [("ptr", self.context)])
        code.do(f"store i64 {more}, ptr {self.left}")
        code.branch(code.icmp("slt", more, "0"), self.stopped, going)
        code.place(going)

    def chunk(self, units: int) -> int:
        """How many iterations of so many units are done between two polls: whole vectors."""
        return max(BUDGET // units // 64 * 64, 64)


def cost(op: Op) -> int:
    """The units of an op outside of loops."""
    if isinstance(op, Libm) and op.attrs["function"] in HOSTED:
        return 4000
    if isinstance(op, arith.Ufunc | Libm | SortedPlace):
        return 16
    return 1


def work(block: Block) -> int | None:
    """The units of one run through a block; None where it has loops, or calls."""
    total = 1
    for op in block.ops:
        if isinstance(op, scf.For | scf.While | DestinationOp | memref.Copy | memref.Alloc):
            return None
        for inner in (b for region in op.regions for b in region.blocks):
            units = work(inner)
            if units is None:
                return None
            total += units
        total += cost(op)
    return total

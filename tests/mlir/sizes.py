"""Random MLIR programs whose slices have computed offsets and sizes, so that some are equal and some are not."""

from __future__ import annotations

import random

VECTOR = "tensor<?xf32>"
SUMS = ("addi", "subi", "minsi", "maxsi", "ceildivsi", "divui", "remsi")
HEAD = f"""func.func @f(%x: {VECTOR}, %y: {VECTOR}, %n: index, %k: index, %p: i1, %f: f32) -> {VECTOR} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
"""


def sizes_program(rng: random.Random) -> str:
    """A function of two vectors: parts of them are filled and put back, in loops too."""
    made = _Sizes(rng)
    tensors = ["%x", "%y"]
    made.block(rng.randint(6, 16), ["%n", "%k", "%c0", "%c1", "%c2"], tensors, 0)
    return HEAD + "\n".join(made.lines) + f"\n  return {tensors[-1]} : {VECTOR}\n}}"


class _Sizes:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.lines, self.count = rng, list[str](), 0

    def add(self, text: str) -> str:
        """A line that makes one value; the value."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def index(self, known: list[str], tensors: list[str]) -> str:
        pick = self.rng.choice
        a, b = pick(known), pick(known)
        kind = pick(("sum", "sum", "muli", "floordivsi", "nothing", "constant", "dim", "select", "commuted", "if"))
        if kind == "muli":
            return self.add(f"arith.muli {a}, {pick((b, '%c2', '%c1'))} : index")
        if kind == "floordivsi":
            return self.add(f"arith.floordivsi {a}, {pick(('%c2', '%c1', '%k'))} : index")
        if kind == "constant":
            return self.add(f"arith.constant {pick((0, 1, 2, 3))} : index")
        if kind == "dim":
            return self.add(f"tensor.dim {pick(tensors)}, %c0 : {VECTOR}")
        if kind == "select":
            return self.add(f"arith.select %p, {a}, {pick((a, b))} : index")
        if kind == "if":
            other = pick((a, b))
            return self.add(f"scf.if %p -> index {{ scf.yield {a} : index }} else {{ scf.yield {other} : index }}")
        if kind == "commuted":
            known.append(self.add(f"arith.addi {a}, {b} : index"))
            return self.add(f"arith.addi {b}, {a} : index")
        return self.add(
            f"arith.{'addi' if kind == 'nothing' else pick(SUMS)} {a}, {b if kind == 'sum' else '%c0'} : index"
        )

    def part(self, known: list[str], tensor: str) -> str:
        """A part of a tensor, filled, back at a place that may be the same."""
        pick = self.rng.choice
        offset, size = pick(known), pick(known)
        place, extent = pick((offset, offset, pick(known))), pick((size, size, pick(known)))
        if self.rng.random() < 0.5:
            place = self.add(f"arith.{pick(('addi', 'subi'))} {offset}, {pick(('%c0', '%c0', '%c1'))} : index")
        part = self.add(f"tensor.extract_slice {tensor}[{offset}] [{size}] [1] : {VECTOR} to {VECTOR}")
        filled = self.add(f"linalg.fill ins(%f : f32) outs({part} : {VECTOR}) -> {VECTOR}")
        return self.add(f"tensor.insert_slice {filled} into {tensor}[{place}] [{extent}] [1] : {VECTOR} into {VECTOR}")

    def block(self, ops: int, known: list[str], tensors: list[str], depth: int) -> None:
        for _ in range(ops):
            kind, recent = self.rng.random(), self.rng.choice(tensors[-3:])
            if kind < 0.45:
                known.append(self.index(known, tensors))
            elif kind < 0.8:
                tensors.append(self.part(known, recent))
            elif kind < 0.88:
                empty = self.add(f"tensor.empty({self.rng.choice(known)}) : {VECTOR}")
                tensors.append(self.add(f"linalg.fill ins(%f : f32) outs({empty} : {VECTOR}) -> {VECTOR}"))
            elif kind < 0.92:
                tensors.append(self.add(f"tensor.insert %f into {recent}[{self.rng.choice(known)}] : {VECTOR}"))
            elif depth < 2:
                tensors.append(self.loop(known, tensors, recent, depth))

    def loop(self, known: list[str], tensors: list[str], start: str, depth: int) -> str:
        upper, self.count = self.rng.choice(known), self.count + 1
        i, a = f"%i{self.count}", f"%a{self.count}"
        head = f"scf.for {i} = %c0 to {upper} step %c1 iter_args({a} = {start}) -> {VECTOR} {{"
        result, inner = self.add(head), [*tensors, a]
        self.block(self.rng.randint(2, 5), [*known, i], inner, depth + 1)
        self.lines += [f"  scf.yield {inner[-1]} : {VECTOR}", "  }"]
        return result

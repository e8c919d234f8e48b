"""Masks, index arrays and sizes that depend on data, for random programs: texts with holes (see `calls`).

`{m}` is a mask of an array `{a}`, `{p}` an array of indices into its first axis, `{e}` a number. In rough programs no
float decides a mask.
"""

from __future__ import annotations

from tracebuf.testing.calls import Calls
from tracebuf.testing.expressions import Var, is_float

__all__ = ["Picks"]

_READS = (
    "{a}[{m}]; {a}[{p}]; {a}[:, {p}]; {a}[{m}] * 2 + 1; {a}[{p}, {p}]; {a}[{p}[:, None], {p}]; {a}[{p}].sum(); "
    "np.nonzero({m})[0]; np.where({m})[0]; np.flatnonzero({m}); np.argwhere({m}); {a}[{m}].size; "
    "np.take({a}, {p}, axis=0); np.take({a}, {p}, mode='wrap'); np.compress({m}, {a}, axis=0); "
    "np.extract({m}, {a}); {a}[~{m}]; {a}[{m}][::-1]; {a}[np.ix_({p}, {p})]; {a}[{p}][{p}]; {a}.T[..., {p}]; "
    "{a}[{m}, ...]; {a}[..., None, {p}]; {a}[[0, -1]]; {a}[{p}] + {a}[{p}]; np.bincount({p} % 4); "
    "np.take_along_axis({a}, {a}.argmax(axis=0)[None], axis=0); np.searchsorted(np.arange(5), {a}[{p}]); "
    "{a}[{m}].max(initial=0); np.concatenate(({a}[{m}], {a}[~{m}])); {a}[{m} & {m}]; np.count_nonzero({m}); "
    "{a}.take({p})"
)
_STORES = (
    "{a}[{m}] = {e}; {a}[{p}] = {e}; {a}[{m}] += {e}; {a}[{p}] += {e}; {a}[:, {p}] = {e}; "
    "{a}[{m}] = {a}[{m}][::-1]; {a}[{p}] = {a}[{p}[::-1]]; {a}[{m}] *= 2; np.add.at({a}, {p}, {e}); "
    "{a}[{p}, {p}] -= 1; np.put({a}, {p}, {e}); {a}[{m}] = {a}[{m}] + {e}; {a}[1:][{m}[1:]] = {e}; "
    "{a}.T[..., {p}] = {e}; np.maximum.at({a}, {p}, {e}); {a}[{p}] = {a}; {a}[{m}] = {a}[:1]; {a}[~{m}] = 0; "
    "{a}[{m}] = {a}[{p}]; np.place({a}, {m}, [{e}, 1]); np.copyto({a}, {e}, where={m}); np.putmask({a}, {m}, {e}); "
    "{a}[{m}, 0] = {e}"
)
_SHRINK = (
    "while {n}.size > 2:\n    {n} = {n}[{n} > {n}.min()]",
    "for q in range(3):\n    {n} = {n}[np.arange(len({n})) % 2 == q % 2]",
    "while {n}.size > 1:\n    {n} = {n}[1:][np.arange(len({n}) - 1) % 3 != 0]",
)


class Picks(Calls):
    """Statements with arrays as indices."""

    def emit(self, text: str) -> None:
        raise NotImplementedError

    def fresh(self, kind: str = "t") -> str:
        raise NotImplementedError

    def mask(self, a: Var) -> str:
        """A mask of an array, or of its first axis."""
        forms = [f"(np.arange({a.name}.shape[0]) % 2 == 0)", f"(np.arange({a.name}.shape[0]) > {self.index()[0]})"]
        if self.mode != "rough" or not is_float(a.sample):
            test = self.pick(("> 0", "<= 1", "!= 2", "== 0", "> 100", "> -100"))
            forms += [f"({a.name} {test})", f"({a.name} {test})", f"({a.name}[:, 0] {test})"]
        forms += [b.name for b in self.arrays() if b.sample.dtype == bool and b.dims[:1] == a.dims[:1] and b.dims]
        return self.pick(forms)

    def places(self, a: Var) -> str:
        """Indices into the first axis of an array, mostly within bounds."""
        least = min(a.dims[0])
        forms = [f"np.arange({a.name}.shape[0])[::-1]", "np.array([0, -1, 0])", f"(np.arange(4) % {max(least, 1)})"]
        forms += ["np.array([1, 0])", f"np.arange({a.name}.shape[0] // 2)", "np.array([2, 1], dtype=np.int8)"]
        forms += [
            f"({b.name} % {least})" if self.chance(90) else b.name
            for b in self.arrays()
            if b.sample.dtype.kind in "iu" and len(b.dims) == 1 and least
        ]
        return self.pick(forms)

    def do_pick(self) -> None:
        """A read by a mask or an index array, or a store; or a loop that leaves less and less."""
        pool = [a for a in self.arrays() if a.dims]
        if not pool:
            return
        a = self.pick(pool)
        if self.chance(8) and (self.mode != "rough" or not is_float(a.sample)) and len(a.dims) == 1:
            name = self.fresh()
            self.emit(f"{name} = {a.name}")
            for line in self.pick(_SHRINK).format(n=name).splitlines():
                self.emit(line)
            return
        reads = not a.writable or self.chance(50)
        text = self.pick([t.strip() for t in (_READS if reads else _STORES).split(";")])
        if self.mode == "bits" and is_float(a.sample) and ".sum()" in text:
            return  # whose order of additions no one promises
        holes = {"a": a.name, "m": self.mask(a), "p": self.places(a), "e": self.atom(()).inner}
        self.emit((f"{self.fresh()} = " if reads else "") + text.format(**holes))

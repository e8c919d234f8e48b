"""donate=: which arguments of a call the compiled function may overwrite as it likes. JAX's word is donate_argnames.

An array can be donated if it is contiguous (in C or Fortran order: a new array would have the same layout), may be
stored to, and shares no memory with an argument that is not donated. The last two depend on the call: they are tested
at each, before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from types import FunctionType

from tracebuf.errors import DonationError
from tracebuf.frontends.numpy.call.arguments import ArrayKey, Key, Leaf, Relations, ScalarKey
from tracebuf.frontends.numpy.source.source import heading
from tracebuf.options import Options


def donated(
    function: FunctionType, options: Options, names: Sequence[str], keys: Sequence[Key], related: Relations
) -> tuple[Leaf, ...]:
    """The leaves that one call donates.

    Raises ValueError where one that `donate` names is read-only, as a store to it would; DonationError where it cannot
    be donated for another reason. Empty arrays have nothing to donate.
    """
    roots = [re.split(r"[\[.]", name)[0] for name in names]  # of what containers hold, the container
    wanted = {Leaf(i) for i, name in enumerate(roots) if name in (*options.donate, *options.donate_optional)}
    if not wanted:
        return ()
    found = []
    for i in sorted(wanted):
        reason, key = why_not(i, wanted, names, keys, related), keys[i]
        if reason is None:
            if isinstance(key, ArrayKey) and 0 not in key.dims:
                found.append(i)
        elif roots[i] in options.donate and (isinstance(key, ArrayKey) or roots[i] == names[i]):
            if isinstance(key, ArrayKey) and not key.writable:
                raise ValueError(f"argument `{names[i]}` is donated, but the assignment destination is read-only")
            raise DonationError(names[i], reason, heading(function))
    # of arguments that are one array, the first represents all, if it may be donated
    return tuple(i for i in found if related.same[i] in found)


def why_not(
    index: Leaf, wanted: Collection[Leaf], names: Sequence[str], keys: Sequence[Key], related: Relations
) -> str | None:
    """Why an argument of this call cannot be donated; None where it can."""
    key = keys[index]
    if not isinstance(key, ArrayKey):
        kind = key.kind if isinstance(key, ScalarKey) else key.type.__name__
        return f"in this call it is no array, but of type {kind.removeprefix('np.')}"
    if not key.writable:
        return "in this call it is read-only"
    if key.mapped:
        return "in this call it is a memmap, in whose file results would be"
    if key.layout != "dense":
        return "in this call it is not contiguous, as new arrays are"
    for other, same in enumerate(related.same):
        if same == related.same[index] and other not in wanted:
            return f"in this call `{names[other]}` is the same array, and not donated"
    first = related.same[index]
    for pair in related.shared:
        others = [k for k in pair if related.same[k] != first]
        if 0 < len(others) < len(pair):
            return f"in this call it shares memory with `{names[others[0]]}`"
    return None

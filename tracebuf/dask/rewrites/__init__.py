"""Programs that say the same and can be cut where the first could not: what is along an axis that is cut becomes
reductions, which have parts, or is written out.

`unroll` writes loops out, `extremes` makes two reductions of the search for the place of an extreme, `picks` one of
what is read at one place, `stores` choices of stores to some places, `masks` of those by a mask, `starts` has
reductions begin with what changes nothing, `carried` gives what loops carry values of their own. Each is tried where
the chunks of a call cannot be laid out (`calls`).
May import: the room's own folder.
"""

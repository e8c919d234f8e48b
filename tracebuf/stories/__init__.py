"""Copy stories: of each allocation and copy that is left, what wants it, and the edit of the source that would remove
it, found by trying; and what was saved beside eager NumPy, by line.

`story` puts them together: `candidates` proposes edits, `edits` applies them as text, `trials` traces and measures what
they give, `meaning` says whether two programs compute the same, `saved` where eager allocates, `broken` the stories in a
ContractError. May import: every room, but not `api`.
"""

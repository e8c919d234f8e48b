"""Copy stories: of each allocation and copy that is left, what wants it, and the edit of the source that would remove
it, found by trying; and what was saved beside eager NumPy, by line.

`story` puts them together: `candidates` and `loops` (`turns`, `rooms`) propose edits, `names` and `lines` look into a
function's syntax tree and text for them, `edits` applies them, `trials` traces and measures what they give, `meaning`
says whether two programs compute the same (`parts`: what parts of arrays hold), `saved` where eager allocates, `broken`
tells the stories in a ContractError. May import: every room, but not `api`.
"""

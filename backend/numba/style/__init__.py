"""The lines of a function as a person would write them; each step leaves what the function computes as it is.

`coalesce` makes one variable of those that hand a value on; `tidy` the lines plainer (`peepholes` has the patterns,
`folding` the expressions) with the user's names (`numbering`); `frees` deletes arrays after their last use; `format`
lays out. They work on syntax trees (`trees`, `render`) and on what is live where (`liveness`). May import: errors.
"""

"""What decisions cost (allocations, copies, bytes on each path), and searches for cheaper ones.

`choose.analyze` is what the pipeline calls; `optimal` proves the least cost by a certificate that `certificate` checks.
May import: what one_shot may, and one_shot.
"""

"""Commands of `python -m tracebuf`: a program as a file of Python (`export`), a measurement (`measure`), a report as
HTML (`report`).

May import: everything.
"""

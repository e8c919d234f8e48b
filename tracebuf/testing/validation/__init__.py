"""What `f.validate` gives: the table of rungs, and where the first difference is to be sought (`blame`). Made by
checks/validate.

May import: interpreters, ops, the IR; nothing of the API."""

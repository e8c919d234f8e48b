"""`Control`: the exceptions that steer how a call is traced, and by which none of its errors is said."""

from __future__ import annotations


class Control(BaseException):
    """An exception that steers tracing: never an error, and never seen by the user."""

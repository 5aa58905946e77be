"""Checks files for silent corruption by the program `steadfast`, and returns its events.

Each function starts the program that comes with this package. The formats page "events" of
Steadfast specifies the events; `raw` of each has all keys, also those without an attribute here.
"""

from ._events import Event, File, Finding, Notice, StoredTag, Summary
from ._run import SteadfastError, check, digest, events, program, tag, verify_manifest

__all__ = [
    "Event",
    "File",
    "Finding",
    "Notice",
    "SteadfastError",
    "StoredTag",
    "Summary",
    "check",
    "digest",
    "events",
    "program",
    "tag",
    "verify_manifest",
]

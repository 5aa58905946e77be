"""Runs checks in shards on Dask.

Nothing here judges a file: each shard is one `steadfast check --shard` on some worker, which writes
its result, and `steadfast merge` makes one report of the results.
"""

from .dispatch import Dispatch, Options, Report, SchedulerLost, Shard

__all__ = ["Dispatch", "Options", "Report", "SchedulerLost", "Shard"]

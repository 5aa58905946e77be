"""Runs a job of `steadfast fleet` on Dask, and exports its result.

The job is a folder that all machines see, specified in fleet/FORMAT.md. Nothing here judges a
file: each shard is one call of the `steadfast` command on some worker.
"""

from .dispatch import Dispatch, Options, Report
from .document import Damaged, records
from .job import Job, Shard

__all__ = ["Damaged", "Dispatch", "Job", "Options", "Report", "Shard", "records"]

"""Puts a program into the wheel, and gives the wheel the name of its system.

`STEADFAST_PROGRAM` is the program, `STEADFAST_PLATFORM` the part of a wheel's tag that names the
system. A static program runs beside any C library, so one wheel is for all Linux of a processor.
"""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['STEADFAST_PLATFORM']}"
        build_data["shared_scripts"] = {os.environ["STEADFAST_PROGRAM"]: "steadfast"}

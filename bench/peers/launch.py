"""In: stdout path, stderr path, working folder, then a command. Out: one line of figures.

Runs the command once and writes what it cost to its own stdout, as JSON. It stays tiny, for a
process is charged with the memory of the one that started it: the harness itself holds the
digests of whole corpora, and every peer would seem to need as much. It must not know what it runs.
"""

import posix
import sys
import time

CLOCK = time.CLOCK_MONOTONIC_RAW
BLOCK_LEN_BYTES = 512


def main() -> int:
    out_path, err_path, folder, *command = sys.argv[1:]
    posix.chdir(folder)
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC
    out = posix.open(out_path, flags, 0o644)
    err = posix.open(err_path, flags, 0o644)
    null = posix.open("/dev/null", posix.O_RDONLY)
    started = time.clock_gettime_ns(CLOCK)
    child = posix.fork()
    if child == 0:
        try:
            for descriptor, target in ((null, 0), (out, 1), (err, 2)):
                posix.dup2(descriptor, target)
            posix.execv(command[0], command)
        finally:
            posix._exit(127)
    _, status, used = posix.wait4(child, 0)
    ended = time.clock_gettime_ns(CLOCK)
    figures = (
        ("status", posix.waitstatus_to_exitcode(status)),
        ("started_ns", started),
        ("wall_ns", ended - started),
        ("user_ns", round(used.ru_utime * 1e9)),
        ("sys_ns", round(used.ru_stime * 1e9)),
        ("rss_bytes", used.ru_maxrss * 1024),
        ("switches_voluntary", used.ru_nvcsw),
        ("switches_involuntary", used.ru_nivcsw),
        ("storage_read_bytes", used.ru_inblock * BLOCK_LEN_BYTES),
    )
    print("{" + ", ".join(f'"{name}": {value}' for name, value in figures) + "}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

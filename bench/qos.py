#!/usr/bin/env python3
"""What a check at each QoS level leaves to a load in the foreground, and how far it gets itself.

In: the command, a folder with some gigabytes that are in the page cache and tagged. Out: a table of
ratios, from pairs that take turns: the load alone, then beside a check. The load is as many
processes as there are processors, all in one session of their own, as in another terminal; or, with
--same-session, in that of the check.

    python3 bench/qos.py target/release/steadfast FOLDER [--pairs 5] [--seconds 4] [--load cpu]

Loads: `cpu` counts in registers; `memory` copies 32 MiB to and fro; `wake` works for some 0.2 ms and
sleeps for 1 ms, over and over, as what answers people does.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import time

LEVELS = ["background", "utility", "default", "user-initiated", "user-interactive"]


def work(load, seconds):
    """Waits for a line, does a load for so long, and prints how much of it, in how much processor
    time."""
    done = 0
    if load == "memory":
        here, there = bytearray(32 << 20), bytearray(32 << 20)
    print("ready", flush=True)
    sys.stdin.readline()
    before_s = time.process_time()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if load == "memory":
            here[:] = there
            there[:] = here
            done += 2
        else:
            for _ in range(2_000 if load == "wake" else 20_000):
                done += 1
            if load == "wake":
                time.sleep(0.001)
    print(done, time.process_time() - before_s)


def work_together(load, seconds, processes):
    """The same in so many processes that begin at once, in sum."""
    command = [sys.executable, os.path.abspath(__file__), "--work", load, str(seconds), "1"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen(command, **pipes) for _ in range(processes)]
    for worker in workers:
        worker.stdout.readline()
    print("ready", flush=True)
    sys.stdin.readline()
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    told = [worker.communicate()[0].split() for worker in workers]
    print(sum(int(done) for done, _ in told), sum(float(taken_s) for _, taken_s in told))


class Foreground:
    """A load that is about to begin."""

    def __init__(self, options):
        command = [sys.executable, os.path.abspath(__file__), "--work", options.load]
        command += [str(options.seconds), str(options.processes)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, start_new_session=not options.same_session)
        self.process.stdout.readline()

    def run(self):
        """Returns how much was done, and the processor time it took."""
        done, taken_s = self.process.communicate("\n")[0].split()
        return int(done), float(taken_s)


def beside(options, level):
    """A load beside a check. Returns what was done, the processor time of it and of the check in
    that time."""
    foreground = Foreground(options)
    command = [options.command, "check", "--json", "--quiet", "--progress", "never"]
    command += ["--qos", level, options.folder]
    check = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(0.3)

    def taken():
        # Its child in a session of its own included.
        return sum(processor_s(process) for process in [check.pid, *children_of(check.pid)])

    before_s = taken()
    done, load_s = foreground.run()
    if check.poll() is not None:
        sys.exit("the check ended before the load: take a larger folder or fewer seconds")
    check_s = taken() - before_s
    check.send_signal(signal.SIGINT)
    check.communicate()
    return done, load_s, check_s


def processor_s(process):
    """The processor time that a process took so far."""
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rsplit(") ", 1)[1].split(" ")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_of(process):
    """The children that a process has."""
    with open(f"/proc/{process}/task/{process}/children") as children:
        return [int(child) for child in children.read().split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("folder")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--load", choices=["cpu", "memory", "wake"], default="cpu")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--same-session", action="store_true")
    parser.add_argument("--levels", nargs="*", default=LEVELS)
    options = parser.parse_args()
    figures = {level: [] for level in options.levels}
    for _ in range(options.pairs):
        for level in options.levels:
            done_alone, alone_s = Foreground(options).run()
            done, load_s, check_s = beside(options, level)
            shares = (load_s, check_s)
            figures[level].append(
                (done / done_alone, *(share / alone_s for share in shares)))
    where = "same session" if options.same_session else "another session"
    print(f"load: {options.load}, {options.processes} processes, {where}, {options.pairs} pairs of "
          f"{options.seconds} s; median (least to most)\n")
    print("| level | of what it does alone, the load did | of the processor time it took alone, the "
          "load took | and the check |")
    print("| --- | --- | --- | --- |")
    for level in options.levels:
        cells = [f"{statistics.median(column):.1%} ({min(column):.1%} to {max(column):.1%})"
                 for column in zip(*figures[level])]
        print(f"| `{level}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        load, seconds, processes = sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
        if processes == 1:
            work(load, seconds)
        else:
            work_together(load, seconds, processes)
    else:
        main()

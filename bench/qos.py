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
import json
import os
import signal
import statistics
import subprocess
import sys
import time

LEVELS = ["background", "utility", "default", "user-initiated", "user-interactive"]


def work(load, seconds, processes):
    """Does a load for so long in so many processes, and prints how much of it each did."""
    if processes > 1:
        command = [sys.executable, os.path.abspath(__file__), "--work", load, str(seconds), "1"]
        for process in [subprocess.Popen(command) for _ in range(processes)]:
            process.wait()
        return
    done = 0
    end = time.monotonic() + seconds
    if load == "memory":
        here, there = bytearray(32 << 20), bytearray(32 << 20)
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
    print(done)


def foreground(options):
    """Runs the load on every processor and returns how much was done in all."""
    command = [sys.executable, os.path.abspath(__file__), "--work", options.load]
    command += [str(options.seconds), str(options.processes)]
    apart = not options.same_session
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, start_new_session=apart)
    return sum(int(line) for line in said.stdout.split())


def beside(options, level):
    """The same beside a check. Returns what was done, the share of the processor time of both that
    the check took, and the check's rate in bytes per second."""
    command = [options.command, "check", "--json", "--quiet", "--progress", "never"]
    command += ["--qos", level, options.folder]
    check = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    before = os.times()
    done = foreground(options)
    load_s = os.times().children_user - before.children_user
    load_s += os.times().children_system - before.children_system
    if check.poll() is not None:
        sys.exit("the check ended before the load: take a larger folder or fewer seconds")
    # What it took until now, its child in a session of its own included.
    check_s = sum(processor_s(process) for process in [check.pid, *children_of(check.pid)])
    check.send_signal(signal.SIGINT)
    lines = check.communicate()[0].decode().splitlines()
    summary = json.loads(lines[-1])["summary"]
    share = check_s / (check_s + load_s)
    return done, share, summary["bytes"] * 1e9 / summary["elapsed_ns"]


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
    ratios = {level: [] for level in options.levels}
    rates = {level: [] for level in options.levels}
    shares = {level: [] for level in options.levels}
    for _ in range(options.pairs):
        for level in options.levels:
            alone = foreground(options)
            done, share, rate = beside(options, level)
            shares[level].append(share)
            ratios[level].append(done / alone)
            rates[level].append(rate)
    where = "same session" if options.same_session else "another session"
    print(f"load: {options.load}, {options.processes} processes, {where}, {options.pairs} pairs of")
    print(f"{options.seconds} s, the load's rate beside a check / alone: median (least to most)\n")
    print("| level | the load keeps | of the processor time of both the check takes | its rate |")
    print("| --- | --- | --- | --- |")
    for level in options.levels:
        kept, rate = ratios[level], statistics.median(rates[level]) / 1e6
        spread = f"{min(kept):.1%} to {max(kept):.1%}"
        share = statistics.median(shares[level])
        print(
            f"| `{level}` | {statistics.median(kept):.1%} ({spread}) | {share:.1%} | {rate:.1f} MB/s |"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
    else:
        main()

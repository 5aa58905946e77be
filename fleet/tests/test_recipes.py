"""Slurm and Kubernetes, as far as they run without their engines."""

import os
import shutil
import subprocess
from pathlib import Path

import yaml
from conftest import COMMAND, Tree

from steadfast_fleet import Job

RECIPES = Path(__file__).parents[1] / "recipes"


def environment(job: Job, **further: str) -> dict[str, str]:
    """Ours, with the command on the path."""
    folder = job.folder / "bin"
    folder.mkdir(exist_ok=True)
    command = folder / "steadfast"
    command.unlink(missing_ok=True)
    command.symlink_to(Path(shutil.which(COMMAND) or COMMAND).resolve())
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **further}


def test_slurm(tree: Tree) -> None:
    """Every array task makes its part; only what may succeed is put back in the queue."""
    job = tree.plan("slurm", 6)
    script = ["sh", str(RECIPES / "slurm.sh"), str(job.folder)]
    statuses = {}
    for number in range(6):
        task = environment(job, SLURM_ARRAY_TASK_ID=str(number), SLURM_ARRAY_JOB_ID="1")
        statuses[number] = subprocess.run(script, env=task, check=False).returncode
    assert sorted(statuses.values()) == [0, 0, 0, 0, 0, 3]
    assert tree.merged(job) == tree.expected
    requeued = job.folder / "requeued"
    scontrol = job.folder / "bin/scontrol"
    scontrol.write_text(f'#!/bin/sh\necho "$@" >> {requeued}\n')
    scontrol.chmod(0o755)
    (job.folder / "parts/00002.jsonl").unlink()
    (job.folder / "shards/00002.jsonl").unlink()
    task = environment(job, SLURM_ARRAY_TASK_ID="2", SLURM_ARRAY_JOB_ID="1")
    assert subprocess.run(script, env=task, check=False).returncode == 75
    assert requeued.read_text() == "requeue 1_2\n"


def test_kubernetes(tree: Tree) -> None:
    """The command runs by its completion index; corruption and what is hopeless end an index."""
    documents = yaml.safe_load((RECIPES / "kubernetes.yaml").read_text())
    spec = documents["spec"]
    assert spec["completionMode"] == "Indexed"
    rules = {rule["action"]: rule.get("onExitCodes") for rule in spec["podFailurePolicy"]["rules"]}
    assert rules["FailIndex"]["operator"] == "In" and rules["FailIndex"]["values"] == [2, 3]
    assert spec["backoffLimitPerIndex"] > 0
    assert spec["template"]["spec"]["restartPolicy"] == "Never", "needed for a failure policy"
    container = spec["template"]["spec"]["containers"][0]
    assert rules["FailIndex"]["containerName"] == container["name"]
    job = tree.plan("kubernetes", spec["completions"])
    assert len(job.shards) == spec["completions"]
    statuses = []
    for number in range(spec["completions"]):
        words = [word.replace("/job", str(job.folder)) for word in container["command"]]
        pod = environment(job, JOB_COMPLETION_INDEX=str(number))
        statuses.append(subprocess.run(words, env=pod, check=False).returncode)
    assert sorted(statuses) == [0] * (len(statuses) - 1) + [3]
    assert tree.merged(job) == tree.expected

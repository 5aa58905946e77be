"""Slurm and Kubernetes, as far as they run without their engines."""

import os
import shutil
import subprocess
from pathlib import Path

import yaml
from conftest import COMMAND, Tree

RECIPES = Path(__file__).parents[1] / "recipes"


def environment(folder: Path, **further: str) -> dict[str, str]:
    """Ours, with the command on the path."""
    binaries = folder / "bin"
    binaries.mkdir(exist_ok=True)
    command = binaries / "steadfast"
    command.unlink(missing_ok=True)
    command.symlink_to(Path(shutil.which(COMMAND) or COMMAND).resolve())
    return {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}", **further}


def test_slurm(tree: Tree, tmp_path: Path) -> None:
    """Every array task makes its result; only what may succeed is put back in the queue."""
    results = tree.results("slurm")
    script = ["sh", str(RECIPES / "slurm.sh"), str(tree.root), str(results)]
    of_array = {"SLURM_ARRAY_JOB_ID": "1", "SLURM_ARRAY_TASK_COUNT": "6"}
    statuses = {}
    for number in range(6):
        task = environment(tmp_path, SLURM_ARRAY_TASK_ID=str(number), **of_array)
        statuses[number] = subprocess.run(script, env=task, check=False).returncode
    assert sorted(statuses.values()) == [0, 0, 0, 0, 0, 3]
    assert tree.merged(results) == tree.expected
    requeued = tmp_path / "requeued"
    scontrol = tmp_path / "bin/scontrol"
    scontrol.write_text(f'#!/bin/sh\necho "$@" >> {requeued}\n')
    scontrol.chmod(0o755)
    script[2] = str(tree.folder / "nowhere")
    task = environment(tmp_path, SLURM_ARRAY_TASK_ID="2", **of_array)
    assert subprocess.run(script, env=task, check=False).returncode == 75
    assert requeued.read_text() == "requeue 1_2\n"


def test_kubernetes(tree: Tree, tmp_path: Path) -> None:
    """The command runs by its completion index; what another attempt cannot change ends an index."""
    spec = yaml.safe_load((RECIPES / "kubernetes.yaml").read_text())["spec"]
    assert spec["completionMode"] == "Indexed"
    rules = {rule["action"]: rule.get("onExitCodes") for rule in spec["podFailurePolicy"]["rules"]}
    codes = rules["FailIndex"]
    assert codes["operator"] == "In" and codes["values"] == [1, 2, 3], "75 and signals are retried"
    assert spec["backoffLimitPerIndex"] > 0 and spec["maxFailedIndexes"] == spec["completions"]
    assert spec["template"]["spec"]["restartPolicy"] == "Never", "needed for a failure policy"
    container = spec["template"]["spec"]["containers"][0]
    assert codes["containerName"] == container["name"]
    results = tree.results("kubernetes")
    statuses = []
    for number in range(spec["completions"]):
        words = [word.replace("/results", str(results)) for word in container["command"]]
        words = [word.replace("/archive", str(tree.root)) for word in words]
        pod = environment(tmp_path, JOB_COMPLETION_INDEX=str(number))
        statuses.append(subprocess.run(words, env=pod, check=False).returncode)
    assert sorted(statuses) == [0] * (len(statuses) - 1) + [3]
    assert tree.merged(results) == tree.expected

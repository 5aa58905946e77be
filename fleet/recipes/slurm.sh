#!/bin/sh
# A job of `steadfast fleet` as a Slurm array: one array task for each shard.
#
#   steadfast fleet plan /archive --out /shared/job --shards 200
#   sbatch --array=0-199%20 slurm.sh /shared/job
#   steadfast fleet merge /shared/job --out result.jsonl
#
# The highest number is one less than `steadfast fleet plan` says there are shards; %20 is how many
# run at a time, the limit of a storage that all share. Further arguments go to `steadfast fleet run`.
#
#SBATCH --job-name=steadfast
#SBATCH --cpus-per-task=2
#SBATCH --mem=512M
#SBATCH --requeue
#SBATCH --output=steadfast-%A-%a.log

job=$1
shift
steadfast fleet run "$job" --shard "$SLURM_ARRAY_TASK_ID" --quiet --workers "${SLURM_CPUS_PER_TASK:-2}" "$@"
status=$?

# 75 may succeed elsewhere or later. 3 is a finding: the part is there, to run it again tells nothing
# new. Slurm counts restarts, so what never succeeds does not go round for ever.
if [ "$status" -eq 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 5 ]; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$status"

#!/bin/sh
# A check in shards as a Slurm array: one array task for each shard.
#
#   sbatch --array=0-199%20 slurm.sh /archive /shared/results
#   steadfast merge --enter /shared/results
#
# The array must begin at 0; %20 is how many run at a time, the limit of a storage that all share.
# Further arguments go to `steadfast check`. Use a new folder for the results of each check.
#
#SBATCH --job-name=steadfast
#SBATCH --cpus-per-task=2
#SBATCH --mem=512M
#SBATCH --requeue
#SBATCH --output=steadfast-%A-%a.log

root=$1
results=$2
shift 2
steadfast check "$root" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --result "$results/$SLURM_ARRAY_TASK_ID" --quiet --workers "${SLURM_CPUS_PER_TASK:-2}" "$@"
status=$?

# 75: there is no result, and another attempt may succeed. 1, 2 and 3 are findings, or something
# that another attempt does not change. Slurm counts restarts, so this ends.
if [ "$status" -eq 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 5 ]; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$status"

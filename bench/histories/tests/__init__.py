"""Tests of what the harness computes; what it runs is tried by `run.py --histories 30`."""

"""Tests of what the harness computes; what it runs is tried by `run.py --cuts 3 --states 3`."""

"""Benchmarks, run by hand or at night: `make bench`. README.md beside this file says what is measured and how."""

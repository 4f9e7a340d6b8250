"""Benchmarks: our figures beside those of papers and of other packages, and speed. See README.md."""

"""Benchmarks: each paper's figures beside ours, peers, speed. See README.md."""

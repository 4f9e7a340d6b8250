"""One module of commands for each paper."""

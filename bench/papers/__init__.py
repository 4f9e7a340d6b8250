"""One module of commands a paper."""

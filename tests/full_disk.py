"""A disk on which no file can grow."""

import resource
from contextlib import contextmanager


@contextmanager
def full_disk(n_bytes=0):
    """No file can have more than some bytes until the end of the block; writing fails as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

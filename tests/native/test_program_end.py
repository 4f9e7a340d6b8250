"""A program may end while a thread is in native code."""

import subprocess
import sys

from patience import patience

PROGRAM = """
import threading, time
import numpy as np
from linkwise import native

X = np.random.default_rng(0).random((300, 20))

def work():
    while True:
        native.squared_distances(X, X, 1)

threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""


def test_a_program_ends_while_a_thread_computes():
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=patience(), check=False
        )
        assert (done.returncode, done.stderr) == (0, "")

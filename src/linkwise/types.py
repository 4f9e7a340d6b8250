"""Types that all rooms share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int32]
"""The number of the cluster of each row, of shape (n_rows,)."""
Progress = Callable[[int, int], object]
"""``progress(done, planned)``: number of finished steps of all steps."""

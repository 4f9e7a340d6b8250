"""Learn metrics with metric-learn, in another Python: read arrays from one file, write metrics to another.

python metrics_theirs.py PROBLEM.npz METRICS.npz
"""

import sys
import time
import warnings

import numpy as np
from metric_learn import ITML, MMC, RCA


def main(problem: str, metrics: str) -> None:
    with np.load(problem) as held:
        given = dict(held)
    pairs = given["X"][np.vstack([given["must"], given["cannot"]])]
    sign = np.repeat([1, -1], [len(given["must"]), len(given["cannot"])])
    itml = ITML(max_iter=int(given["max_iter"]), convergence_threshold=float(given["tol"]), prior="identity")
    fits = {
        "ITML": lambda: itml.fit(pairs, sign, bounds=given["bounds"]),
        "RCA": lambda: RCA().fit(given["X"], given["chunks"]),
        "MMC": lambda: MMC(diagonal=True, max_iter=1000, random_state=0).fit(pairs, sign),
        "full MMC": lambda: MMC(diagonal=False, max_iter=1000, init="identity").fit(pairs, sign),
    }
    found = {}
    for name in given["methods"]:
        start = time.process_time()
        try:
            learned = fits[str(name)]()
        except (ValueError, ArithmeticError) as error:  # NumPy's LinAlgError is one of the first
            found[f"{name} error"] = np.array(str(error))
            continue
        found[f"{name} seconds"] = time.process_time() - start
        found[str(name)] = learned.get_mahalanobis_matrix()
    np.savez(metrics, **found)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])

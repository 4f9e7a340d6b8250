"""Run A3S, a program of others, in its own process: read a problem, write the labels.

python a3s_theirs.py A3S.py PROBLEM.npz FOUND.npz
"""

import random
import sys
import warnings
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np


class ToldClasses(np.ndarray):
    """Classes of which NumPy's `unique` shows another number: `n_told`."""

    n_told = 0

    def __array_finalize__(self, source):
        self.n_told = getattr(source, "n_told", 0)

    def __array_function__(self, function, types, args, kwargs):
        if function is np.unique and len(args) == 1 and not kwargs:
            return np.arange(self.n_told)
        return super().__array_function__(function, types, args, kwargs)


def hide_number(y, n_told):
    """Return classes that compare as they did, and seem to be `n_told`."""
    told = np.asarray(y).view(ToldClasses)
    told.n_told = n_told
    return told


def load_program(file):
    spec = spec_from_file_location("a3s", file)
    program = module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def main(file, problem, found):
    with np.load(problem) as held:
        given = dict(held)
    seed, n_told = int(given["seed"]), int(given["n_told"])
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  (the program may draw from the global state)
    model = load_program(file).A3S(max_queries=int(given["questions"]), random_state=seed)
    model.fit(given["X"], hide_number(given["y"], n_told))
    asked = np.array(model.history["queries"], dtype=np.int64)
    np.savez(found, asked=asked, labels=np.array([np.asarray(each) for each in model.history["labels"]]))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])

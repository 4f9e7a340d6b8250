"""A first look at an installed linkwise, without pytest: ``python -I tests/smoke.py``."""

import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import files
from pathlib import Path

from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

import linkwise as lw


def run(*arguments: str) -> str:
    """What a command prints; it must end well."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-I", "-m", "linkwise", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def check(holds: bool, what: str) -> None:
    """Say what was looked at, and end where it does not hold."""
    print(f"{'ok' if holds else 'WRONG':<6}{what}")
    if not holds:
        sys.exit(1)


def main() -> None:
    """Import, fit, ask by the command line."""
    held = {file.name for file in files("linkwise") or ()}
    check({"py.typed", "index.html", "widget.js", "style.css", "_native.pyi"} <= held, "files of the page")
    check(not any(name.endswith((".cpp", ".hpp")) for name in held), "no sources of the kernels")
    check("site-packages" in Path(lw.__file__).parts, f"linkwise {lw.__version__} as installed")
    X, y = load_wine(return_X_y=True)
    model = lw.KIN(random_state=0).fit(minmax_scale(X), oracle=lw.TruthOracle(y), budget=30)
    ari = adjusted_rand_score(y, model.labels_)
    check(ari > 0.9, f"KIN, 30 questions about wine: ARI {ari:.2f}")
    check("Everything that linkwise needs works." in run("doctor"), "linkwise doctor")
    check("20 answers" in run("demo", "wine", "--auto", "--budget", "20"), "linkwise demo --auto")
    compilers = [name for name in ("c++", "g++", "clang++", "cc", "cmake", "ninja") if shutil.which(name)]
    print(f"      compilers on PATH: {', '.join(compilers) or 'none'}")


if __name__ == "__main__":
    main()

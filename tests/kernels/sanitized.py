"""Runs tests with native code that `make sanitize` built: ``python tests/kernels/sanitized.py FOLDER TESTS...``.

Python is the one behind the virtual environment, with the environment's packages on its path: the editable install
of linkwise would put the usual native code in front.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADERS = "\n".join(path.read_text() for path in sorted((ROOT / "src/linkwise/kernels").glob("*.hpp")))
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1:strict_init_order=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "report_signal_unsafe=0:ignore_noninstrumented_modules=1",
}


def main() -> int:
    built, tests = Path(sys.argv[1]).resolve(), sys.argv[2:]
    if shared := [line for path in built.rglob("kernels/*.o") for line in shared_names(path)]:
        print("These names can be seen by other files and no header declares them:", *shared, sep="\n  ")
        return 1
    path = os.pathsep.join([str(built), sysconfig.get_path("purelib")])
    env = os.environ | OPTIONS | {"PYTHONPATH": path, "LD_PRELOAD": runtime(built)}
    python = [sys._base_executable, "-X", "faulthandler"]
    found = subprocess.run([*python, "-c", WHERE], env=env, cwd=ROOT, capture_output=True, text=True)
    if not found.stdout.startswith(str(built)):
        print(f"The tests would not use the native code in {built}:\n{found.stdout}{found.stderr}")
        return 1
    return subprocess.run([*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], env=env, cwd=ROOT).returncode


WHERE = "import linkwise.kernels._kernels as k; print(k.__file__)"


def shared_names(path: Path) -> list[str]:
    """Global symbols of linkwise in an object file that no header declares: the linker may mix them up."""
    listed = subprocess.run(["nm", "-C", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\w+ ([A-Zuvw]) (?:.*?[ &*])??linkwise::(\w+).*", listed, flags=re.M)
    return sorted({f"{path.name}: {name}" for _, name in found if not re.search(rf"\b{name}\b", HEADERS)})


def runtime(built: Path) -> str:
    """Libraries of the sanitizer, which have to be there before Python starts."""
    names = ("libasan.so", "libstdc++.so.6") if "address" in built.name else ("libtsan.so", "libstdc++.so.6")
    paths = [subprocess.check_output(["c++", f"-print-file-name={name}"], text=True).strip() for name in names]
    return " ".join(paths)


if __name__ == "__main__":
    sys.exit(main())

"""Builds the native code with sanitizers and runs tests with it: ``make sanitize [SANITIZER=thread]``.

The build has a folder of its own in build/, and .venv stays as it is. Python is the one behind the virtual
environment, without its own packages (-S) and with the environment's on its path: the editable install of
linkwise would put the usual native code in front.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADERS = "\n".join(path.read_text() for path in sorted((ROOT / "src/linkwise/native/src").glob("*.hpp")))
TESTS = ["tests/native", "tests/cluster"]
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1",  # Python keeps much until it ends
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
}
WHERE = "import linkwise.native._native as k; print(k.__file__)"


def main(sanitizer: str, *tests: str) -> int:
    if missing := [tool for tool in ("cmake", "nm", "c++") if shutil.which(tool) is None]:
        print(f"make sanitize needs {', '.join(missing)}. Debian, Ubuntu: apt install cmake binutils g++.")
        return 1
    folder = build(sanitizer)
    objects = sorted(folder.rglob("native/src/*.o"))
    if not objects:
        print(f"The build left no object files of the native code in {folder}.")
        return 1
    if shared := [line for path in objects for line in shared_names(path)]:
        print("Other files can see these names, and no header declares them:", *sorted(shared), sep="\n  ")
        return 1
    path = os.pathsep.join([str(folder), sysconfig.get_path("purelib")])
    env = os.environ | OPTIONS | {"PYTHONPATH": path, "LD_PRELOAD": runtime(sanitizer)}
    python = [sys._base_executable, "-S", "-X", "faulthandler"]
    found = subprocess.run([*python, "-c", WHERE], env=env, cwd=ROOT, capture_output=True, text=True)
    if not found.stdout.startswith(str(folder)):
        print(f"The tests would not use the native code in {folder}:\n{found.stdout}{found.stderr}")
        return 1
    pytest = [*python, "-m", "pytest", "-q", "--capture=sys", "-p", "no:cacheprovider", *(tests or TESTS)]
    return subprocess.run(pytest, env=env, cwd=ROOT).returncode


def build(sanitizer: str) -> Path:
    """The folder from which Python can import linkwise with its native code under the sanitizer."""
    folder = ROOT / "build" / f"sanitize-{sanitizer.partition(',')[0]}"
    nanobind = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True).strip()
    settings = {"SKBUILD": "ON", "LINKWISE_SANITIZE": sanitizer, "CMAKE_BUILD_TYPE": "None"}
    settings |= {"Python_EXECUTABLE": sys.executable, "nanobind_DIR": nanobind}
    given = [f"-D{name}={value}" for name, value in settings.items()]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *given], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--parallel", str(os.cpu_count())], check=True)
    shutil.rmtree(folder / "linkwise", ignore_errors=True)
    shutil.copytree(ROOT / "src" / "linkwise", folder / "linkwise")
    subprocess.run(["cmake", "--install", folder, "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def shared_names(path: Path) -> list[str]:
    """Global symbols of linkwise in an object file that no header declares: the linker may mix them up."""
    listed = subprocess.check_output(["nm", "-C", "--defined-only", path], text=True)
    found = re.findall(r"^\w+ [A-Zuvw] (?:.*?[ &*])??linkwise::(\w+).*", listed, flags=re.M)
    return sorted({f"{path.name}: {name}" for name in found if not re.search(rf"\b{name}\b", HEADERS)})


def runtime(sanitizer: str) -> str:
    """Libraries of the sanitizer, which have to be there before Python starts."""
    names = ("libtsan.so" if sanitizer == "thread" else "libasan.so", "libstdc++.so.6")
    commands = [["c++", f"-print-file-name={name}"] for name in names]
    return " ".join(subprocess.check_output(command, text=True).strip() for command in commands)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""How many small faults the tests notice, module by module: ``make mutants ARGS="closure evidence"``.

A fault that no test notices has to be in survivors.toml with the reason why it does no harm. Outcomes are
kept in build/mutants until the module, its tests or the faults change: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "mutants"
HERE = Path(__file__).parent
LEAST = 0.85  # of a module's faults that tests notice


def main() -> None:
    plan = tomllib.loads((HERE / "plan.toml").read_text())
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="names of plan.toml, e.g. closure; all of them by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="faults that are tried at once")
    parser.add_argument("--again", action="store_true", help="try only what survived, whatever has changed")
    parser.add_argument("--module", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.module:
        sys.exit(_try(given.module, plan[given.module], given.jobs, again=given.again))
    if unknown := set(given.modules) - set(plan):
        parser.error(f"plan.toml has no {', '.join(sorted(unknown))}; it has {', '.join(plan)}")
    KEPT.mkdir(parents=True, exist_ok=True)
    reports = [_report(name, given) for name in given.modules or plan]
    sys.exit(not all(reports))


def _report(name: str, given: argparse.Namespace) -> bool:
    """Try the faults of one module in a process of its own; whether all is well."""
    start = time.time()
    temporary = KEPT / "tmp"
    temporary.mkdir(exist_ok=True)
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "mutants", "--module", name, "--jobs", str(given.jobs)]
    env = os.environ | one_thread | {"PYTEST_DEBUG_TEMPROOT": str(temporary)}
    done = subprocess.run(command + ["--again"] * given.again, env=env, cwd=ROOT)
    shutil.rmtree(temporary, ignore_errors=True)
    if done.returncode:
        print(
            f"The tests of {name} ended with {done.returncode}. Run the same again: what was found is kept."
        )
        return False
    return _judge(name, time.time() - start)


def _judge(name: str, seconds: float) -> bool:
    from .edits import edits_of
    from .session import _read

    source, tree = _source(name)
    found = _read(KEPT / f"{name}.jsonl")
    keys = [edit.key for edit in edits_of(source, tree)]
    if not set(keys) <= set(found):
        print(f"{name} has changed while its faults were tried. Try again.")
        return False
    made = [found[key] for key in keys]
    survived = {tuple(one["key"]) for one in made if one["outcome"] == "survived"}
    listed = tomllib.loads((HERE / "survivors.toml").read_text()).get(name, [])
    excused = {(one["function"], one["text"], change) for one in listed for change in one["changes"]}
    killed = len(made) - len(survived)
    print(
        f"{name}: {len(made)} faults, {killed} noticed ({killed / len(made):.1%}), "
        f"{len(survived & excused)} excused, {len(survived - excused)} open, {seconds:.0f} s"
    )
    for scope, text, change in sorted(survived - excused):
        print(f"  open, in {scope}: {text}\n      {change}")
    for scope, text, change in sorted(excused - survived):
        print(f"  no longer survives, take it from survivors.toml: {scope}: {text}\n      {change}")
    return survived == excused and killed >= LEAST * len(made)


def _source(name: str):
    import ast

    text = (ROOT / "src" / "linkwise" / f"{name}.py").read_text()
    return text, ast.parse(text)


def _try(name: str, tests: list[str], jobs: int, *, again: bool) -> int:
    import pytest

    from .session import MutantSession

    module = "linkwise." + name.replace("/", ".")
    results = KEPT / f"{name}.jsonl"
    results.parent.mkdir(parents=True, exist_ok=True)
    plugin = MutantSession(module, results, jobs, again=again)
    return pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", *tests], plugins=[plugin])


if __name__ == "__main__":
    main()

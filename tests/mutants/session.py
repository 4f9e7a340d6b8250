"""One pytest session that tries every fault of one module, each in a child that ends at the first failure.

The session collects the tests once and never runs any itself. A first child runs all of them and writes down
which lines of the module each one reaches. Then there is a child for each fault: it runs the tests that reach
its line, the quickest first.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from .edits import Edit, edits_of, functions_of

SURVIVED, KILLED = 0, 1
PATIENCE = 3  # seconds of a core that each test has beyond five times what it takes
MEMORY = 4 << 30  # bytes that a child may take


class MutantSession:
    """Plugin that replaces pytest's loop over the tests; outcomes go to `results`, one line a fault."""

    def __init__(self, module: str, results: Path, jobs: int, *, again: bool) -> None:
        self.module_name, self.results, self.jobs, self.again = module, results, jobs, again
        self.is_child = False

    def pytest_sessionstart(self) -> None:
        """No luck, no memory and no search for the smallest example: outcomes are the same every time."""
        from hypothesis import Phase, settings  # pytest rewrites its asserts, and has to come first

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings(), derandomize=True, database=None, phases=phases)
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report) -> None:
        if self.is_child and report.failed:
            os._exit(KILLED)

    def pytest_runtestloop(self, session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("The tests cannot be collected.")
        self.items = session.items
        self.module = importlib.import_module(self.module_name)
        source = Path(self.module.__file__).read_text()
        done = _read(self.results)
        digest = self._digest(source)
        reached = self._reached()
        tree = ast.parse(source)
        running: dict[int, tuple[Edit, float]] = {}
        with self.results.open("a") as out:
            for edit in edits_of(source, tree):
                before = done.get(edit.key)
                if before and (before["digest"] == digest or (self.again and before["outcome"] == "killed")):
                    continue
                if len(running) == self.jobs:
                    _await_one(running, digest, out)
                running[self._start(edit, tree, reached)] = edit, time.time()
            while running:
                _await_one(running, digest, out)
        return True

    def _digest(self, source: str) -> str:
        """Of all that an outcome depends on: the module, its tests and the faults."""
        tool = {Path(__file__), Path(__file__).with_name("edits.py")}
        files = sorted({Path(item.path) for item in self.items} | tool)
        texts = [source, *(path.read_text() for path in files)]
        return hashlib.sha256("".join(ast.dump(ast.parse(text)) for text in texts).encode()).hexdigest()[:16]

    def _reached(self) -> list[tuple[float, set[int]]]:
        """Seconds of each test, and the lines of the module that it reaches; a child finds them."""
        path = self.results.with_suffix(".reached")
        if (child := os.fork()) == 0:
            self._enter()
            found = [self._record(item) for item in self.items]
            path.write_text(json.dumps(found))
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            raise SystemExit(f"The tests of {self.module_name} fail without any fault. Run them alone first.")
        return [(seconds, set(lines)) for seconds, lines in json.loads(path.read_text())]

    def _record(self, item) -> tuple[float, list[int]]:
        lines: set[int] = set()
        file = self.module.__file__

        def trace(frame, event, argument):
            if frame.f_code.co_filename != file:
                return None
            lines.add(frame.f_lineno)
            return trace

        start = time.process_time()
        threading.settrace(trace)
        sys.settrace(trace)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        finally:
            sys.settrace(None)
            threading.settrace(None)
        return time.process_time() - start, sorted(lines)

    def _start(self, edit: Edit, tree: ast.Module, reached: list[tuple[float, set[int]]]) -> int:
        before = edit.put()
        try:
            code = compile(tree, self.module.__file__, "exec")
            tests = self._tests_of(edit, tree, reached)
            if (child := os.fork()) == 0:
                self._enter()
                _apply(edit, self.module, code, tree)
                for seconds, item in tests:
                    _limit(5 * seconds + PATIENCE)
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                os._exit(SURVIVED)
        finally:
            edit.put(before)
        return child

    def _tests_of(self, edit: Edit, tree: ast.Module, reached: list[tuple[float, set[int]]]) -> list:
        """The tests that reach the fault, the quickest first: its lines, or for a default the function's."""
        lines = range(edit.line, edit.last_line + 1)
        if edit.in_default:
            function = next(f for name, f in functions_of(tree) if name == edit.scope and _holds(f, edit))
            lines = range(function.lineno, (function.end_lineno or 0) + 1)
        every = zip(reached, self.items, strict=True)
        found = [(seconds, item) for (seconds, at), item in every if not edit.scope or at.intersection(lines)]
        return sorted(found, key=lambda pair: pair[0])

    def _enter(self) -> None:
        self.is_child = True
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)


def _limit(seconds: float) -> None:
    """End this process when it takes so many seconds of a core from now on, or waits forever."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 1, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.RLIM_INFINITY))
    signal.alarm(60 + 20 * int(seconds))


def _await_one(running: dict[int, tuple[Edit, float]], digest: str, out) -> None:
    child, status = os.wait()
    edit, start = running.pop(child)
    code = os.waitstatus_to_exitcode(status)
    outcome = "survived" if code == SURVIVED else "killed"
    line = {"key": edit.key, "line": edit.line, "outcome": outcome, "digest": digest}
    print(json.dumps(line | {"seconds": round(time.time() - start, 2), "code": code}), file=out, flush=True)
    if outcome == "survived":
        print(f"  survived, line {edit.line} in {edit.scope}: {edit.text}\n      {edit.change}", flush=True)


def _read(results: Path) -> dict[tuple[str, ...], dict]:
    """The latest outcome of each fault."""
    lines = results.read_text().splitlines() if results.exists() else []
    return {tuple(found["key"]): found for found in map(json.loads, lines)}


def _apply(edit: Edit, module: ModuleType, code: CodeType, tree: ast.Module) -> None:
    """Put the fault into the module that the tests have imported: its functions stay the same objects."""
    if not edit.scope:
        setattr(module, edit.parent.targets[0].id, edit.new.value)
        return
    node = next(f for name, f in functions_of(tree) if name == edit.scope and _holds(f, edit))
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    new = next(c for c in _codes(code) if c.co_qualname == edit.scope and c.co_firstlineno == first)
    function = next(f for f in _functions_at(module, edit.scope) if f.__code__.co_firstlineno == first)
    function.__code__ = new
    if edit.in_default:
        pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        values = {argument.arg: _value(default, module) for argument, default in pairs if default is not None}
        function.__kwdefaults__ = values or None
        function.__defaults__ = tuple(_value(v, module) for v in node.args.defaults) or None


def _holds(function: ast.FunctionDef, edit: Edit) -> bool:
    return function.lineno <= edit.line <= (function.end_lineno or 0)


def _value(node: ast.expr, module: ModuleType) -> object:
    return eval(compile(ast.Expression(node), "<default>", "eval"), vars(module))


def _codes(code: CodeType):
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _functions_at(module: ModuleType, scope: str):
    """The plain functions behind a name: those of a property, of a class method, of what decorators made."""
    holder: object = module
    for name in scope.split("."):
        holder = vars(holder)[name]
    waiting = [holder]
    while waiting:
        found = waiting.pop()
        if isinstance(found, FunctionType):
            yield found
        if isinstance(found, functools.partial):
            waiting.append(found.func)
        names = ("__wrapped__", "__func__", "fget", "fset", "fdel", "func")
        waiting += [getattr(found, name) for name in names if getattr(found, name, None) is not None]

"""Compute the key of a result: a short digest of the part of linkwise that the result depends on.

An experiment names its entries: public names (``KIN``), modules (``linkwise.select.pool``) or, if it runs
other programs, modules of this package (``bench.suites.tasks``). The key covers the modules of these entries
and every module that they import inside linkwise and this package, directly or not. If a module of
``linkwise.native`` is among them, it covers the C++ sources; if one of ``linkwise.app.page`` is, the files
that the browser loads. Comments and docstrings of Python do not count. A change of anything else leaves the
key as it is.

Files are read and never imported, because a process that measures memory must start small. The key does not
cover the rest of ``bench/`` and the versions of NumPy and scikit-learn.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

PACKAGE = "linkwise"
SUITES = "bench.suites"
INSTALLED = {"site-packages", "dist-packages"}
COMPANIONS = {
    f"{PACKAGE}.native": ("native/src/*.cpp", "native/src/*.hpp"),
    f"{PACKAGE}.app.page": ("app/page/static/*.*",),
}
"""Files without Python that belong to a room."""


@cache
def fingerprint(*entries: str) -> str:
    """Return the key of results that rest on some public names or modules.

    Parameters
    ----------
    *entries : str
        Public names of linkwise, or full names of modules of linkwise or of this package.

    Returns
    -------
    str
        Eight hexadecimal digits.

    Raises
    ------
    LookupError
        There is no such public name or module.
    """
    return read_library().fingerprint(entries)


@cache
def read_library() -> Library:
    """Find the sources of linkwise; they are read once in a process."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Library(Path(spec.origin).parent)


class Library:
    """The sources of linkwise in a folder and of this package, and what imports what.

    Each file is read once.
    """

    def __init__(self, folder: Path) -> None:
        self._folders = {PACKAGE: folder, SUITES: Path(__file__).parent}
        self._trees: dict[str, ast.Module] = {}
        self._digests: dict[str, bytes] = {}
        self._imported: dict[str, set[str]] = {}
        self.public_names = {
            alias.asname or alias.name: node.module
            for node in ast.walk(self._tree(PACKAGE))
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }

    def fingerprint(self, entries: Sequence[str]) -> str:
        """Return the key of some entries."""
        modules = self.collect_modules(entries)
        parts = [name.encode() + self._digest(name) for name in sorted(modules)]
        for room, patterns in COMPANIONS.items():
            if any(f"{name}.".startswith(f"{room}.") for name in modules):
                parts += [self._digest_files(pattern) for pattern in patterns]
        return hashlib.sha256(b"".join(parts)).hexdigest()[:8]

    def collect_modules(self, entries: Sequence[str]) -> set[str]:
        """Return the modules of some entries, and all that they import inside linkwise and this package."""
        found: set[str] = set()
        waiting = [self.find_module(entry) for entry in entries]
        while waiting:
            name = waiting.pop()
            if name not in found and name not in self._folders:  # a package only lists its names
                found.add(name)
                waiting += [*self._imports(name), name.rpartition(".")[0]]
        return found

    def find_module(self, entry: str) -> str:
        """Return the module of a public name, or a module's own name."""
        name = self.public_names.get(entry, entry)
        if self._path(name) is None:
            raise LookupError(f"linkwise and bench.suites have neither a public name nor a module {entry!r}.")
        return name

    def has(self, entry: str) -> bool:
        """Whether an entry is a public name or a module below linkwise."""
        is_below = entry.startswith(f"{PACKAGE}.") and self._path(entry) is not None
        return entry in self.public_names or is_below

    def _path(self, name: str) -> Path | None:
        """Return the file of a module; None where there is no such module."""
        root = next((root for root in self._folders if f"{name}.".startswith(f"{root}.")), None)
        if root is None:
            return None
        base = self._folders[root].joinpath(*name[len(root) :].split(".")[1:])
        files = base / "__init__.py", base.with_suffix(".py")
        return next((file for file in files if file.is_file()), None)

    def _tree(self, name: str) -> ast.Module:
        """Return the code of a module without its docstrings."""
        if name not in self._trees:
            path = self._path(name)
            assert path is not None
            self._trees[name] = _parse(path.read_bytes())
        return self._trees[name]

    def _imports(self, name: str) -> set[str]:
        """Return the modules that a module imports, at the top or inside a function."""
        if name not in self._imported:
            self._imported[name] = self._find_imports(name)
        return self._imported[name]

    def _find_imports(self, name: str) -> set[str]:
        path = self._path(name)
        package = name if path is not None and path.name == "__init__.py" else name.rpartition(".")[0]
        found: set[str] = set()
        for node in _import_statements(self._tree(name)):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                start = ".".join([*above, *([node.module] if node.module else [])])
                found.add(start)
                found.update(f"{start}.{alias.name}" for alias in node.names)
                if start == PACKAGE:
                    found.update(self.public_names.get(alias.name, PACKAGE) for alias in node.names)
        return {each for each in found if self._path(each)}

    def _digest(self, name: str) -> bytes:
        if name not in self._digests:
            self._digests[name] = _digest_tree(self._tree(name))
        return self._digests[name]

    def _digest_files(self, pattern: str) -> bytes:
        digest = hashlib.sha256()
        for file in sorted(self._folders[PACKAGE].glob(pattern)):
            digest.update(file.name.encode() + file.read_bytes())
        return digest.digest()


# ---------------------------------------------------------------- programs of others
class Program(NamedTuple):
    """A program of somebody else that takes part in an experiment.

    Attributes
    ----------
    key : str
        Eight hexadecimal digits: a digest of its file and of the Python files that it imports from its own
        folders, directly or not, but of no installed packages.
    entries : tuple of str
        The public names and modules of linkwise that these files use.
    """

    key: str
    entries: tuple[str, ...]


def read_program(file: Path, folders: Sequence[Path]) -> Program:
    """Read the sources of a program.

    Parameters
    ----------
    file : Path
        A Python file.
    folders : sequence of Path
        The folders that may contain modules of its own.

    Returns
    -------
    Program
    """
    found: dict[Path, ast.Module] = {}
    waiting = [file]
    while waiting:
        path = waiting.pop().resolve()
        if path not in found:
            found[path] = ast.parse(path.read_bytes())
            waiting += _find_local_files(found[path], path, folders)
    others = sorted(found.keys() - {file.resolve()})
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (file, *others)))
    library = read_library()
    entries = {entry for tree in found.values() for entry in _find_entries(tree) if library.has(entry)}
    return Program(digest.hexdigest()[:8], tuple(sorted(entries)))


def _find_local_files(tree: ast.Module, path: Path, folders: Sequence[Path]) -> list[Path]:
    """Return the files of the modules and packages that a file imports from some folders, or relatively."""
    found = []
    for node in _import_statements(tree):
        level = node.level if isinstance(node, ast.ImportFrom) else 0
        for name in _list_imported(node):
            parts = name.split(".")
            for base in [path.parents[level - 1]] if level else folders:
                places = [base.joinpath(*parts[:n]) for n in range(1, len(parts) + 1)]
                found += [file for place in places for file in (place / "__init__.py", Path(f"{place}.py"))]
    return [file for file in found if file.is_file() and not INSTALLED & set(file.parts)]


def _list_imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the names after ``import``, those of ``from`` with their module; some are no modules."""
    start = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
    return [f"{start}{alias.name}" for alias in node.names]


def _find_entries(tree: ast.Module) -> set[str]:
    """Return the names in a file that imports linkwise, and the modules of linkwise that it imports."""
    imported = {name for node in _import_statements(tree) for name in _list_imported(node)}
    ours = {name for name in imported if name.partition(".")[0] == PACKAGE}
    if not ours:
        return set()
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return (
        names | ours | {part for name in ours for part in (name.rpartition(".")[0], name.rpartition(".")[2])}
    )


@cache
def _parse(source: bytes) -> ast.Module:
    """Return the code of a file without its docstrings; nobody changes it."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [each for each in node.body if not _is_text(each)] or [ast.Pass()]
    return tree


@cache
def _digest_tree(tree: ast.Module) -> bytes:
    return hashlib.sha256(ast.unparse(tree).encode()).digest()


@cache
def _import_statements(tree: ast.Module) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(node for node in _walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements below a node but those under ``if TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for each in node.orelse:
                yield each
                yield from _walk(each)
        elif isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield node
            yield from _walk(node)


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement is a text alone: a docstring, or the text under an attribute."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )

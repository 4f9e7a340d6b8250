"""Check how linkwise speaks: names, docstrings of what is public, messages and remedies.

``python tools/check_language.py`` prints every finding, and ends with 1 if there is one.

Names
    No two modules alike, and no two that differ by an ending alone (`ask`, `asking`), unless each is named
    after its class, as `cobra` after `COBRA`. `__init__`, `__main__` and `base` may occur in every room, a
    module of `native/` is named after what it serves, and one of `cli/commands/` after its command. No two
    public classes alike. No banned word in the name of a module, a public class or a public function, and no
    function that is named by a participle (`shown_rows`) or a question (`how_many`).
Docstrings
    Everything in `linkwise.__all__` and the public functions of `linkwise.data` and `linkwise.datasets` have
    a numpydoc docstring: a summary that ends with a full stop; every parameter, and no other, with its type
    and a description; Returns or Yields if something is returned; Raises for each exception that the body
    raises. So do the protocols of learners; a method that implements one needs a summary alone.
Messages
    The literal text of an exception or a warning begins with a capital letter, a value or a parameter's name.
    It joins no sentences by a semicolon, has at most one colon in a sentence, and uses no banned phrase. What
    stands in braces, brackets or backticks is code, and its marks do not count. A text that a function
    completes to a message may begin as it likes: ``raise create_error("no rows")``.
Remedies
    A sentence of any text but a docstring does not begin with Give, Name, Leave or Mend, and ends with no
    "or leave it out". A remedy begins with Set, Pass, Use, Add, Remove, Fix or Run.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "linkwise"
PROTOCOLS = ("linkwise.learn.learner", "linkwise.learn.abilities")

SHARED_STEMS = {"__init__", "__main__", "base"}
NAMED_AFTER_OTHERS = ("native/", "app/cli/commands/")
ENDINGS = ("s", "er", "ers", "ing", "ed")
BANNED_WORDS = {
    *("home", "founder", "founders", "foe", "foes", "company", "ground", "roll", "standing", "met", "told"),
    *("said", "plugged", "parting", "longest", "roundest", "kept", "exits", "waiting", "past", "outlook"),
}
BANNED_PAIRS = {("stand", "in"), ("stand", "ins")}
PARTICIPLES = {
    *("made", "shown", "told", "said", "met", "kept", "found", "given", "drawn", "taken", "built", "known"),
    *("seen", "grown", "chosen", "held", "gone", "meant", "brought", "left"),
}
ADJECTIVES = {
    *(
        "connected",
        "constrained",
        "expected",
        "linked",
        "named",
        "nested",
        "normalized",
        "satisfied",
        "seeded",
    ),
    *("shared", "signed", "sorted", "squared", "staged", "synchronized", "weighted"),
}
NOUNS_IN_ED = {"seed", "need", "speed", "feed", "embed", "bed"}
QUESTIONS = {"what", "how", "which", "where", "who", "whose", "when", "whether"}  # `why` is a name users know
TERMS = {"must-link", "cannot-link"}  # values of a parameter, too
CODE = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|`[^`]*`")
BANNED_PHRASES = re.compile(
    r"\b(refused|is said|are said|is told|are told|says|knows|and the like|as before|has it that)\b"
)
REMEDY = re.compile(
    r"(?:^|(?<=[.:!?] )|(?<=\n))(?:Give|Leave|Mend|Name(?! of ))\b(?= [^\W\d]| [\d{`'\"(-])"
    r"|\bor (?:give|leave|mend|name) "
)


# ------------------------------------------------------------------------------------------------ names


def check_names(source: Path) -> Iterator[str]:
    """Findings about the names of modules, public classes and public functions under a folder."""
    modules = {path.relative_to(source).as_posix(): path for path in sorted(source.rglob("*.py"))}
    trees = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in modules.items()}
    yield from check_module_names(
        modules, {module for module, tree in trees.items() if has_its_class(module, tree)}
    )
    classes: dict[str, list[str]] = defaultdict(list)
    for module, tree in trees.items():
        for node, owner in public_definitions(tree):
            name = f"{owner}.{node.name}" if owner else node.name
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(module)
            for complaint in complaints_about_name(node.name, is_function=is_function(node)):
                yield f"name {module} {name}: {complaint}"
    for name, owners in classes.items():
        if len(owners) > 1:
            yield f"name class {name}: also in {', '.join(owners)}"


def check_module_names(modules: Iterable[str], named_after_class: Container[str] = ()) -> Iterator[str]:
    """Findings about the names of modules, given their paths below the package."""
    by_stem: dict[str, list[str]] = defaultdict(list)
    for module in modules:
        stem = Path(module).stem
        for complaint in complaints_about_name(stem, is_function=False):
            yield f"name {module}: {complaint}"
        if stem not in SHARED_STEMS and not module.startswith(NAMED_AFTER_OTHERS):
            by_stem[stem].append(module)
    for stem, found in by_stem.items():
        if len(found) > 1:
            yield f"name module {stem}: also {', '.join(found)}"
        for ending in ENDINGS:
            alike = [*found, *by_stem.get(stem + ending, ())]
            if len(alike) > len(found) and not all(module in named_after_class for module in alike):
                yield f"name module {stem}: differs from {stem + ending} by its ending alone"


def has_its_class(module: str, tree: ast.Module) -> bool:
    """Whether a module is named after a class that it defines."""
    return any(
        isinstance(node, ast.ClassDef) and node.name.lower() == Path(module).stem for node in tree.body
    )


def public_definitions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | ast.FunctionDef, str]]:
    """Classes, functions and methods without an underscore, each with the class that it belongs to."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node, ""
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                        yield inner, node.name


def is_function(node: ast.ClassDef | ast.FunctionDef) -> bool:
    """Whether a definition is a function; a property is not, for it is read like a value."""
    if isinstance(node, ast.ClassDef):
        return False
    decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    return not decorators & {"property", "cached_property", "setter"}


def complaints_about_name(name: str, *, is_function: bool) -> Iterator[str]:
    """What is wrong with the words of a name."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    for word in words:
        if word in BANNED_WORDS:
            yield f"the word {word!r} is banned"
    for pair in pairwise(words):
        if pair in BANNED_PAIRS:
            yield f"the word {'-'.join(pair)!r} is banned"
    if is_function and words:
        if is_participle(words[0]):
            yield f"a function is named by what it does, not by the participle {words[0]!r}"
        if words[0] in QUESTIONS:
            yield f"a function is named by what it does, not by the question {words[0]!r}"


def is_participle(word: str) -> bool:
    """Whether a word is a participle rather than an adjective of the field or a noun."""
    return word in PARTICIPLES or (word.endswith("ed") and word not in ADJECTIVES | NOUNS_IN_ED)


# ------------------------------------------------------------------------------------------- docstrings


def check_docstrings() -> Iterator[str]:
    """Findings about the docstrings of everything public."""
    seen: set[object] = set()
    implemented = {method for _, thing in protocols() for method in vars(thing) if not method.startswith("_")}
    for name, thing in public_things():
        if inspect.isclass(thing):
            yield from check_class(name, thing, seen, implemented)
        elif inspect.isfunction(thing):
            yield from findings(name, thing.__doc__, thing)


def public_things() -> Iterator[tuple[str, Any]]:
    """Names and values of what users import."""
    for name, thing in protocols():
        yield f"{PROTOCOLS}.{name}", thing
    package = import_module("linkwise")
    for name in package.__all__:
        yield f"linkwise.{name}", getattr(package, name)
    for room in ("linkwise.data", "linkwise.datasets"):
        module = import_module(room)
        names = getattr(module, "__all__", None) or [
            name for name in vars(module) if not name.startswith("_")
        ]
        for name in names:
            thing = getattr(module, name)
            if inspect.isfunction(thing) and thing.__module__.startswith(room):
                yield f"{room}.{name}", thing


def protocols() -> list[tuple[str, Any]]:
    """The protocols of learners."""
    named = [(name, item) for module in PROTOCOLS for name, item in vars(import_module(module)).items()]
    return [(name, item) for name, item in named if is_protocol(item) and item.__module__ in PROTOCOLS]


def check_class(name: str, cls: type, seen: set[object], implemented: set[str]) -> Iterator[str]:
    """Findings about a class and its public methods.

    A method that is inherited is checked once. One that implements a protocol of learners needs no more than
    a summary, since the protocol describes it.
    """
    if issubclass(cls, Exception):
        if not (cls.__doc__ or "").strip():
            yield f"docstring {name}: has none"
        return
    yield from findings(name, cls.__doc__, cls)
    for method, member in inspect.getmembers(cls, is_function_or_class_method):
        function = getattr(member, "__func__", member)
        is_ours = function.__module__.startswith("linkwise")
        if method.startswith("_") or not is_ours or function in seen:
            continue
        seen.add(function)
        where = f"{function.__module__}.{function.__qualname__}"
        if method in implemented and not is_protocol(cls):
            if not function.__doc__:
                yield f"docstring {where}: has none"
        else:
            yield from findings(where, function.__doc__, function)


def is_function_or_class_method(member: object) -> bool:
    """Whether a member of a class is called by users."""
    return inspect.isfunction(member) or inspect.ismethod(member)


def is_protocol(thing: object) -> bool:
    """Whether a class is a protocol itself."""
    return inspect.isclass(thing) and vars(thing).get("_is_protocol", False)


def findings(name: str, docstring: str | None, thing: Any) -> Iterator[str]:
    """Findings about one docstring, beside the signature and the body of what it describes."""
    for complaint in complaints_about_docstring(docstring, thing):
        yield f"docstring {name}: {complaint}"


def complaints_about_docstring(docstring: str | None, thing: Any) -> Iterator[str]:
    """What a docstring lacks."""
    if not docstring or not docstring.strip():
        yield "has none"
        return
    text = inspect.cleandoc(docstring)
    if not text.partition("\n")[0].endswith((".", "?", "!")):
        yield "the summary is one line and ends with a full stop"
    sections = split_sections(text)
    described = {**entries(sections.get("Parameters", "")), **entries(sections.get("Other Parameters", ""))}
    attributes = entries(sections.get("Attributes", ""))
    given = parameters_of(thing)
    for parameter in given:
        type_, meaning = described.get(parameter) or attributes.get(parameter) or (None, "")
        if type_ is None:
            yield f"the parameter {parameter} is missing"
        elif not type_:
            yield f"the parameter {parameter} has no type"
        elif not meaning and type_ != "ignored":
            yield f"the parameter {parameter} has no description"
    for parameter in described:
        if parameter not in given:
            yield f"there is no parameter {parameter}"
    if not inspect.isclass(thing):
        yield from complaints_about_results(sections, thing)


def complaints_about_results(sections: dict[str, str], function: Any) -> Iterator[str]:
    """What the sections Returns, Yields and Raises lack."""
    returned = inspect.signature(function).return_annotation
    if returned not in (None, "None", "NoReturn", inspect.Signature.empty):
        if not {"Returns", "Yields"} & set(sections):
            yield "has no section Returns"
        elif not re.search(r"^\s+\S", sections.get("Returns", "") + sections.get("Yields", ""), flags=re.M):
            yield "what is returned has no description"
    named = sections.get("Raises", "")
    for error in sorted(raised_in(function)):
        if not re.search(rf"\b{error}\b", named):
            yield f"Raises does not name {error}"


def split_sections(text: str) -> dict[str, str]:
    """The sections of a numpydoc docstring, by their titles."""
    pieces = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def entries(section: str) -> dict[str, tuple[str, str]]:
    """Type and description of each name of a section such as Parameters."""
    found: dict[str, tuple[str, str]] = {}
    for piece in re.split(r"\n(?=\S)", section.strip("\n")):
        head, _, meaning = piece.partition("\n")
        names, _, type_ = head.partition(" : ")
        for name in names.split(","):
            if name.strip():
                found[name.strip().lstrip("*")] = (type_.strip(), meaning.strip())
    return found


def parameters_of(thing: Any) -> list[str]:
    """Names of the parameters that a caller may give; nobody calls a protocol."""
    if is_protocol(thing):
        return []
    try:
        signature = inspect.signature(thing)
    except ValueError:  # a class made by C code
        return []
    return [name for name in signature.parameters if name not in ("self", "cls") and not name.startswith("_")]


def raised_in(function: Any) -> set[str]:
    """Names of the exceptions that the body of a function raises itself."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    found = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Raise)
            and isinstance(node.exc, ast.Call)
            and isinstance(node.exc.func, ast.Name)
        ):
            found.add(node.exc.func.id)
    return found - {"AttributeError", "NotImplementedError"}


# --------------------------------------------------------------------------------------------- messages


def check_messages(source: Path) -> Iterator[str]:
    """Findings about the literal texts of exceptions and warnings under a folder."""
    for path in sorted(source.rglob("*.py")):
        module = path.relative_to(source).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for message, names in messages_of(tree):
            for complaint in complaints_about_message(message, names):
                start = " ".join(message.split())[:50].rstrip()
                yield f"message {module} {start!r}: {complaint}"


def check_remedies(source: Path) -> Iterator[str]:
    """Findings about the first word of the remedies in all texts under a folder, without docstrings."""
    for path in sorted(source.rglob("*.py")):
        module = path.relative_to(source).as_posix()
        for text in texts_of(ast.parse(path.read_text(encoding="utf-8"))):
            for found in REMEDY.finditer(text):
                excerpt = " ".join(text[found.start() :].split())[:50].rstrip()
                yield f"remedy {module} {excerpt!r}: begin with Set, Pass, Use, Add, Remove, Fix or Run"


def texts_of(node: ast.AST) -> Iterator[str]:
    """Every string and f-string in one piece, except single words and docstrings."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        text = literal_text(child)
        if text is not None:
            yield text
        if not isinstance(child, ast.JoinedStr):
            yield from texts_of(child)


def messages_of(node: ast.AST, names: frozenset[str] = frozenset()) -> Iterator[tuple[str, frozenset[str]]]:
    """The text of each exception and warning, with the words in lower case that it may begin with.

    A value that is filled in reads as ``{}``. A text that a function completes may begin with any word.
    """
    if isinstance(node, ast.ClassDef):
        names |= {each for inner in node.body for each in argument_names(inner)}
    if isinstance(node, ast.FunctionDef):
        names |= argument_names(node) | {node.name}
    call = None
    if isinstance(node, ast.Raise):
        call = node.exc
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "warn":
        call = node
    if isinstance(call, ast.Call) and ast.unparse(call.func) == "AttributeError":  # in Python's own words
        call = None
    if isinstance(call, ast.Call) and call.args and (text := literal_text(call.args[0])) is not None:
        is_completed = isinstance(node, ast.Raise) and is_name_of_function(ast.unparse(call.func))
        yield text, names | {text.split()[0]} if is_completed else names
    for child in ast.iter_child_nodes(node):
        yield from messages_of(child, names)


def is_name_of_function(name: str) -> bool:
    """Whether a name, with its module perhaps, is that of a function rather than of a class."""
    return name.rpartition(".")[2].lstrip("_")[:1].islower()


def argument_names(node: ast.AST) -> frozenset[str]:
    """Names of a function's parameters; none of anything else."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return frozenset()
    given = node.args
    return frozenset(each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs))


def literal_text(node: ast.AST) -> str | None:
    """The text of a string or f-string in one piece; None for anything else, and for a single word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values)
    else:
        return None
    return text if " " in text.strip() else None


def complaints_about_message(message: str, names: frozenset[str]) -> Iterator[str]:
    """What is wrong with the form of a message."""
    first = re.split(r"[\s=;:,.]", message.lstrip(), maxsplit=1)[0]
    is_name = (
        first in names | TERMS or "_" in first or first.startswith(("{", "`", '"', "'", "--", "linkwise"))
    )
    is_name |= re.match(r"\w+=", message) is not None
    if not (is_name or first[:1].isupper() or first[:1].isdigit()):
        yield "begins with neither a capital letter nor a parameter's name"
    prose = CODE.sub("{}", message)
    if ";" in prose:
        yield "joins sentences by a semicolon"
    if any(sentence.count(": ") > 1 for sentence in re.split(r"\. |\n", prose)):
        yield "has more than one colon in a sentence"
    if found := BANNED_PHRASES.search(message):
        yield f"the phrase {found[0]!r} is banned"


# ------------------------------------------------------------------------------------------------ command
def main() -> int:
    """Run every check; return 1 if one finds anything."""
    found = sorted(
        {*check_names(SOURCE), *check_docstrings(), *check_messages(SOURCE), *check_remedies(SOURCE)}
    )
    print(*found or ["Names, docstrings and messages are as they should be."], sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

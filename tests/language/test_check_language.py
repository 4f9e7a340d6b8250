"""The checker of names, docstrings and messages finds what it should, and only that."""

import ast
from typing import Protocol, Self

import pytest
from tools import check_language
from tools.check_language import (
    check_class,
    check_module_names,
    check_names,
    check_remedies,
    complaints_about_docstring,
    complaints_about_message,
    complaints_about_name,
    messages_of,
)


def messages(code):
    return [
        (text, list(complaints_about_message(text, names))) for text, names in messages_of(ast.parse(code))
    ]


@pytest.mark.parametrize(
    "name", ["encode_table", "component_sizes", "squared_distances", "seed_of", "why", "X"]
)
def test_good_names_of_functions(name):
    assert not list(complaints_about_name(name, is_function=True))


@pytest.mark.parametrize(
    "name", ["made", "shown_rows", "encoded_alike", "what_asks", "kept_rows", "rows_told", "name_stand_ins"]
)
def test_names_of_functions_that_are_found(name):
    assert list(complaints_about_name(name, is_function=True))


def test_modules_alike():
    paths = ["kin/state.py", "app/page/state.py", "a/__init__.py", "b/__init__.py", "a/base.py", "b/base.py"]
    assert list(check_module_names(paths)) == ["name module state: also kin/state.py, app/page/state.py"]


def test_modules_that_differ_by_an_ending():
    assert list(check_module_names(["ask.py", "asking.py"])) == [
        "name module ask: differs from asking by its ending alone"
    ]


def test_modules_that_are_named_after_their_classes(tmp_path):
    (tmp_path / "cobra.py").write_text("class COBRA: ...\n")
    (tmp_path / "cobras.py").write_text("class COBRAS: ...\n")
    assert not list(check_names(tmp_path))
    (tmp_path / "cobras.py").write_text("class Cobra: ...\n")
    assert list(check_names(tmp_path)) == ["name module cobra: differs from cobras by its ending alone"]


def test_modules_that_are_named_after_others():
    assert not list(
        check_module_names(["tree.py", "native/tree.py", "session/session.py", "app/cli/commands/session.py"])
    )


def test_classes_alike_and_private_names(tmp_path):
    (tmp_path / "one.py").write_text(
        "class View:\n    def made(self): ...\n    @property\n    def known(self): ...\nclass _Twin: ...\n"
    )
    (tmp_path / "two.py").write_text("class View: ...\nclass _Twin: ...\ndef _told(): ...\n")
    assert sorted(check_names(tmp_path)) == [
        "name class View: also in one.py, two.py",
        "name one.py View.made: a function is named by what it does, not by the participle 'made'",
    ]


def add(first: int, second: int = 1) -> int:
    """Add two numbers.

    Parameters
    ----------
    first, second : int
        What is added.

    Returns
    -------
    int
        The sum.

    Raises
    ------
    ValueError
        If `second` is negative.
    """
    if second < 0:
        raise ValueError("second is negative. Pass 0 or more.")
    return first + second


def test_a_complete_docstring():
    assert not list(complaints_about_docstring(add.__doc__, add))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("first, second : int", "first : int", "the parameter second is missing"),
        ("first, second : int", "first, second, third : int", "there is no parameter third"),
        ("first, second : int", "first, second", "the parameter first has no type"),
        ("        What is added.\n", "", "the parameter first has no description"),
        ("        The sum.\n", "", "what is returned has no description"),
        ("Returns\n    -------", "Notes\n    -----", "has no section Returns"),
        ("ValueError\n", "TypeError\n", "Raises does not name ValueError"),
        ("numbers.", "numbers", "the summary is one line and ends with a full stop"),
    ],
)
def test_what_a_docstring_lacks(old, new, complaint):
    assert old in add.__doc__
    assert complaint in list(complaints_about_docstring(add.__doc__.replace(old, new), add))


def test_no_docstring():
    assert list(complaints_about_docstring(None, add)) == ["has none"]


class Adder(Protocol):
    """Adds numbers."""

    def add(self, first: int) -> int:
        """Add a number to the sum."""


class Calculator:
    """Adds numbers, and multiplies them.

    Parameters
    ----------
    start : int
        The first number.
    """

    def __init__(self, start: int) -> None:
        self.start = start

    def add(self, first: int) -> int:
        """Add a number."""

    @classmethod
    def zero(cls, name: str) -> Self:
        """Start at 0."""


def test_a_method_that_implements_a_protocol_needs_a_summary_alone(monkeypatch):
    for cls in (Adder, Calculator):
        for method in (cls.add, getattr(cls, "zero", None)):
            if method:
                monkeypatch.setattr(getattr(method, "__func__", method), "__module__", "linkwise.here")
    assert list(check_class("Adder", Adder, set(), {"add"})) == [
        "docstring linkwise.here.Adder.add: the parameter first is missing",
        "docstring linkwise.here.Adder.add: has no section Returns",
    ]
    assert list(check_class("Calculator", Calculator, set(), {"add"})) == [
        "docstring linkwise.here.Calculator.zero: the parameter name is missing",
        "docstring linkwise.here.Calculator.zero: has no section Returns",
    ]


def test_good_messages():
    code = """
def fit(budget, *, kind):
    raise ValueError("budget is -1. Pass 0 or more.")
    raise ValueError(f"{kind} 7 joins row 3 to itself. Remove it.")
    raise ValueError("Row 17 has no value in column 3: it is empty. Drop it.")
    raise TypeError("n_rows is 1.5. Pass a whole number.")
    raise ValueError("metric='x' is unknown. Use another one.")
    raise ValueError("must-link 3 joins row 1 to itself. Remove it.")
    raise ValueError("fit takes no weights. Pass them to the constraints.")
    raise AttributeError("module has no attribute x")
    raise KeyError("stale")
    raise ValueError(f"The steps are {steps}: it is no mapping. Pass {{name: step, other: step}}.")
    raise ValueError("The list has no pairs: it is empty. Pass [(first, second)], `[a: b; c]` or more.")
    raise ValueError(text)
    warnings.warn("Nothing was asked. Pass an oracle.", UserWarning)
"""
    assert [complaints for _, complaints in messages(code)] == [[]] * 10


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ("there is no file", "begins with neither"),
        ("Rows are missing; add them", "semicolon"),
        ("Rows: three: all of them", "colon in a sentence"),
        ("The mapping {a: b} is wrong: it is empty: give more", "colon in a sentence"),
        ("The token was refused", "'refused' is banned"),
    ],
)
def test_messages_that_are_found(message, complaint):
    assert complaint in " ".join(complaints_about_message(message, frozenset()))


@pytest.mark.parametrize(
    "text",
    [
        "Row 3 has no id. Give it one.",
        "--sheet names no sheet. Name one of them.",
        "--text is about texts. Leave --log out.",
        "The line is broken.\\nMend the line.",
        "Warping is for curves. Set series, or leave warp out.",
        "Some are missing: {count}. Give {count} more.",
    ],
)
def test_remedies_that_are_found(tmp_path, text):
    (tmp_path / "one.py").write_text(f'count = 1\nTEXT = f"{text}"\n')
    assert len(list(check_remedies(tmp_path))) == 1


def test_other_words_are_no_remedies(tmp_path):
    code = '''"""Give it."""
TEXT = ("Pass one.", "Name of the set", "They give and leave out", "Name", "Choose and give each a name.")
def read():
    """Leave the rest out."""
'''
    (tmp_path / "one.py").write_text(code)
    assert not list(check_remedies(tmp_path))


def test_a_text_that_a_function_completes_may_begin_as_it_likes():
    code = """
def check(rows):
    raise _create_error("two rows must be apart")
    raise errors.create("two rows; they must be apart")
    raise errors.RowError("two rows must be apart")
"""
    assert [complaints for _, complaints in messages(code)] == [
        [],
        ["joins sentences by a semicolon"],
        ["begins with neither a capital letter nor a parameter's name"],
    ]


def test_a_message_may_begin_with_a_parameter_of_the_constructor():
    code = """
class Learner:
    def __init__(self, budget): ...
    def fit(self):
        raise ValueError("budget is -1. Pass 0 or more.")
"""
    assert messages(code) == [("budget is -1. Pass 0 or more.", [])]


def test_every_finding_is_printed_once_and_fails(monkeypatch, capsys):
    monkeypatch.setattr(check_language, "check_names", lambda _: iter(["name b", "name a", "name b"]))
    monkeypatch.setattr(check_language, "check_docstrings", lambda: iter([]))
    monkeypatch.setattr(check_language, "check_messages", lambda _: iter([]))
    monkeypatch.setattr(check_language, "check_remedies", lambda _: iter([]))
    assert check_language.main() == 1
    assert capsys.readouterr().out.splitlines() == ["name a", "name b"]
    monkeypatch.setattr(check_language, "check_names", lambda _: iter([]))
    assert check_language.main() == 0

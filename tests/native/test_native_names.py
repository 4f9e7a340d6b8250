"""One file of native code never shares a name with another, but through a header.

Where two files define the same name differently, the linker takes either definition for both.
"""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "src" / "linkwise" / "native" / "src"
FILES = sorted(FOLDER.glob("*.cpp"))
HEADERS = "\n".join(path.read_text() for path in sorted(FOLDER.glob("*.hpp")))


def shared_definitions(text):
    """The first line of each definition that other files can see: not in an anonymous namespace."""
    text = re.sub(r'//[^\n]*|"[^"\n]*"', "", text)
    text = re.sub(r"^\s*#.*(?:\\\n.*)*$", "", text, flags=re.M)
    scopes, start, found = [], 0, []
    for mark in re.finditer(r"[{};]", text):
        words = " ".join(text[start : mark.start()].split())
        start = mark.end()
        if mark[0] == "}":
            scopes.pop()
            continue
        is_namespace = re.fullmatch(r"namespace \w+|namespace [\w:]+ = .*|namespace", words)
        if words and not is_namespace and all(scope.startswith("namespace ") for scope in scopes):
            found.append(words)
        if mark[0] == "{":
            scopes.append(words)
    assert not scopes
    return found


def is_declared_in_a_header(definition):
    name = re.search(r"(\w+)\s*\(", definition)
    return name is not None and re.search(rf"\b{name[1]}\([^;{{}}]*\)(?: const)?;", HEADERS) is not None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_shares_only_what_a_header_declares(path):
    definitions = shared_definitions(path.read_text())
    assert definitions, "every file registers its kernel"
    own = [d for d in definitions if not is_declared_in_a_header(d) and not d.startswith("NB_MODULE(")]
    assert not own, f"put these of {path.name} into an anonymous namespace"


@pytest.mark.parametrize(
    "definition",
    [
        "inline constexpr int64_t kBlock = 64;",
        "struct Table { double* out; };",
        "template <typename T> struct Rows { int n() { return 1; } };",
        "double length(const double* values) { for (;;) { return 1; } }",
        "using Table = std::array<int, 4>;",
        "LINKWISE_SIMD void pack_byte(const Byte& t) { pack(t); }",
    ],
)
def test_the_check_sees_a_definition_that_is_shared(definition):
    (found,) = shared_definitions(f"namespace linkwise {{\n{definition}\n}}  // namespace linkwise\n")
    assert definition.startswith(found)
    assert not is_declared_in_a_header(found)
    assert not shared_definitions(f"namespace linkwise {{\nnamespace {{\n{definition}\n}}\n}}\n")

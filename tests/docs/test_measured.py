"""Numbers of the text are read from the tables in which they were measured."""

import importlib.util

import pytest

from docs.test_docs import DOCS

spec = importlib.util.spec_from_file_location("docs_measured", DOCS / "measured.py")
measured = importlib.util.module_from_spec(spec)
spec.loader.exec_module(measured)


@pytest.fixture
def results(tmp_path):
    (tmp_path / "x.csv").write_text("task,method,ari\niris,a,0.512\niris,b,0.7\nwine,a,0.25\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x.csv; ari; task=wine", "0.25"),
        ("x.csv; ari; task=iris; method=a; .2f", "0.51"),
        ("x.csv; count; task=iris", "2"),
        ("x.csv; count; task!=iris", "1"),
        ("x.csv; mean ari; task=iris; .3f", "0.606"),
        ("x.csv; max ari", "0.70"),
    ],
)
def test_a_number_is_read_from_its_table(results, text, shown):
    assert measured.read_measured(text, results) == shown


@pytest.mark.parametrize(
    "text",
    ["x.csv; ari", "x.csv; ari; task=glass", "x.csv; nmi; task=wine", "x.csv; ari; task", "y.csv; count"],
)
def test_a_number_that_is_in_no_table_is_an_error(results, text):
    with pytest.raises((ValueError, OSError)):
        measured.read_measured(text, results)

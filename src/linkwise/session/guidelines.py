"""Guidelines: a text that tells everybody who answers what "belong together" means in one session."""

from __future__ import annotations

from linkwise.errors import SessionError
from linkwise.session.deserialize import MOST_GUIDELINES
from linkwise.text_files import is_unicode


def check_guidelines(text: object) -> str:
    """Check guidelines, and return them without spaces around them and with plain line breaks."""
    if not isinstance(text, str):
        raise TypeError(f"The guidelines are a {type(text).__name__}. Give text.")
    if not is_unicode(text):
        raise SessionError("The guidelines are not valid Unicode: they hold half a character. Type it again.")
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    if len(lines) > MOST_GUIDELINES:
        raise SessionError(
            f"The guidelines have {len(lines)} characters. Shorten them to {MOST_GUIDELINES} or fewer."
        )
    return lines

"""Pages that explain why the page itself is not shown, and the form for the password.

They never contain anything from the request.
"""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root { color-scheme: light dark; font: 17px/1.6 system-ui, sans-serif }
body { max-width: 34rem; margin: 18vh auto; padding: 0 1.5rem }
h1 { font-size: 1.3rem; font-weight: 600 }
input, button { font: inherit; padding: .4em .8em; margin: .6em .4em 0 0 }
"""
STYLE_HASH = "sha256-" + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
AGAIN = '<meta http-equiv="refresh" content="0; url=/">'
FORM = """<form method="post" action="/login">
<label for="password">The password that linkwise was started with</label><br>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>
<button>Log in</button>
</form>
"""


def render_message(title: str, text: str, *, again: bool = False, form: bool = False) -> str:
    """Return a page with a heading and a sentence; `again` reloads the first page, `form` asks a password."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{AGAIN if again else ""}'
        f"<title>{title}</title><style>{STYLE}</style>\n"
        f"<main>\n<h1>{title}</h1>\n<p>{text}</p>\n{FORM if form else ''}</main></html>\n"
    )

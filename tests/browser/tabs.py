"""Pages that tests use in turn: a new page takes a second of computing time, the next visit a third."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from patience import patience

MEDIA = {"color_scheme": "light", "reduced_motion": "no-preference"}
START: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}} | MEDIA
FORGET = "() => { localStorage.clear(); sessionStorage.clear(); }"


@dataclass
class Tab:
    """A page of a context of its own, and the errors of its scripts."""

    page: Any
    kind: str
    errors: list[str] = field(default_factory=list)

    def reset(self) -> None:
        """Leave the server, and forget what the last test left in the browser."""
        for other in self.page.context.pages:
            if other is not self.page:
                other.close()
        self.page.evaluate(FORGET)
        self.page.context.clear_cookies()
        self.page.goto(self.page.evaluate("() => location.origin"))  # nobody is let in without a cookie
        self.page.mouse.move(0, 0)


class Tabs:
    """The tabs of a browser: each is lent to one test at a time, and is empty when it is lent."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._idle: dict[str, list[Tab]] = defaultdict(list)

    def lend(self, script: str | None, options: dict[str, Any]) -> Tab:
        """A tab whose context has these options; every page of it runs the script first."""
        options = START | options
        size = options.pop("viewport")
        media = {
            name: options.pop(name) for name in MEDIA
        }  # what a page can change later is no kind of its own
        kind = json.dumps([script, options], sort_keys=True)
        tab = self._idle[kind].pop() if self._idle[kind] else self._open(kind, script, options)
        tab.page.context.set_default_timeout(1000 * patience())
        tab.page.set_viewport_size(size)
        tab.page.emulate_media(**media)
        return tab

    def _open(self, kind: str, script: str | None, options: dict[str, Any]) -> Tab:
        page = self._browser.new_context(**options).new_page()
        if script is not None:
            page.add_init_script(f"({script})()")
        tab = Tab(page, kind)
        page.on("pageerror", lambda error: tab.errors.append(str(error)))
        return tab

    def take_back(self, tab: Tab) -> None:
        """Keep a tab for the next test, unless its server is gone."""
        from playwright.sync_api import Error

        try:
            tab.reset()
        except Error:
            tab.page.context.close()
        else:
            self._idle[tab.kind].append(tab)

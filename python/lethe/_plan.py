"""What a run takes, before there is one."""

from __future__ import annotations

import html
import json

from . import _asked, _core


class Plan(dict):
    """What `train plan --json` prints, as a dict; `table()` is what it prints for people."""

    def __init__(self, json_text: str, table_text: str, timeline: str, asked: tuple):
        """timeline: the function of _core that makes it of what was asked for."""
        super().__init__(json.loads(json_text))
        self.json = json_text
        self._table, self._timeline, self._asked = table_text, timeline, asked

    def table(self) -> str:
        return self._table

    @property
    def fits(self) -> bool:
        """Into the budget, if there is one."""
        return self["budget"] is None or self["bytes"]["peak"] <= self["budget"]

    def timeline(self) -> str:
        """A page: what is in memory while each op runs."""
        return getattr(_core, self._timeline)(*self._asked)

    def __repr__(self) -> str:
        return self._table

    def _repr_html_(self) -> str:
        page = html.escape(self.timeline(), quote=True)
        return (f"<pre>{html.escape(self._table)}</pre>"
                f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0" title="memory over a step"></iframe>')


def plan(model=None, **options) -> Plan:
    """As `train plan`, with its options as keywords: also of a GPU that is not there, device="h200"."""
    asked = _asked.network(model, options)
    return Plan(*_core.plan(*asked, False), "timeline", asked)


def advise(model=None, **options) -> list[dict]:
    """Changes of how the network is trained that take less memory, the least change first; each with the options that
    make it, what it does, the bytes that a run then takes, and whether these fit into the budget."""
    advice = json.loads(_core.plan(*_asked.network(model, options), True)[0])["advice"] or []
    return [{"options": _asked.keywords(change["change"]), **change} for change in advice]


def zoo() -> list[str]:
    """The names of the networks that come along."""
    return _core.zoo()


def options() -> dict[str, str]:
    """The keywords of Session, each with its help."""
    return {name: help for name, (help, _) in _core.options().items()}

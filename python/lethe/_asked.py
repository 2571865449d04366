"""Keywords as the words of the command line, which reads them: every option, check and hint is there once."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping

from . import _core
from ._error import Error


def words(options: Mapping) -> list[str]:
    """memory_budget="1GiB" is --memory-budget=1GiB, True a flag; None and False say nothing."""
    all, known = [], _core.options()
    for key, value in options.items():
        name = "--" + key.replace("_", "-")
        if value is None or (_is_bool(value) and not value):
            continue
        if not _is_bool(value):
            all.append(f"{name}={_text(value)}")
        elif key in known and not known[key][1]:
            raise Error(f"{key}: takes a value, not True")
        else:
            all.append(name)
    return all


def network(model, options: Mapping) -> tuple[list[str], tuple[str, str] | None]:
    """The words for a network and its options, and the network itself where no file holds it."""
    if not isinstance(model, Mapping):
        return words({"model": model, **options}), None
    name = str(model.get("name", "network"))
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        name = "network"
    try:
        text = json.dumps(model, indent=2)
    except TypeError as error:
        raise Error(f"the network is no JSON: {error}") from error
    return words({"model": name + ".json", **options}), (name + ".json", text)


def keywords(line: str) -> dict[str, str | bool]:
    """And back: "--state-dtype 8bit --decay-all" is {"state_dtype": "8bit", "decay_all": True}."""
    all = {}
    for option in line.split("--")[1:]:
        name, _, value = option.strip().partition(" ")
        all[name.replace("-", "_")] = value or True
    return all


def _is_bool(value) -> bool:
    """Also of NumPy, which this does not load."""
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool") and type(value).__module__ == "numpy"


def _text(value) -> str:
    if _is_bool(value):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return ",".join(f"{key}={_text(each)}" for key, each in value.items())
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, os.PathLike)):
        return ",".join(_text(each) for each in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)

#!/usr/bin/env python3
"""Writes python/lethe/_options.py, the keywords of lethe.Session for type checkers, from the options of `train`.

    scripts/python_options.py      (with a python3 that has lethe)"""
import pathlib

import lethe

HEAD = '''"""The keywords of Session, as scripts/python_options.py writes them; lethe.options() has their help."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypedDict, Union

Value = Union[str, int, float, os.PathLike, Mapping, Iterable]


class Options(TypedDict, total=False):
'''

lines = [f"    {name}: {'bool' if flag else 'Value'}\n" for name, (_, flag) in lethe._core.options().items() if name != "model"]
path = pathlib.Path(__file__).resolve().parents[1] / "python/lethe/_options.py"
path.write_text(HEAD + "".join(lines))

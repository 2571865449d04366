"""Lethe trains neural networks in little memory, and says beforehand how much.

    session = lethe.Session("lenet", batch=64, memory_budget="16MiB")
    session.plan()["bytes"]["peak"]                      # to the byte, before any is taken
    session.train_step({"image": x, "label": y}).loss
"""

from ._start import check_processor, features, load_core

check_processor(features())
_core = load_core(features())

from ._core import Record, Scores  # noqa: E402
from ._error import Error  # noqa: E402
from ._plan import Plan, advise, options, plan, zoo  # noqa: E402
from ._session import Session  # noqa: E402

__version__: str = _core.version
__all__ = ["Error", "Plan", "Record", "Scores", "Session", "advise", "options", "plan", "zoo"]

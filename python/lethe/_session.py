"""A network in training: lethe.Session."""

from __future__ import annotations

import atexit
import itertools
import logging
import os
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _asked, _core
from ._error import Error
from ._plan import Plan

if TYPE_CHECKING:
    import numpy
    from typing_extensions import Unpack

    from ._options import Options

log = logging.getLogger("lethe")
_all: weakref.WeakSet[Session] = weakref.WeakSet()


@atexit.register
def _rest() -> None:
    """What reads ahead needs the interpreter."""
    for session in list(_all):
        session._core.rest()


class Session:
    """Each part is made when it is first asked for. Keywords are the options of `train` (lethe.options() has their
    help): memory_budget="1GiB" is --memory-budget 1GiB. A session is for one thread at a time; other threads of the
    interpreter run while it computes."""

    def __init__(self, model: str | os.PathLike | Mapping | None = None, **options: Unpack[Options]):
        self._asked = _asked.network(model, options)
        self._core = _core.Session(*self._asked)
        _all.add(self)

    def plan(self) -> Plan:
        """What a run takes; takes no memory yet."""
        return Plan(*self._core.plan(), "session_timeline", self._asked)

    def train_step(self, batch: Any, lr: float | None = None) -> _core.Record:
        """One step on a batch: arrays by the names of inputs, or a tuple of them. Without `lr` by the schedule."""
        return self._core.train_step(self._named(batch), lr)

    def train(self, data: Any = None, *, epochs: int | None = None, steps: int | None = None, test: Any = None,
              val: float | None = None, on_record: Callable[[_core.Record], Any] | None = None) -> _core.Record:
        """To the end of a run of so many epochs or steps, from where the session stands; gives the last record.

        data: arrays by name, a tuple of them, an object with __len__ and __getitem__, or what gives batches, again for
        each epoch; None: what the session has. Without `test` a share of the rows, `val`, or a tenth, is held out for
        evaluation. on_record hears of each record; it may ask the session where it stands, and nothing else of it."""

        def hear(record):
            log.info("%r", record)
            if on_record is not None:
                on_record(record)

        if epochs is not None and steps is not None:
            raise Error("epochs and steps both say how long the run is; give one of them")
        for name, count in (("epochs", epochs), ("steps", steps)):
            if count is not None and count < 1:
                raise Error(f"{name}: must be at least 1, not {count}")
        if data is not None and not _has_rows(data):
            return self._train_batches(data, epochs, steps, test, val, hear)
        if data is None and test is not None:
            raise Error("test goes with data")
        return self._core.train(self._rows(data), self._rows(test), 0.1 if val is None else val, epochs, steps, hear)

    def evaluate(self, data: Any = None) -> _core.Scores:
        """Scores of all rows of the data, or of what the session holds out of its own."""
        return self._core.evaluate(self._rows(data))

    def predict(self, x: Any) -> numpy.ndarray:
        """What the network says of each row: logits, or values."""
        return self._core.predict(self._named(x, without_targets=True))

    def state_dict(self) -> dict[str, numpy.ndarray]:
        """Copies of parameters and running statistics, in PyTorch's layout."""
        return self._core.state_dict()

    def load_state_dict(self, state: Mapping, *, fresh: str = "", ignore: str = "") -> None:
        """Takes NumPy's arrays or any that DLPack shows. fresh: patterns of weights that may be missing; ignore: of
        tensors that nobody reads."""
        self._core.load_state_dict(dict(state), fresh, ignore)

    def save(self, directory: str | os.PathLike) -> str:
        """Writes a checkpoint, which a session and `train` go on from; gives its path."""
        return self._core.save(os.fspath(directory))

    def resume(self, directory: str | os.PathLike) -> None:
        """Stands where the newest checkpoint there does: weights, states of the optimizer, steps."""
        self._core.resume(os.fspath(directory))

    def export_onnx(self, file: str | os.PathLike, *, opset: int = 17, dtype: str = "", preprocess: bool = False) -> None:
        """The network with its weights for other programs; its batch has no size."""
        self._core.export_onnx(os.fspath(file), opset, dtype, preprocess)

    @property
    def inputs(self) -> list[str]:
        """What a batch has: the names of inputs, in the order of a tuple; labels last."""
        return self._core.inputs

    @property
    def step(self) -> int:
        """Steps done, over resumes; while it trains those of the last record."""
        return self._core.step

    @property
    def peak_bytes(self) -> int:
        """Most bytes taken so far; while it trains as of the last record."""
        return self._core.peak

    def __repr__(self) -> str:
        return f"lethe.Session({self._core.name}, batch {self._core.batch}, step {self.step})"

    def _named(self, arrays, without_targets=False) -> dict:
        if isinstance(arrays, Mapping):
            return dict(arrays)
        values = arrays if isinstance(arrays, (tuple, list)) else (arrays,)
        if len(values) > len(self.inputs) or (len(values) < len(self.inputs) and not without_targets):
            raise Error(f"given {len(values)} arrays, the network takes {len(self.inputs)}: {', '.join(self.inputs)}", 4)
        return dict(zip(self.inputs, values))

    def _rows(self, data):
        if data is None:
            return None
        if isinstance(data, (Mapping, tuple)) or _is_array(data):
            return self._core.arrays(self._named(data))
        if _has_rows(data):
            return self._core.objects(data)
        raise Error("data to evaluate on: arrays, or an object with __len__ and __getitem__", 4)

    def _train_batches(self, batches: Iterable, epochs, steps, test, val, hear):
        """Steps on batches as they come. Smaller ones at the end of an epoch are left out, as of rows."""
        if not isinstance(batches, Iterable):
            raise Error("data: arrays, an object with __len__ and __getitem__, or what gives batches", 4)
        given = self._core.given
        if epochs is None and steps is None:
            steps, epochs = (int(given[name]) if name in given else None for name in ("steps", "epochs"))
        if epochs is not None and epochs > 1 and iter(batches) is batches:
            raise Error("epochs: what gives batches once has one epoch; give what begins anew, as a DataLoader does", 4)
        if self._core.keeps:
            raise Error(f"{self._core.keeps[0]}: batches as they come are single steps, of which nothing is kept; give "
                        "rows, or call save(DIR)")
        of_rows = [name for name in ("patience", "best", "save_every", "checkpoint") if name in given]
        if of_rows or val is not None:
            raise Error(f"{(of_rows or ['val'])[0]}: is of a run on rows; batches as they come are single steps")
        if steps is not None and self.step >= steps:
            raise Error(f"the run is complete at step {self.step}; more steps of the whole run go on with it")
        tests = self._rows(test)
        last, left_out = None, False
        for epoch in itertools.count():
            before = self.step
            for batch in batches:
                named = self._batch(batch)
                if self._is_short(named):
                    if not left_out:
                        log.warning("left out: a batch of fewer than %d rows", self._core.batch)
                    left_out = True
                    continue
                last = self._core.train_step(named, None)
                hear(last)
                if self.step == steps:
                    break
            if self.step == before:
                break
            if tests is not None:
                log.info("%r", self._core.evaluate(tests))
            if self.step == steps or (steps is None and epoch + 1 == (epochs or 1)):
                break
        if last is None:
            raise Error("data: gave no whole batch", 4)
        if steps is not None and self.step < steps:
            log.warning("the batches ended at step %d of %d", self.step, steps)
        return last

    def _batch(self, batch) -> dict:
        named = self._named(batch)
        if not all(_shape(array) for array in named.values()):
            raise Error("data: gives items, not batches", 4)
        return named

    def _is_short(self, named) -> bool:
        """Whether all have as many rows, fewer than a batch; what else does not fit the step says."""
        rows = {_shape(array)[0] for array in named.values()}
        return len(rows) == 1 and rows.pop() < self._core.batch


def _is_array(data) -> bool:
    return hasattr(data, "__dlpack__") or hasattr(data, "__array_interface__")


def _shape(array) -> tuple:
    """Of a list its first number; of a number none."""
    return tuple(array.shape) if hasattr(array, "shape") else (len(array),) if hasattr(array, "__len__") else ()


def _has_rows(data) -> bool:
    if isinstance(data, (Mapping, tuple)) or _is_array(data):
        return True
    return hasattr(data, "__len__") and hasattr(data, "__getitem__")

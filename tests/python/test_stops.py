"""A session that was stopped, failed or is over leaves nothing behind that the next use of it meets."""
import logging
import subprocess
import sys
import threading

import pytest
from conftest import Rows, same_bits

import lethe

OPTIONS = {"batch": 50, "schedule": "constant", "log_every": 1}


class Broken:
    def __len__(self):
        return 200

    def __getitem__(self, row):
        raise KeyError("row")


def enough(record):
    raise ValueError("enough")


def test_a_stopped_run_leaves_no_batch_behind(digits):
    x, y = digits
    session, other = lethe.Session("lenet", eval_every=0, **OPTIONS), lethe.Session("lenet", eval_every=0, **OPTIONS)
    with pytest.raises(ValueError):
        session.train(digits, steps=20, on_record=enough)
    other.load_state_dict(session.state_dict())
    assert session.train_step((x[:50], y[:50])).loss == other.train_step((x[:50], y[:50])).loss
    with pytest.raises(ValueError):
        session.train((x, y), steps=20, on_record=enough)
    session.train((x[:100], y[:100]), steps=20)
    assert session.step == 20


def test_a_step_counts_though_the_next_one_fails(digits):
    session = lethe.Session("lenet", eval_every=0, lr=1e30, **OPTIONS)
    with pytest.raises(lethe.Error) as raised:
        session.train(digits, steps=3)
    assert raised.value.code == 5 and session.step == 1


def test_evaluates_after_an_evaluation_that_failed(digits):
    session = lethe.Session("lenet", **OPTIONS)
    session.train(digits, steps=1)
    before = session.evaluate()
    with pytest.raises(lethe.Error, match="KeyError"):
        session.evaluate(Broken())
    assert session.evaluate().loss == before.loss


def test_a_script_may_end_while_rows_are_read_ahead():
    script = """
import time, numpy, lethe
class Slow:
    def __len__(self):
        return 200
    def __getitem__(self, row):
        time.sleep(0.01)
        return numpy.zeros((1, 28, 28), "f4"), 0
session = lethe.Session("lenet", batch=10, eval_every=0)
session.train(Slow(), steps=1)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_is_read_ahead_is_no_cause_of_other_errors(digits):
    rows = Rows(*digits)
    lethe.Session("lenet", eval_every=0, **OPTIONS).train(rows, steps=4)
    first, met = set(rows.order[:50]), threading.Event()

    class BrokenLater(Rows):
        def __getitem__(self, row):
            if row not in first:
                met.set()
                raise KeyError("row")
            return super().__getitem__(row)

    session = lethe.Session("lenet", eval_every=0, **OPTIONS)
    session.train(BrokenLater(*digits), steps=1)
    assert met.wait(10)
    with pytest.raises(lethe.Error) as raised:
        session.train_step(digits)
    assert raised.value.__cause__ is None


def test_control_c_in_a_log_handler_is_kept(digits):
    class Interrupted(logging.Handler):
        def emit(self, record):
            raise KeyboardInterrupt

    log, handler = logging.getLogger("lethe"), Interrupted()
    session, level = lethe.Session("lenet", eval_every=0, **OPTIONS), log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        with pytest.raises(KeyboardInterrupt):
            session.plan()
            session.train_step((digits[0][:50], digits[1][:50]))
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def test_says_where_it_stands_while_it_works(digits):
    session, heard = lethe.Session("lenet", eval_every=0, **OPTIONS), []
    session.train(digits, steps=3, on_record=lambda record: heard.append((repr(session), session.peak_bytes)))
    assert [text for text, _ in heard] == [f"lethe.Session(lenet, batch 50, step {step})" for step in (1, 2, 3)]
    assert heard[-1][1] == session.peak_bytes == session.plan()["bytes"]["peak"]


def test_saves_in_its_own_directory(digits, tmp_path):
    x, y = digits
    session = lethe.Session("lenet", save=tmp_path / "a", eval_every=0, **OPTIONS)
    session.train_step((x[:50], y[:50]))
    session.save(tmp_path / "a")
    with pytest.raises(lethe.Error):
        lethe.Session("lenet", resume=tmp_path / "a")  # its run holds the directory
    session.train(digits, steps=2)
    session.train_step((x[:50], y[:50]))
    session.save(tmp_path / "a")
    state = session.state_dict()
    del session
    again = lethe.Session(resume=tmp_path / "a")
    assert again.step == 3 and same_bits(again.state_dict(), state)
    again.train_step((x[:50], y[:50]))
    again.save(tmp_path / "a")

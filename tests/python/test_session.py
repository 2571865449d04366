"""A session computes what the program computes, in the memory that the plan says."""
import gc
import json
import logging
import os
import signal
import pickle
import subprocess
import sys
import threading
import time

import numpy
import pytest
from conftest import Rows, same_bits

import lethe

TRAIN = os.environ.get("LETHE_TRAIN_BINARY")
needs_program = pytest.mark.skipif(not TRAIN, reason="LETHE_TRAIN_BINARY names no program to compare with")


@needs_program
@pytest.mark.parametrize("options", [{}, {"dtype": "bf16", "batch": 16}, {"memopt": "level=3", "memory_budget": "2200KiB"},
                                     {"optimizer": "adam", "micro_batch": 16}])
def test_plan_is_what_the_program_prints(options):
    words = [word for key, value in options.items() for word in ("--" + key.replace("_", "-"), str(value))]
    printed = json.loads(subprocess.run([TRAIN, "plan", "--model", "lenet", "--json", *words], capture_output=True).stdout)
    for plan in (lethe.Session("lenet", **options).plan(), lethe.plan("lenet", **options)):
        assert {**plan, "ms": 0} == {**printed, "ms": 0}
        assert json.loads(plan.json) == plan and "lenet" in plan.table()


def test_plan_shows_itself_in_a_notebook():
    page = lethe.Session("lenet").plan()._repr_html_()
    assert "<iframe srcdoc=" in page and "conv1" in page


def test_a_plan_needs_no_session():
    for plan in (lethe.Session("lenet", batch=8).plan(), lethe.plan("lenet", batch=8)):
        copy = pickle.loads(pickle.dumps(plan))
        assert copy == plan and copy.table() == plan.table() and copy.timeline() == plan.timeline()


@pytest.mark.parametrize("memopt", ["none", "level=0", "level=1", "level=2"])
def test_takes_what_is_planned(digits, memopt):
    x, y = digits
    session = lethe.Session("lenet", batch=50, memopt=memopt)
    session.train_step((x[:50], y[:50]))
    session.evaluate((x, y))
    assert session.peak_bytes == session.plan()["bytes"]["peak"]


def test_memory_settings_give_the_same_bits(digits):
    x, y = digits
    states, losses = [], []
    for options in ({"memopt": "level=0"}, {"memopt": "level=2"}, {"memory_budget": "1900KiB", "memopt": "level=3"}):
        session = lethe.Session("lenet", batch=50, **options)
        losses.append([session.train_step({"image": x[i:i + 50], "label": y[i:i + 50]}).loss for i in (0, 50, 100, 150)])
        states.append(session.state_dict())
    assert losses[0] == losses[1] == losses[2]
    assert same_bits(states[0], states[1]) and same_bits(states[0], states[2])


@pytest.mark.parametrize("options", [{}, {"dtype": "bf16", "optimizer": "adam"}, {"micro_batch": 10}])
def test_single_steps_are_those_of_a_run(digits, options):
    x, y = digits
    options = {"batch": 30, "schedule": "constant", "eval_every": 0, **options}
    rows = Rows(x, y)
    run = lethe.Session("lenet", **options)
    run.train(rows, steps=3)
    alone = lethe.Session("lenet", **options)
    for step in range(3):
        taken = rows.order[30 * step:30 * step + 30]
        alone.train_step((x[taken], y[taken]))
    assert same_bits(run.state_dict(), alone.state_dict())


@needs_program
def test_arrays_train_as_the_program_does(digits, tmp_path):
    x, y = digits
    numpy.save(tmp_path / "x.npy", x)
    numpy.save(tmp_path / "y.npy", y)
    data = f"npy:image={tmp_path}/x.npy,label={tmp_path}/y.npy"
    subprocess.run([TRAIN, "--model", "lenet", "--batch", "50", "--epochs", "2", "--data", data, "--save", tmp_path / "run"],
                   check=True, capture_output=True)
    session = lethe.Session("lenet", batch=50)
    session.train((x, y), epochs=2)
    resumed = lethe.Session("lenet", batch=50)
    resumed.resume(tmp_path / "run")
    assert resumed.step == session.step and same_bits(session.state_dict(), resumed.state_dict())


def test_layouts_and_types_of_arrays_do_not_matter():
    random = numpy.random.default_rng(1)
    x, y = random.integers(-4, 4, (8, 3, 32, 32)), random.integers(0, 10, 8)
    states = []
    for given, labels in ((x.astype("f4"), y.astype("i4")), (x.astype("f8"), y), (x.astype("i2"), y.astype("u1")),
                          (numpy.ascontiguousarray(x.transpose(0, 2, 3, 1)).astype("f4").transpose(0, 3, 1, 2), y),
                          (numpy.repeat(x, 2, 0)[::2].astype("f2"), list(y))):
        session = lethe.Session("resnet20", batch=8, augment="none", lr=0.1)
        session.train_step((given, labels))
        states.append(session.state_dict())
    assert all(same_bits(states[0], other) for other in states[1:])


def test_state_goes_from_one_session_to_another(digits):
    x, y = digits
    first, second = lethe.Session("lenet", batch=50), lethe.Session("lenet", batch=50, seed=7)
    first.train_step((x[:50], y[:50]))
    assert not same_bits(first.state_dict(), second.state_dict())
    second.load_state_dict(first.state_dict())
    assert same_bits(first.state_dict(), second.state_dict())
    assert first.predict(x).tobytes() == second.predict(x).tobytes()
    copy = first.state_dict()
    copy["conv1.weight"][:] = 0
    assert first.state_dict()["conv1.weight"].any()


def test_saves_and_goes_on(digits, tmp_path):
    x, y = digits
    whole = lethe.Session("lenet", batch=50, schedule="constant")
    part = lethe.Session("lenet", batch=50, schedule="constant")
    for i in (0, 50, 100, 150):
        whole.train_step((x[i:i + 50], y[i:i + 50]))
    for i in (0, 50):
        part.train_step((x[i:i + 50], y[i:i + 50]))
    part.save(tmp_path / "run")
    again = lethe.Session("lenet", batch=50, schedule="constant")
    again.resume(tmp_path / "run")
    for other in (again, lethe.Session(resume=tmp_path / "run")):
        assert other.step == 2
        for i in (100, 150):
            other.train_step((x[i:i + 50], y[i:i + 50]))
        assert other.step == 4 and other.peak_bytes == other.plan()["bytes"]["peak"]
        assert same_bits(whole.state_dict(), other.state_dict())
    with pytest.raises(lethe.Error, match="holds checkpoints of a run already"):
        whole.save(tmp_path / "run")


def test_predicts_rows_of_any_number(digits):
    x, y = digits
    session = lethe.Session("lenet", batch=64)
    session.train_step((x[:64], y[:64]))
    logits = session.predict(x)
    assert logits.shape == (200, 10) and logits.dtype == numpy.float32
    assert logits[70:].tobytes() == session.predict({"image": x[70:]}).tobytes()
    scores = session.evaluate((x, y))
    assert scores.samples == 200 and scores.correct == (logits.argmax(1) == y).sum()


def test_a_dict_is_a_network(digits):
    network = {"version": 1, "name": "tiny", "inputs": {"x": {"shape": [4]}, "y": {"shape": [2]}},
               "layers": [{"op": "fc", "out": 2, "name": "values"}],
               "loss": [{"op": "mse", "in": "values", "target": "y"}]}
    session = lethe.Session(network, batch=4, lr=0.1)
    x, y = numpy.eye(4, dtype="f4"), numpy.ones((4, 2), "f4")
    losses = [session.train_step({"x": x, "y": y}).loss for _ in range(20)]
    assert losses[-1] < 0.1 * losses[0] and session.predict(x).shape == (4, 2)
    target_first = {**network, "inputs": dict(reversed(network["inputs"].items()))}
    session = lethe.Session(target_first, batch=4)
    assert session.inputs == ["x", "y"] and session.predict(x).shape == (4, 2)


def test_batches_that_come_one_by_one(digits, tmp_path):
    x, y = digits

    def batches():
        for i in range(0, 200, 60):
            yield {"image": x[i:i + 60], "label": y[i:i + 60]}

    options = {"batch": 60, "schedule": "constant"}
    fed, stepped, heard = lethe.Session("lenet", **options), lethe.Session("lenet", **options), []
    fed.train(batches(), on_record=heard.append)
    for batch in list(batches())[:3]:
        stepped.train_step(batch)
    assert len(heard) == 3 and same_bits(fed.state_dict(), stepped.state_dict())
    with pytest.raises(lethe.Error, match="gives batches once"):
        fed.train(batches(), epochs=2)
    with pytest.raises(lethe.Error, match="save: batches as they come are single steps"):
        lethe.Session("lenet", save=tmp_path / "run", **options).train(batches())


def test_records_and_notes_are_logged(digits, caplog):
    with caplog.at_level(logging.INFO, "lethe"):
        lethe.Session("lenet", batch=50).train(digits, steps=2)
    assert "memory predicted" in caplog.text and '"step":2' in caplog.text


def test_exports(digits, tmp_path):
    session = lethe.Session("lenet", batch=8)
    session.export_onnx(tmp_path / "lenet.onnx")
    assert (tmp_path / "lenet.onnx").stat().st_size > 200_000
    with pytest.raises(lethe.Error, match="ends in .onnx"):
        session.export_onnx(tmp_path / "lenet.pt")


def test_other_threads_run_meanwhile():
    session = lethe.Session("resnet20", batch=64, augment="none", lr=0.1)
    batch = numpy.zeros((64, 3, 32, 32), "f4"), numpy.zeros(64, "i4")
    session.train_step(batch)
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.0002):
            ticks.append(time.perf_counter())

    def ticks_in_step():
        begin = time.perf_counter()
        session.train_step(batch)
        end = time.perf_counter()
        return sum(begin < at < end for at in list(ticks))

    thread = threading.Thread(target=tick)
    thread.start()
    most = max(ticks_in_step() for _ in range(20))
    done.set()
    thread.join()
    assert most > 3


def test_control_c_ends_a_run_after_a_step(digits):
    x, y = digits
    session = lethe.Session("lenet", batch=50, schedule="constant")
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        session.train((x, y), steps=10_000_000)
    step = session.step
    assert 0 < step < 10_000_000
    session.train_step((x[:50], y[:50]))
    assert session.step == step + 1


def test_sessions_come_and_go(digits):
    x, y = digits
    rows = Rows(x, y)
    alone = sys.getrefcount(rows)
    for _ in range(3):
        session = lethe.Session("lenet", batch=50)
        session.train(rows, steps=1)  # more batches are being made when it ends
        assert sys.getrefcount(rows) > alone
        del session
        gc.collect()
        assert sys.getrefcount(rows) == alone

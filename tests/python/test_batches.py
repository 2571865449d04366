"""Batches as they come are single steps, and end where the caller says."""
import numpy
import pytest

import lethe

OPTIONS = {"batch": 50, "schedule": "constant"}


@pytest.fixture
def batches(digits):
    x, y = digits
    return [(x[i:i + 50], y[i:i + 50]) for i in range(0, 200, 50)]


@pytest.mark.parametrize("length", [{"epochs": 0}, {"steps": 0}, {"epochs": -1}])
def test_no_length(batches, digits, length):
    name = next(iter(length))
    for data in (iter(batches), digits):
        with pytest.raises(lethe.Error, match=f"{name}: must be at least 1"):
            lethe.Session("lenet", **OPTIONS).train(data, **length)


@pytest.mark.parametrize("of_session, of_call", [({}, {"steps": 2}), ({"steps": 2}, {})])
def test_none_is_taken_in_vain(batches, of_session, of_call):
    session, left = lethe.Session("lenet", **OPTIONS, **of_session), iter(batches)
    session.train(left, **of_call)
    assert session.step == 2 and len(list(left)) == 2
    with pytest.raises(lethe.Error, match="the run is complete at step 2"):
        session.train(left, **of_call)


def test_epochs_of_the_session(batches):
    class Loader:
        def __iter__(self):
            return iter(batches)

    session = lethe.Session("lenet", epochs=2, **OPTIONS)
    session.train(Loader())
    assert session.step == 8
    session.train(Loader(), steps=13)
    assert session.step == 13


def test_an_early_end_is_told(batches, caplog):
    session = lethe.Session("lenet", **OPTIONS)
    session.train(iter(batches), steps=9)
    assert session.step == 4 and "the batches ended at step 4 of 9" in caplog.text


def test_short_ones_are_told_once(batches, caplog):
    (x, y), *_ = batches
    lethe.Session("lenet", **OPTIONS).train(iter([(x, y), (x[:7], y[:7]), (x[:8], y[:8])]))
    assert caplog.text.count("left out") == 1


@pytest.mark.parametrize("of_session, of_call, name", [
    ({"patience": 2}, {}, "patience"), ({"best": "loss"}, {}, "best"), ({}, {"val": 0.2}, "val")])
def test_what_is_of_rows_is_refused(batches, of_session, of_call, name):
    with pytest.raises(lethe.Error, match=f"^{name}: is of a run on rows"):
        lethe.Session("lenet", **OPTIONS, **of_session).train(iter(batches), **of_call)


def test_what_saves_on_is_refused(batches, digits, tmp_path):
    lethe.Session("lenet", save=tmp_path / "a", **OPTIONS).train(digits, steps=1)
    with pytest.raises(lethe.Error, match="^resume: batches as they come"):
        lethe.Session(resume=tmp_path / "a").train(iter(batches), steps=3)


@pytest.mark.parametrize("label", [3, numpy.int32(3), numpy.array(3)])
def test_items_are_no_batches(batches, label):
    with pytest.raises(lethe.Error, match="data: gives items, not batches") as raised:
        lethe.Session("lenet", **OPTIONS).train(iter([(batches[0][0][0], label)]))
    assert raised.value.code == 4

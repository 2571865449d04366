"""What cannot be is refused in one line that names it as Python does."""
import pickle

import numpy
import pytest

import lethe

X, Y = numpy.zeros((4, 1, 28, 28), "f4"), numpy.zeros(4, "i4")


@pytest.mark.parametrize("options, code, line", [
    ({"btach": 3}, 2, "unknown option btach; did you mean 'batch'?; lethe.options() lists all"),
    ({"batch": 0}, 2, "batch: must be at least 1, not 0"),
    ({"zero": 1}, 2, "zero: one process has nobody to share with"),
    ({"quiet": True}, 2, 'quiet: the logger "lethe" says what is shown'),
    ({"timeout": 3}, 2, "timeout: is of ranks"),
    ({"memory_budget": True}, 2, "memory_budget: takes a value, not True"),
    ({"help": True}, 2, "lethe.options() lists all"),
    ({"data": "mnist:/nowhere"}, 4, "/nowhere"),
    ({"resume": "/nowhere"}, 4, "/nowhere"),
    ({"memory_budget": "1KiB"}, 3, "more than the memory budget of 1024"),
    ({"device": "cuda:77"}, 6, "cuda"),
])
def test_options(options, code, line):
    with pytest.raises(lethe.Error) as raised:
        lethe.Session("lenet", batch=options.pop("batch", 4), **options).train_step((X, Y))
    assert raised.value.code == code and line in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("batch, line", [
    ((X,), "given 1 arrays, the network takes 2: image, label"),
    ({"image": X}, "no array for the input 'label'"),
    ({"image": X, "label": Y, "lable": Y}, "'lable' is no input of lenet; did you mean 'label'?"),
    ((X[:3], Y), "label: has 4 rows, image has 3"),
    ((X[:3], Y[:3]), "image: has 3 rows, a batch has 4"),
    ((X.transpose(0, 2, 3, 1)[:, :, :27], Y), "image: has rows of [28,27,1], the input 'image' takes [1,28,28]"),
    ((X, Y + 10), "label: row 0 has label 10, the network tells 10 classes apart, from 0 on"),
    ((X, Y + 0.5), "label: row 0 has 0.5, which i32 has no number for"),
    ((X.astype("c8"), Y), "image: its elements are neither floats nor whole numbers"),
    ((object(), Y), "image: is no array of numbers"),
])
def test_batches(batch, line):
    session = lethe.Session("lenet", batch=4)
    with pytest.raises(lethe.Error) as raised:
        session.train_step(batch)
    assert line in str(raised.value) and session.step == 0
    session.train_step((X, Y))


def test_no_data():
    for work in (lethe.Session("lenet").train, lethe.Session("lenet").evaluate):
        with pytest.raises(lethe.Error, match="there is no data"):
            work()
    with pytest.raises(lethe.Error, match="never evaluated"):
        lethe.Session("lenet", batch=4, eval_every=0).evaluate((X, Y))
    with pytest.raises(lethe.Error, match="augment none takes them as they are"):
        lethe.Session("lenet", batch=2, augment="flip").train((X, Y), val=0.5)


def test_what_a_data_set_raises_is_the_cause():
    class Broken:
        def __len__(self):
            return 20

        def __getitem__(self, row):
            raise KeyError("row")

    session = lethe.Session("lenet", batch=4)
    with pytest.raises(lethe.Error, match="KeyError: 'row'") as raised:
        session.train(Broken(), steps=2)
    assert isinstance(raised.value.__cause__, KeyError) and raised.value.code == 4


def test_what_a_listener_raises_ends_the_run():
    def hear(record):
        raise ValueError("enough")

    session = lethe.Session("lenet", batch=1)
    with pytest.raises(ValueError, match="enough"):
        session.train((X, Y), val=0.5, epochs=1000, on_record=hear)
    assert 0 < session.step < 1000


def test_a_complete_run():
    session = lethe.Session("lenet", batch=1, eval_every=0)
    session.train((X, Y), epochs=1)
    with pytest.raises(lethe.Error, match="the run is complete at step 4; more epochs or steps"):
        session.train((X, Y), epochs=1)


def test_states():
    session = lethe.Session("lenet", batch=4)
    state = session.state_dict()
    del state["fc1.weight"]
    state["other"] = numpy.zeros(3, "f4")
    with pytest.raises(lethe.Error, match="fc1.weight") as raised:
        session.load_state_dict(state)
    assert raised.value.code == 4 and "other" in str(raised.value)
    session.load_state_dict(state, fresh="fc1.weight", ignore="other")


def test_a_session_at_work_is_left_alone():
    session = lethe.Session("lenet", batch=1, eval_every=0)
    with pytest.raises(lethe.Error, match="at work already"):
        session.train((X, Y), epochs=1, on_record=lambda record: session.train_step((X[:1], Y[:1])))


@pytest.mark.parametrize("val", [0, 1, -0.5, 1.5])
def test_a_share_that_is_none(val):
    with pytest.raises(lethe.Error, match="val.*eval_every"):
        lethe.Session("lenet", batch=2).train((X, Y), val=val)
    lethe.Session("lenet", batch=2, eval_every=0).train((X, Y), val=val, steps=1)
    lethe.Session("lenet", batch=2).train((X, Y), val=val, steps=1, test=(X, Y))


def test_flags_of_numpy():
    flags = [numpy.bool_(True), numpy.bool_(False)]
    bytes = [lethe.plan("lenet", skip_grads=flag)["bytes"]["peak"] for flag in (*flags, True, False, None)]
    assert bytes[0] == bytes[2] and bytes[1] == bytes[3] == bytes[4]
    with pytest.raises(lethe.Error, match="takes a value"):
        lethe.plan("lenet", batch=numpy.bool_(True))


def test_errors_travel():
    error = pickle.loads(pickle.dumps(lethe.Error("a line", 3)))
    assert (str(error), error.code) == ("a line", 3)

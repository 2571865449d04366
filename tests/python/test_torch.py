"""Weights and data go to PyTorch and back, and both compute in one process."""
import time

import numpy
import pytest
from conftest import same_bits

import lethe

torch = pytest.importorskip("torch", reason="torch is not installed")


class LeNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = torch.nn.Conv2d(1, 6, 5, padding=2), torch.nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.logits = torch.nn.Linear(400, 120), torch.nn.Linear(120, 84), torch.nn.Linear(84, 10)

    def forward(self, x):
        pool = torch.nn.functional.max_pool2d
        x = pool(torch.relu(self.conv2(pool(torch.relu(self.conv1(x)), 2))), 2).flatten(1)
        return self.logits(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


def test_weights_both_ways(digits):
    x, _ = digits
    session, model = lethe.Session("lenet", batch=50), LeNet()
    model.load_state_dict({name: torch.from_numpy(value) for name, value in session.state_dict().items()})
    with torch.no_grad():
        assert numpy.allclose(model(torch.from_numpy(x)).numpy(), session.predict(x), atol=1e-4)
    other = LeNet()
    session.load_state_dict(other.state_dict())
    assert same_bits(session.state_dict(), {name: value.numpy() for name, value in other.state_dict().items()})
    with torch.no_grad():
        assert numpy.allclose(other(torch.from_numpy(x)).numpy(), session.predict(x), atol=1e-4)


def test_what_counts_batches_is_passed_over():
    session = lethe.Session("resnet20", batch=2)
    state = {name: torch.from_numpy(value) for name, value in session.state_dict().items()}
    norm = next(name for name in state if name.endswith("running_mean"))
    state[norm.replace("running_mean", "num_batches_tracked")] = torch.tensor(3)
    session.load_state_dict(state)


def test_tensors_and_data_loaders(digits):
    x, y = digits
    data = torch.utils.data.TensorDataset(torch.from_numpy(x), torch.from_numpy(y).long())
    options = {"batch": 50, "schedule": "constant"}
    states = []
    for given in (data, (x, y), torch.utils.data.DataLoader(data, batch_size=50)):
        session = lethe.Session("lenet", eval_every=0, **options)
        session.train(given, epochs=1)
        states.append(session.state_dict())
    assert same_bits(states[0], states[1]) and session.step == 4
    half = lethe.Session("lenet", dtype="bf16", **options)
    half.train_step((torch.from_numpy(x[:50]).bfloat16(), y[:50]))
    plain = lethe.Session("lenet", dtype="bf16", **options)
    plain.train_step((x[:50], y[:50]))
    assert same_bits(half.state_dict(), plain.state_dict())


def test_beside_each_other(digits):
    """In turns, neither waits long for the other's workers: bench/beside_torch.py measures how long, this finds that they
    hold each other up."""
    x, y = digits
    session, model = lethe.Session("lenet", batch=50), LeNet()
    images = torch.from_numpy(x[:50])

    def seconds(*works):
        best = [float("inf")] * len(works)
        for _ in range(30):
            for i, work in enumerate(works):
                begin = time.perf_counter()
                work()
                best[i] = min(best[i], time.perf_counter() - begin)
        return best

    def step():
        session.train_step((x[:50], y[:50]))

    def infer():
        model(images).sum().backward()

    (ours,), (theirs,) = seconds(step), seconds(infer)
    ours_beside, theirs_beside = seconds(step, infer)
    assert ours_beside < 3 * ours + 0.05 and theirs_beside < 3 * theirs + 0.05

#!/usr/bin/env python3
"""Level 3's ladder beside the best that is known and beside bounds, none of which shares code with it.

    bench/optimum.py [--train TRAIN] [--python PYTHON] [--seconds 20] [--anneal 2e7] ["resnet20 8" "vit 8 layers=2"...]

bench_tape, beside TRAIN, prints what level 3 knows of a program, and its ladder. Every rung is run once more by the
simulator here, which has to agree to the byte. For shares of the peak with all kept the cheapest rung stands beside
much more annealing, and, where PYTHON has highspy, beside what HiGHS makes of an integer program in so many seconds
(after Checkmate, Jain et al., MLSys 2020): its best schedule, run by the simulator, and its bound. A schedule may
repeat forward ops right before an op of backward for which they are needed, any value for any reader. The bound of a
large program is that of the relaxation. Costs are shares of a step. Last come orders: the most bytes alive at once in
the best of level 2's orders, the fewest in any order of the same ops, and whether the search came to its end."""
import functools
import json
import math
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import peers
from schedules import Schedules
from simulator import Orders, Simulator
from tables import MIB, Table

NETWORKS = ("unet 8", "resnet20 8", "mlp_mixer 8", "bert 4", "transformer 4", "gpt2 2 layers=2,length=128,vocab=512",
            "vgg16 8", "googlenet 8", "vit 8", "resnet50 8")
SHARES = (0.75, 0.5, 1 / 3, 0.25, 0.2)
POINTS, RATIO = 0.3, 1.15  # goals: above the best known, down to a third of the peak, and below


def solved(file, share, seconds, start):
    """Bound, seconds of the best schedule that keeps the share, as shares of a step in percent, None if there is none;
    run where highspy is. `start`: policies to begin with."""
    with open(file) as opened:
        said = json.load(opened)
    sim, peak = Simulator(said["tape"]), said["ladder"][0]["peak"]
    program = Schedules(sim, int(share * peak), peak)
    bound, steps = program.solve(seconds, start and program.known(sim.steps(start)))
    ran = steps and sim.run(steps)
    found = 100 * ran.seconds / sim.seconds if ran and ran.peak <= int(share * peak) else None
    return {"bound": "none fits" if bound == math.inf else bound, "found": found}


def studied(args, has_solver, network):
    """Rows of the two tables."""
    name, batch, *sets = network.split()
    more = ["--set", sets[0]] if sets else []
    said = peers.result([peers.beside(args.train, "bench_tape"), name, batch, *more, "--anneal", args.anneal,
                         "--shares", ",".join(map(str, SHARES))])
    sim, peak, rows = Simulator(said["tape"]), said["ladder"][0]["peak"], []
    for rung in said["ladder"]:
        ran = sim.run(sim.steps(rung["choice"]))
        if ran.peak != rung["peak"] or not math.isclose(ran.seconds, rung["seconds"], rel_tol=1e-9, abs_tol=1e-12):
            raise peers.Failed(f"{network}: a rung is {rung}, and {ran.peak} bytes, {ran.seconds} s by the simulator", 1)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"tape": said["tape"], "ladder": said["ladder"][:1]}, file)
        file.flush()
        for share, annealed in zip(SHARES, said["annealed"]):
            if int(share * peak) < said["least_peak"]:
                break
            fits = [rung for rung in said["ladder"] if rung["peak"] <= int(share * peak)]
            price = lambda rung: 100 * rung["seconds"] / sim.seconds
            best = {"annealing": price(annealed)} if annealed else {}
            found = {"bound": None, "found": None}
            if has_solver:
                found = peers.peer(args.python, solved, file.name, share, args.seconds, annealed and annealed["choice"])
            if found["found"] is not None:
                best["HiGHS"] = found["found"]
            rows.append(SimpleNamespace(network=network, share=share, ours=price(fits[0]) if fits else None, best=best,
                                        bound=found["bound"]))
            if found["bound"] == "none fits":
                break
    peaks = [Simulator(tape).run([(i, "first") for i in range(len(tape["ops"]))]).peak for tape in said["orders"]]
    ours = min(peaks)
    orders = Orders(said["orders"][peaks.index(ours)])
    lowest, is_closed = orders.best(ours)
    order = SimpleNamespace(network=network, ours=ours, best=lowest, is_closed=is_closed, states=orders.states)
    return SimpleNamespace(rows=rows, order=order, rungs=len(said["ladder"]))


def show(table, row, missed):
    """Prints a row, and counts it among those that miss the first goal or the second."""
    by, best = min(row.best.items(), key=lambda item: item[1], default=("", None))
    if row.ours is not None and (best is None or row.ours <= best + 5e-3):
        by, best = "ours", row.ours
    above = row.ours - best if row.ours is not None else None
    table.row(row.network, row.share, "none" if row.ours is None and best is not None else row.ours, best, by, row.bound,
              above, row.ours / best if above is not None and best else None)
    if best is not None:
        is_tight = row.share < 1 / 3
        missed[is_tight] += row.ours is None or (row.ours > RATIO * best if is_tight else above > POINTS)


def main():
    parser = peers.parser(__doc__, python=True, seconds=20.0, anneal=2e7)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    args = parser.parse_args()
    has_solver = subprocess.run([args.python, "-c", "import highspy"], stderr=subprocess.DEVNULL).returncode == 0
    if not has_solver:
        print("optimum: no bounds: the interpreter has no highspy", file=sys.stderr)
    table = Table("network, batch", ("share of the peak", "{:.2f}"), ("ours, %", "{:.2f}"), ("best known, %", "{:.2f}"),
                  "by", ("bound, %", "{:.2f}"), ("points above", "{:.2f}"), ("ratio", "{:.2f}"))
    missed, studies = [0, 0, 0], []
    with ThreadPoolExecutor(peers.THREADS) as pool:
        for study in pool.map(functools.partial(studied, args, has_solver), args.networks):
            studies.append(study)
            for row in study.rows:
                show(table, row, missed)
    print()
    table = Table("network, batch", ("level 2's order, MiB", "{:.2f}"), ("best order, MiB", "{:.2f}"),
                  ("less, %", "{:.2f}"), "search ended", ("states", "{:,}"))
    for order in (study.order for study in studies):
        table.row(order.network, order.ours / MIB, order.best / MIB, 100 * (1 - order.best / order.ours),
                  "yes" if order.is_closed else "no", order.states)
        missed[2] += order.is_closed and order.best < order.ours
    print(f"\nThe simulator agrees on all {sum(study.rungs for study in studies)} rungs.")
    goals = (f"at most {POINTS} points above the best known down to a third of the peak",
             f"at most {RATIO} times the best known below", "no better order where the search ends")
    print("; ".join(f"{goal}: {f'{count} missed' if count else 'holds'}" for goal, count in zip(goals, missed)))


if __name__ == "__main__":
    peers.start(main)

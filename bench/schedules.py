"""An integer program for HiGHS (highspy): the cheapest schedule that keeps a budget, after Checkmate (Jain et al.,
MLSys 2020). Its optimum is a bound for all that level 3 may do."""
import itertools
import math

MOST_WHOLE = 30_000  # variables of a program that is solved in whole numbers
RELAXED = 3  # times as long a larger one may take, whose numbers need not be whole


class Schedules:
    """Its stages are the ops of backward that read what may be repeated; before each of them what it needs is repeated,
    in the order of the ops. Variables: which values are kept up to each stage, which ops run once more in it, and what
    follows from these. Every rung of a ladder is a solution, of the same cost, within a budget of its peak."""

    def __init__(self, sim, budget, unit):
        self.sim, self.budget, self.unit = sim, budget, unit  # `unit`: bytes that are 1 in the program
        self.cost, self.most, self.whole, self.rows = [], [], [], []
        ops, values, turn = sim.ops, sim.values, sim.turn
        self.first, self.last = {}, {}  # by value: the op that gives it, the last that reads or writes it, all run once
        self.forward = {}  # the last forward op that does
        for i, op in enumerate(ops):
            for v in op["call"]["in"] + op["call"]["out"]:
                if values[v]["bytes"] and not values[v]["given"] and (v in self.first or v in op["call"]["out"]):
                    self.first.setdefault(v, i)
                    self.last[v] = len(ops) if values[v]["lasts"] else i
                    if i < turn:
                        self.forward[v] = i
        self.makes = {v: values[v]["maker"] for alike in sim.candidates for v in alike}
        self.forms = {i: self.forms_of(i) for i in sorted(set(self.makes.values()))}
        small = {v for i in self.forms for v in ops[i]["call"]["out"] if v not in self.makes and not values[v]["lasts"]}
        again = {v for i, forms in self.forms.items() if forms[0]["kind"] == "repeat" for v in ops[i]["call"]["out"]}
        read = {v for forms in self.forms.values() for form in forms for v in form["in"]}
        self.managed = set(self.makes) | {v for v in read - small if v in self.forward and not values[v]["lasts"]}
        self.fixed = [v for v in self.first if v not in self.managed | (small & again)]
        self.stages = [i for i in range(turn, len(ops)) if self.managed & set(ops[i]["call"]["in"])]
        self.needs = [self.needed(t) for t in self.stages]
        self.build()

    def forms_of(self, i):
        """The ways to run op `i` once more."""
        op = self.sim.ops[i]
        out = op["call"]["out"]
        full = {**op["call"], "kind": "repeat", "gives": [v for v in out if v in self.makes]}
        if "again" not in op:
            return [full]
        alone = {**op["again"], "kind": "again", "gives": [v for v in out[:1] if v in self.makes], "joins": []}
        return [form for form in (full, alone)[all(v not in self.makes for v in out[1:]):] if form["gives"]]

    def needed(self, t):
        """What may be repeated for op `t`."""
        wanted, ops = set(self.sim.ops[t]["call"]["in"]), set()
        while more := {self.makes[v] for v in wanted if v in self.makes} - ops:
            ops |= more
            wanted |= {v for i in more for form in self.forms[i] for v in form["in"]}
        return sorted(i for i in ops if self.sim.ops[i]["until"] >= t)

    def var(self, cost=0.0, whole=False, most=1.0):
        self.cost.append(cost)
        self.most.append(most)
        self.whole.append(whole)
        return len(self.cost) - 1

    def at_most(self, bound, *terms):
        """Of (variable, factor), of which a variable that is None is nothing."""
        row = {}
        for var, factor in terms:
            if var is not None:
                row[var] = row.get(var, 0) + factor
        self.rows.append((row, bound))

    def size(self, v):
        return self.sim.values[v]["bytes"] / self.unit

    def fixed_at(self, i, runs):
        """What values without a choice take while op `i` runs, or before its own values and workspace are there."""
        given = sum(v["bytes"] for v in self.sim.values if v["given"]) / self.unit
        alive = sum(self.size(v) for v in self.fixed if self.first[v] < i + runs and self.last[v] >= i)
        return given + alive

    def saved(self, i, call, dying, given):
        """Variables with their bytes, for outputs in the place of inputs: `dying`: what bounds that one dies."""
        terms = []
        for out in {b for _, b in call["in_place"]}:
            if out not in given or self.sim.values[out]["lasts"]:
                continue
            places = [a for a, b in call["in_place"] if b == out and a in self.first and self.size(a) >= self.size(out)]
            spots = []
            for a in places:
                if a not in self.managed:
                    if self.last[a] == i or i < 0:
                        spots.append(self.var())
                elif (bound := dying(a)) is not None:
                    spots.append(self.var())
                    self.at_most(bound[0], (spots[-1], 1), *bound[1:])
            self.at_most(1, *((spot, 1) for spot in spots))
            terms += [(spot, -self.size(out)) for spot in spots]
        return terms

    def build(self):
        sim, ops, turn = self.sim, self.sim.ops, self.sim.turn
        budget = self.budget / self.unit
        self.until = {}  # by value: the last stage that may read it
        for j, t in enumerate(self.stages):
            for v in ops[t]["call"]["in"] + [v for i in self.needs[j] for f in self.forms[i] for v in f["in"]]:
                self.until[v] = j
        self.kept = {(j, v): self.var(whole=True)
                     for v in sorted(self.managed) for j in range(self.until.get(v, -1) + 1)}
        self.runs = {(j, i, n): self.var(form["seconds"] / sim.seconds * 100, whole=True)
                     for j in range(len(self.stages)) for i in self.needs[j] for n, form in enumerate(self.forms[i])}
        made = {}  # by stage and value: the runs that give it
        for (j, i, n), run in self.runs.items():
            for v in self.forms[i][n]["gives"]:
                made.setdefault((j, v), []).append((run, 1))
        self.made = made
        for i in range(turn):
            there = [v for v in self.managed if self.first[v] <= i]
            crossing = sum(self.size(v) for v in there if self.forward[v] >= i)
            kept = [(self.kept.get((0, v)), self.size(v)) for v in there if self.forward[v] < i]

            def dying(v, i=i):
                return (1, (self.kept.get((0, v)), 1)) if self.forward[v] == i else None
            saved = self.saved(i, ops[i]["call"], dying, {v for v in ops[i]["call"]["out"] if self.first.get(v) == i})
            workspace = ops[i]["call"]["workspace"] / self.unit
            self.at_most(budget - self.fixed_at(i, True) - workspace - crossing, *kept, *saved)
        for j, t in enumerate(self.stages):
            before = self.stages[j - 1] + 1 if j else turn
            for i in range(before, t):
                self.plain(i, [(self.kept[s, v], self.size(v)) for s, v in self.kept if s == j], budget)
            self.stage(j, t, budget)
        for i in range(self.stages[-1] + 1, len(ops)):
            self.plain(i, [], budget)
        self.joined()

    def plain(self, i, kept, budget):
        """Op `i` of backward reads nothing that may be repeated."""
        call = self.sim.ops[i]["call"]
        saved = self.saved(i, call, None, {v for v in call["out"] if self.first.get(v) == i})
        self.at_most(budget - self.fixed_at(i, True) - call["workspace"] / self.unit, *kept, *saved)

    def stage(self, j, t, budget):
        ops, own = self.sim.ops, self.sim.ops[t]["call"]
        runs = [(i, n, form) for i in self.needs[j] for n, form in enumerate(self.forms[i])]
        readers, free = {}, {}  # by value: the ops of the stage that read it, or give it; what they free
        for i, _, form in runs:
            for v in form["in"] + form["gives"]:
                if v in self.managed and (not readers.get(v) or readers[v][-1] != i):
                    readers.setdefault(v, []).append(i)
        of_op = {i: [(self.runs[j, i, n], 1) for n in range(len(self.forms[i]))] for i in self.needs[j]}
        for v in {v for s, v in self.kept if s in (j, j + 1)} | set(readers):
            kept, later, made = self.kept.get((j, v)), self.kept.get((j + 1, v)), self.made.get((j, v), [])
            self.at_most(1, (kept, 1), *made)
            if v in own["in"]:
                self.at_most(-1, (kept, -1), *((run, -1) for run, _ in made))
                self.at_most(0, (later, 1), (kept, -1), *((run, -1) for run, _ in made))
                continue
            for i in readers.get(v, []):
                free[v, i] = self.var()
                self.at_most(0, (free[v, i], 1), *((run, -1) for run, _ in of_op[i]))
                for k in readers[v]:
                    if k > i:
                        self.at_most(1, (free[v, i], 1), *of_op[k])
            self.at_most(0, (later, 1), (kept, -1), *((run, -1) for run, _ in made),
                         *((free[v, i], 1) for i in readers.get(v, [])))
        alive = self.var(most=math.inf)  # bytes of what is managed
        self.equal(alive, None, [(self.kept[s, v], self.size(v)) for s, v in self.kept if s == j])
        crossing = self.fixed_at(t, False)
        for i in self.needs[j]:
            given = [(self.runs[j, i, n], self.size(v)) for n, form in enumerate(self.forms[i]) for v in form["gives"]]
            now = self.var(most=math.inf)
            self.equal(now, alive, given)
            for n, form in enumerate(self.forms[i]):
                run = self.runs[j, i, n]
                for v in form["in"]:
                    if v in self.managed:
                        made = ((r, -1) for r, _ in self.made.get((j, v), []))
                        self.at_most(0, (run, 1), (self.kept.get((j, v)), -1), *made)

            def dying(v, i=i):
                return (0, (free[v, i], -1)) if (v, i) in free else None
            saved = [term for form in self.forms[i] for term in self.saved(-1, form, dying, form["gives"])]
            self.at_most(budget - crossing, (now, 1), *saved,
                         *((self.runs[j, i, n], form["workspace"] / self.unit) for n, form in enumerate(self.forms[i])))
            alive = self.var(most=math.inf)
            self.equal(alive, now, [(var, -self.size(v)) for (v, k), var in free.items() if k == i])

        def dying(v):
            return (1, (self.kept.get((j + 1, v)), 1)) if v in own["in"] else None
        saved = self.saved(t, own, dying, {v for v in own["out"] if self.first.get(v) == t})
        self.at_most(budget - self.fixed_at(t, True) - own["workspace"] / self.unit, (alive, 1), *saved)

    def equal(self, var, before, terms):
        for sign in (1, -1):
            self.at_most(0, (var, sign), (before, -sign), *((v, -sign * factor) for v, factor in terms))

    def joined(self):
        """Runs are cheaper whose operand is one that was repeated (TapeCall::joins)."""
        again = {}  # by stage and value: kept, and given by a repeat
        for (j, v), kept in self.kept.items():
            if any(v == u for forms in self.forms.values() for form in forms for u, _ in form["joins"]):
                again[j, v] = self.var()
                self.at_most(0, (again[j, v], 1), (kept, -1))
                self.at_most(0, (again[j, v], 1), (again.get((j - 1, v)), -1),
                             *((run, -1) for run, _ in self.made.get((j - 1, v), [])))
        for (j, i, n), run in self.runs.items():
            form = self.forms[i][n]
            gains = []
            for v, seconds in form["joins"]:
                if v not in self.makes:
                    continue
                gains.append(self.var((seconds - form["seconds"]) / self.sim.seconds * 100))
                made = [(r, -1) for r, _ in self.made.get((j, v), [])]
                self.at_most(0, (gains[-1], 1), (again.get((j, v)), -1), *made)
                for u in set(form["in"]) & set(self.makes) - {v}:  # which must not be made later
                    self.at_most(1, (gains[-1], 1), *self.made.get((j, u), []), *made[:self.makes[u] < self.makes[v]])
            self.at_most(0, (run, -1), *((gain, 1) for gain in gains))

    def known(self, steps):
        """Variables and their values, of a schedule."""
        begins, first, values = [], 0, dict.fromkeys([*self.kept.values(), *self.runs.values()], 0)
        stages = dict(zip(self.stages, range(len(self.stages))))
        pending = []
        for at, (op, kind) in enumerate(steps):
            if kind != "first":
                pending.append((op, kind))
                continue
            if op in stages:
                begins.append(first)
                for i, of in pending:
                    n = next(n for n, form in enumerate(self.forms[i]) if form["kind"] == of)
                    values[self.runs[stages[op], i, n]] = 1
            pending, first = [], at + 1
        for v, born, last in self.sim.run(steps).lives:
            for j, begin in enumerate(begins):
                if born < begin <= last and (j, v) in self.kept:
                    values[self.kept[j, v]] = 1
        return values

    def solve(self, seconds, known=None):
        """The bound in percent, infinite if no schedule keeps the budget, None if there was no time, and the steps of
        the best schedule, if any was found. `known`: one to begin with, as known() has it."""
        import highspy
        import numpy
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.cost), len(self.rows)
        lp.col_cost_ = numpy.array(self.cost)
        lp.col_lower_ = numpy.zeros(len(self.cost))
        lp.col_upper_ = numpy.array(self.most)
        lp.row_lower_ = numpy.full(len(self.rows), -math.inf)
        lp.row_upper_ = numpy.array([bound for _, bound in self.rows], dtype=float)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        starts = [0, *itertools.accumulate(len(row) for row, _ in self.rows)]
        lp.a_matrix_.start_ = numpy.array(starts, dtype=numpy.int32)
        lp.a_matrix_.index_ = numpy.array([var for row, _ in self.rows for var in row], dtype=numpy.int32)
        lp.a_matrix_.value_ = numpy.array([factor for row, _ in self.rows for factor in row.values()], dtype=float)
        is_whole = len(self.cost) <= MOST_WHOLE
        if is_whole:
            lp.integrality_ = [highspy.HighsVarType.kInteger if whole else highspy.HighsVarType.kContinuous
                               for whole in self.whole]
        highs = highspy.Highs()
        for option, value in (("output_flag", False), ("time_limit", float(seconds) * (1 if is_whole else RELAXED)),
                              ("threads", 1), ("mip_rel_gap", 1e-4), ("mip_abs_gap", 1e-3)):
            highs.setOptionValue(option, value)
        highs.passModel(lp)
        if known and is_whole:
            values = numpy.array(list(known.values()), dtype=float)
            highs.setSolution(len(known), numpy.array(list(known), dtype=numpy.int32), values)
        highs.run()
        status, info = highs.getModelStatus(), highs.getInfo()
        if status == highspy.HighsModelStatus.kInfeasible:
            return math.inf, None
        if not is_whole:
            return info.objective_function_value if status == highspy.HighsModelStatus.kOptimal else None, None
        is_found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        return max(info.mip_dual_bound, 0), self.steps(highs.getSolution().col_value) if is_found else None

    def steps(self, solution):
        """The schedule that a solution is."""
        steps = [(i, "first") for i in range(self.stages[0])]
        for j, t in enumerate(self.stages):
            steps += [(i, self.forms[i][n]["kind"]) for i in self.needs[j] for n in range(len(self.forms[i]))
                      if solution[self.runs[j, i, n]] > 0.5]
            steps += [(i, "first") for i in range(t, (self.stages + [len(self.sim.ops)])[j + 1])]
        return steps

"""What a program that trains takes when some of its ops run again, or all in another order: memopt/recompute/replay.h's
words in code that shares nothing with it. Programs are those that bench_tape prints."""
import itertools
from types import SimpleNamespace

KEEP, ONCE, PER_CLUSTER, PER_USE = "0123"
CLOSE = 12  # ops: readers that are no more apart share a value under PER_CLUSTER
MOST_STATES = 50_000  # of a search for an order


class Simulator:
    """Runs a program's ops with some of them repeated: replay.h's words in other code."""

    def __init__(self, tape):
        self.ops, self.values = tape["ops"], tape["values"]
        self.second_pass, self.candidates, self.seconds = tape["second_pass"], tape["candidates"], tape["seconds"]
        self.turn = tape["parts"][0][1]

    def call(self, step):
        op, kind = step
        return self.ops[op]["again" if kind == "again" else "call"]

    def steps(self, policies):
        """(op, "first" | "repeat" | "again") in the order in which they run; `policies`: a digit for each candidate."""
        policy = [KEEP] * len(self.values)
        for digit, alike in zip(policies, self.candidates):
            for v in alike:
                policy[v] = digit
        steps, clock, touched, remade = [], 0, {}, set()

        def is_there(v, reader):
            if reader < self.values[v]["turn"] or policy[v] == KEEP or (policy[v] == ONCE and v in remade):
                return True
            return v in touched and clock - touched[v] <= (CLOSE if policy[v] == PER_CLUSTER else 0)

        def form(op):
            rest = self.ops[op]["call"]["out"][1:]
            return (op, "again" if "again" in self.ops[op] and all(policy[v] == KEEP for v in rest) else "repeat")

        for reader, op in enumerate(self.ops):
            if reader == self.second_pass:
                remade.clear()
            wanted, needed = set(op["call"]["in"]), set()
            while missing := {self.values[v]["maker"] for v in wanted
                              if self.values[v]["maker"] >= 0 and not is_there(v, reader)} - needed:
                needed |= missing
                wanted |= {v for maker in missing for v in self.call(form(maker))["in"]}
            for step in [*map(form, sorted(needed)), (reader, "first")]:
                steps.append(step)
                clock += not self.ops[step[0]]["view"]
                call = self.call(step)
                touched.update(dict.fromkeys(call["in"] + call["out"], clock))
                if step[1] != "first":
                    remade.update(call["out"])
        return steps

    def run(self, steps):
        """The most bytes alive at once, the seconds of what is repeated, and the lives of values."""
        lives, latest, spots, seconds = [], {}, [], 0.0  # a life: value, first step, last step
        for at, step in enumerate(steps):
            call, repeats = self.call(step), step[1] != "first"
            seconds += self.seconds_of(call, latest, lives, steps) if repeats else 0
            for v in call["in"]:
                if v in latest:
                    lives[latest[v]][2] = at
            pairs = [(latest[a], b) for a, b in call["in_place"] if a in latest and (repeats or b not in latest)]
            for v in call["out"]:
                if self.values[v]["given"] or not self.values[v]["bytes"]:
                    continue
                if v in latest and not repeats:
                    lives[latest[v]][2] = at
                else:
                    latest[v] = len(lives)
                    lives.append([v, at, at])
            spots += [(at, a, latest[b]) for a, b in pairs if b in latest]
        change = [0] * (len(steps) + 1)
        for v, first, last in lives:
            change[first] += self.values[v]["bytes"]
            change[len(steps) if self.values[v]["lasts"] else last + 1] -= self.values[v]["bytes"]
        alive = [b + self.call(s)["workspace"] * (not self.ops[s[0]]["view"])
                 for b, s in zip(itertools.accumulate(change), steps)]
        used = set()
        for at, a, b in spots:  # of values where one takes the other's place
            (old, _, last), (new, first, _) = lives[a], lives[b]
            if (used.isdisjoint({("in", a), ("out", b)}) and last == first == at and not self.values[new]["lasts"]
                    and not self.values[old]["lasts"] and self.values[new]["bytes"] <= self.values[old]["bytes"]):
                used |= {("in", a), ("out", b)}
                alive[at] -= self.values[new]["bytes"]
        return SimpleNamespace(peak=max(alive) + sum(v["bytes"] for v in self.values if v["given"]), seconds=seconds,
                               lives=lives)

    @staticmethod
    def seconds_of(call, latest, lives, steps):
        """Less if the operand that was made last is repeated by an op that does this one's work, too."""
        for v, joined in call["joins"]:
            if (v in latest and steps[lives[latest[v]][1]][1] != "first"
                    and all(latest.get(u, -1) <= latest[v] for u in call["in"])):
                return joined
        return call["seconds"]


class Orders:
    """The orders in which the ops of a program may run once each: those in which every value has the same history."""

    def __init__(self, tape):
        self.sim, self.values, self.order = Simulator(tape), tape["values"], None
        self.index = [i for i, op in enumerate(tape["ops"]) if not op["view"]]
        self.ops = [tape["ops"][i]["call"] for i in self.index]
        self.needs, self.then, self.uses = [], [[] for _ in self.ops], {}  # as bits: ops before it, ops of a value
        wrote, read = {}, {}
        for i, op in enumerate(self.ops):
            before = {wrote[v] for v in op["in"] + op["out"] if v in wrote}
            before |= {reader for v in op["out"] for reader in read.get(v, [])}
            self.needs.append(sum(1 << b for b in before))
            for b in before:
                self.then[b].append(i)
            for v in op["in"]:
                read.setdefault(v, []).append(i)
            for v in op["out"]:
                wrote[v], read[v] = i, []
            for v in {*op["in"], *op["out"]}:
                if self.values[v]["bytes"] and not self.values[v]["given"]:
                    self.uses[v] = self.uses.get(v, 0) | 1 << i
        self.all, self.states = (1 << len(self.ops)) - 1, 0
        self.given = sum(v["bytes"] for v in self.values if v["given"])
        self.least = self.given + max(  # what each op needs by itself
            op["workspace"] + sum(self.size(v) for v in {*op["in"], *op["out"]} & set(self.uses))
            - sum(self.size(b) for b in {b for _, b in op["in_place"]}) for op in self.ops)

    def size(self, v):
        return self.values[v]["bytes"]

    def after(self, done, alive, i):
        """The most bytes while op `i` runs after those that are `done`, and the bytes alive then."""
        op, now = self.ops[i], done | 1 << i
        size, used = self.size, set()
        born = [v for v in op["out"] if v in self.uses and not self.uses[v] & done]
        dies = {v for v in {*op["in"], *op["out"]}
                if v in self.uses and not self.uses[v] & ~now and not self.values[v]["lasts"]}
        most = alive + sum(map(size, born)) + op["workspace"]
        for a, b in op["in_place"]:
            if a in dies and b in born and not {a, b} & used and not self.values[b]["lasts"] and size(b) <= size(a):
                used |= {a, b}
                most -= size(b)
        return most, alive + sum(map(size, born)) - sum(map(size, dies))

    def run(self, state, i, limit):
        """The state after op `i` and all that then takes no byte more; None where more than `limit` would be alive."""
        done, alive, path, ready = state
        queue, ready = [i], set(ready)
        while queue:
            i = queue.pop()
            peak, alive = self.after(done, alive, i)
            if peak > limit:
                return None
            done, path = done | 1 << i, (path, i)
            ready.discard(i)
            ready |= {k for k in self.then[i] if not self.needs[k] & ~done}
            for k in sorted(ready):
                peak, then = self.after(done, alive, k)
                if then <= alive and peak <= limit:
                    queue = [k]
                    break
        return done, alive, path, frozenset(ready)

    def below(self, limit):
        """An order that takes at most `limit`, its last op first; None if there is none."""
        start = frozenset(i for i in range(len(self.ops)) if not self.needs[i])
        open_, seen = [(0, self.given, None, start)], set()
        while open_:
            state = open_.pop()
            if state[0] == self.all:
                return state[2]
            self.states += 1
            if self.states > MOST_STATES:
                raise TimeoutError
            tried = [made for i in state[3] if (made := self.run(state, i, limit)) and made[0] not in seen]
            if safe := [made for made in tried if made[1] <= state[1]]:  # alone nothing is lost by it, in a row next to never
                tried = safe[:1]
            seen |= {made[0] for made in tried}
            open_ += sorted(tried, key=lambda made: -made[1])
        return None

    def best(self, peak):
        """The lowest peak that is found below this one, as the simulator has it, and whether there is none lower."""
        try:
            while peak > self.least and (path := self.below(peak - 1)):
                order = []
                while path:
                    path, i = path
                    order.append((self.index[i], "first"))
                peak, self.order = self.sim.run(order[::-1]).peak, order[::-1]
            return peak, True
        except TimeoutError:
            return peak, False

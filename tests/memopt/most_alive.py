#!/usr/bin/env python3
"""The most bytes that the values of a program take at once if each is held from its first use to its last: another
answer to what the planner calls the lower bound, by counting references in the program's JSON form and nothing else.

    train show --model resnet20 --format json | tests/memopt/most_alive.py [NAME...]

Named values are kept to the end, as inputs are. Parameters, states and workspaces are not counted; nothing is in place.
"""
import collections
import json
import sys

VIEWS = ("reshape", "flatten", "slice_view")


class Simulation:
    def __init__(self, program, kept):
        self.vars = {var["name"]: var for var in program["vars"]}
        self.blocks = program["blocks"]
        inside = {}  # what each view lies in
        for block in self.blocks:
            for op in block["ops"]:
                if op["type"] in VIEWS:
                    inside[op["out"][0]] = op["in"][0]
                if op["type"] == "concat_view":
                    inside.update({part: op["out"][0] for part in op["in"]})
        self.root = {}
        for name in self.vars:
            root = name
            while root in inside:
                root = inside[root]
            self.root[name] = root
        self.uses = collections.Counter()  # that are still to come
        self.alive = self.most = 0
        self.held = set()
        inputs = [name for name in self.vars if self.vars[name]["kind"] == "input"]
        self.uses.update(self.counted(inputs + kept))  # one use that never ends

    def counted(self, names):
        roots = [self.root[name] for name in names if name is not None]
        return [root for root in roots if self.vars[root]["kind"] in ("input", "temp")]

    def take(self, names):
        for root in self.counted(names):
            if root not in self.held:
                self.held.add(root)
                self.alive += self.vars[root]["bytes"]
        self.most = max(self.most, self.alive)

    def drop(self, names):
        for root in self.counted(names):
            self.uses[root] -= 1
            if self.uses[root] == 0:
                self.held.remove(root)
                self.alive -= self.vars[root]["bytes"]

    def uses_of(self, index):
        """(True, names) where a block's ops begin to hold these, (False, names) where they let go, in their order."""
        for op in self.blocks[index]["ops"]:
            carried = len(self.blocks[op["blocks"][1]]["results"]) if op["type"] == "while" else 0
            begun, throughout = op["in"][:carried], op["in"][carried:] + op["out"]
            yield True, throughout
            yield True, begun
            yield False, begun
            for body in op["blocks"]:
                yield from self.uses_of(body)
                yield True, self.blocks[body]["results"]
                yield False, self.blocks[body]["results"]
            yield False, throughout

    def run(self):
        for begins, names in self.uses_of(0):
            if begins:
                self.uses.update(self.counted(names))
        self.take([name for name in self.vars if self.vars[name]["kind"] == "input"])
        for begins, names in self.uses_of(0):
            (self.take if begins else self.drop)(names)
        return self.most


if __name__ == "__main__":
    print(Simulation(json.load(sys.stdin), sys.argv[1:]).run())

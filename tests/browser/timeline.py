"""The page of `train timeline` against what other commands say of the same network.

`train plan --csv` gives where the arena holds what, `train show` the ops in the order in which they run, and `train plan`
the bytes of each setting: none of them goes through the page's own data.
"""
import csv
import json
import os
import subprocess
import tempfile

STEPS_OF_KEYS = ("Home", "ArrowRight", "ArrowRight", "End", "ArrowLeft")
LEAST = 3  # pixels of a rectangle's side that a pointer can be sure to hit

FACTS = """Object.fromEntries([...document.querySelectorAll("#value dt")].map((e) => [e.innerText, e.nextElementSibling.innerText]))"""
TABLE = """[...document.querySelectorAll("#legend tr")].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"""
SWATCHES = """[...document.querySelectorAll("#legend tbody .swatch:not(.idle)")].map((e) => getComputedStyle(e).backgroundColor)"""


class Plan:
    """What the program says of a network's training at `--memopt level=2`, by other commands than timeline."""

    def __init__(self, train, network):
        def say(*words):
            ran = subprocess.run([train, *words, "--threads", "1"], capture_output=True, text=True, check=True)
            return ran.stdout

        program = json.loads(say("show", *network, "--memopt", "level=2", "--format", "json"))
        self.bytes_of = {var["name"]: var["bytes"] for var in program["vars"]}
        self.ops = program["blocks"][0]["ops"]
        self.ops_of_none = len(json.loads(say("show", *network, "--memopt", "none", "--format", "json"))["blocks"][0]["ops"])
        plan = ("plan", *network, "--eval-every", "0")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "arena.csv")
            table = say(*plan, "--csv", file).split("\n\n")[1]
            with open(file, newline="") as rows:
                self.arena = [dict(row, **{k: int(row[k]) for k in ("lower", "upper", "size", "offset")})
                              for row in csv.DictReader(rows)]
        self.categories = {line[:28].strip(): line[28:].split() for line in table.splitlines()[1:]}
        self.totals = {memopt: json.loads(say(*plan, "--json", "--memopt", memopt))["bytes"]["peak"]
                       for memopt in ("none", "level=1", "level=2")}

    def op_text(self, step):
        op = self.ops[step]
        made = f" for {op['out'][0]}" if op["out"] else ""
        return f"op {step + 1} of {len(self.ops)}, {op['type']}{made}"

    def name_of(self, row):
        workspace = "workspace of op "
        if not row["id"].startswith(workspace):
            return row["id"]
        return "workspace of " + self.ops[int(row["id"][len(workspace):])]["type"]

    def alive(self, step):
        """Offsets of what is in the arena while that op runs, from below."""
        return sorted(row["offset"] for row in self.arena if row["lower"] <= step < row["upper"])


def amount(count):
    unit, name = (1024 ** 2, "MiB") if count >= 1024 ** 2 / 10 else (1024, "KiB") if count >= 1024 else (1, "B")
    return f"{count / unit:.{0 if unit == 1 else 1}f} {name}"


def offset_shown(facts):
    if "bytes" not in facts:
        return None  # no value is chosen
    return int(facts["bytes"].split(" from ")[1].split(" ")[0].replace(",", ""))


def place_on(page, canvas, step, byte):
    """Where the middle of an op and a byte are in the window."""
    page.value(f"{canvas}.scrollIntoView({{block: 'center'}})")
    return page.value(f"(({{left, top}}, f) => [left + f.x({step} + .5), top + f.y({byte})])({canvas}.getBoundingClientRect(), {canvas}.frame)")


def hold_the_plan(plan):
    """Checks for the pages of that plan's network."""

    def charts_have_the_plans_bytes(page, expect):
        captions = page.value("[...document.querySelectorAll('figcaption')].map((e) => e.innerText)")
        for caption, (memopt, total) in zip(captions, plan.totals.items(), strict=True):
            expect(caption.startswith(memopt) and amount(total) in caption, f"{memopt} takes {amount(total)}, the page says {caption!r}")
        head, *rows = page.value(TABLE)
        expect(head[0] == "at the peak, MiB", f"the table is of '{head[0]}'")
        columns = [(head.index(name), k) for k, name in enumerate(("none", "level=0", "level=1", "level=2")) if name in head]
        expect(len(columns) == 3, f"the table has the settings {head[1:]}")
        names = {"held, not in use": "held, not needed", "total": "held"}
        planned = {names.get(name, name): figures for name, figures in plan.categories.items() if name != "evaluation's own"}
        expect([row[0] for row in rows] == list(planned), f"the table has {[row[0] for row in rows]}, the plan {list(planned)}")
        for name, *shown in rows:
            for here, there in columns:
                figure = {"–": "0", "< 0.01": "0.00"}.get(shown[here - 1], shown[here - 1])
                close = name in planned and abs(float(figure) - float(planned[name][there])) < .051
                expect(close, f"{name}, {head[here]}: {figure}, planned are {planned.get(name)}")
        colours = page.value(SWATCHES)
        opaque = {colour for colour in colours if colour.startswith("rgb(")}
        expect(len(opaque) == len(rows) - 2, f"{len(rows) - 2} categories have the colours {colours}")

    def pointer_shows_the_plans_values(page, expect, hit=None):
        hits = 0
        frame = page.value("(({left, right, top, bottom, steps, bytes}) => ({left, right, top, bottom, steps, bytes}))(map.frame)")
        expect(frame["steps"] == len(plan.ops), f"the map has {frame['steps']} ops, not {len(plan.ops)}")
        byte = frame["bytes"] / (frame["bottom"] - frame["top"])  # bytes a pixel
        for row in plan.arena:
            wide = (row["upper"] - row["lower"]) * (frame["right"] - frame["left"]) / frame["steps"]
            if wide < LEAST or row["size"] / byte < LEAST:
                continue
            hits += 1
            for step in (row["lower"], row["upper"] - 1):
                (hit or page.point)(*place_on(page, "map", step, row["offset"] + byte * LEAST / 2))
                facts = page.value(FACTS)
                expect(offset_shown(facts) == row["offset"], f"at op {step} of {row['id']}, which lies at {row['offset']}: {facts}")
                if step == row["lower"]:
                    expect(facts.get("value") == plan.name_of(row), f"{row['id']} is shown as {facts}")
                    expect(facts.get("born") == plan.op_text(step), f"{row['id']} is born at {plan.op_text(step)}, shown is {facts}")
                    own = plan.bytes_of.get(row["id"], row["size"])
                    expect(facts.get("bytes", "").startswith(f"{own:,} ("), f"{row['id']} has {own} bytes, shown is {facts}")
                if step == row["upper"] - 1:
                    last = "kept to the end" if row["upper"] == len(plan.ops) else plan.op_text(step)
                    expect(facts.get("last used") == last, f"{row['id']} is last used: {last}; shown is {facts}")
        expect(hits >= 8, f"only {hits} values could be pointed at")

    def finger_shows_the_plans_values(page, expect):
        page.resize(360)
        page.settle()
        page.call("Emulation.setTouchEmulationEnabled", enabled=True)
        pointer_shows_the_plans_values(page, expect, page.tap)
        page.call("Emulation.setTouchEmulationEnabled", enabled=False)
        page.resize(1600)
        page.settle()

    def keys_show_the_plans_values(page, expect):
        page.value("map.focus()")
        page.press("Escape")
        step = 0
        for key in STEPS_OF_KEYS:
            page.press(key)
            step = {"Home": 0, "End": len(plan.ops) - 1, "ArrowRight": step + 1, "ArrowLeft": step - 1}[key]
            moment = page.value("document.getElementById('moment').innerText")
            expect(moment == "level=2: " + plan.op_text(step), f"after {key} the page is at {moment!r}, not {plan.op_text(step)}")
        for key, offsets in (("ArrowUp", plan.alive(step)), ("ArrowDown", plan.alive(step)[-2::-1])):
            for offset in offsets:
                page.press(key)
                facts = page.value(FACTS)
                expect(offset_shown(facts) == offset, f"after {key} at op {step} the value at {offset} is not shown: {facts}")

    def keys_on_a_chart_choose_its_setting(page, expect):
        page.value("document.querySelector('#charts canvas').focus()")
        page.press("Escape")
        page.press("ArrowRight")
        page.press("ArrowLeft")
        page.press("Home")
        expect(page.value("document.getElementById('moment').innerText").startswith("level=2: op 1 of "),
               "keys on a chart move the chosen op")
        x, y = place_on(page, "document.querySelector('#charts canvas')", 1, 0)
        page.point(x, y - 2)
        moment = page.value("document.getElementById('moment').innerText")
        expect(moment.startswith(f"none: op 2 of {plan.ops_of_none}, "), f"pointing at the chart of none shows {moment!r}")
        page.value("document.getElementById('reset').click()")
        expect(page.value(TABLE)[0][0] == "at the peak, MiB", "the button does not lead back to the peaks")

    return [charts_have_the_plans_bytes, pointer_shows_the_plans_values, finger_shows_the_plans_values,
            keys_show_the_plans_values, keys_on_a_chart_choose_its_setting]

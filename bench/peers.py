"""How measurements run programs, ours and peers': each in a process of its own, in turns where they are compared."""
import argparse
import inspect
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
THREADS = 2
SKIPPED = 2  # of the steps of a process: these warm up
HELP = {"rounds": "of processes that take turns", "steps": "of a process"}


def parser(doc, python=False, **counts):
    """Of a measurement: --train, --python if it has a peer, and those of --rounds, --steps and the like that it takes."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--train", default="build/release/bin/train", help="our program, beside which the others are found")
    if python:
        made.add_argument("--python", default=sys.executable, help="the interpreter that has the peer (default: this one)")
    for name, absent in counts.items():
        made.add_argument("--" + name, type=type(absent), default=absent, help=HELP.get(name))
    return made


def beside(train, name):
    """Another program of the build, or of the bundle, that `train` belongs to."""
    here = Path(train).parent / name
    return str(here if here.exists() else here.parent.parent / "bench" / name)


class Failed(Exception):
    """In one line, why a process gave no result; `code`: its exit code, None if its time ran out; `cpu`: as of run."""

    def __init__(self, line, code, cpu=0.0):
        super().__init__(line)
        self.code, self.cpu = code, cpu


def run(command, limit=None, **environment):
    """What a process printed, its seconds, those of processors, and the peak of its memory in bytes. It may take `limit`
    seconds."""
    command, begin = [str(word) for word in command], time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            process = subprocess.Popen(command, stdout=out, stderr=err, env={**os.environ, **environment})
        except OSError as error:
            raise Failed(f"{command[0]}: {error.strerror}", 127) from error
        timer = threading.Timer(limit or 0, process.kill)
        if limit:
            timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode, seconds = os.waitstatus_to_exitcode(status), time.monotonic() - begin
        out.seek(0), err.seek(0)
        ran = SimpleNamespace(out=out.read(), err=err.read(), seconds=seconds,
                              cpu=usage.ru_utime + usage.ru_stime, peak=usage.ru_maxrss * 1024)
    if limit and process.returncode < 0 and seconds >= limit:
        raise Failed(f"not done in {limit:.0f} s", None)
    if process.returncode != 0:
        said = ran.err.strip().splitlines()
        raise Failed(f"{command[0]}: {said[-1] if said else f'exit code {process.returncode}'}", process.returncode, ran.cpu)
    return ran


def result(command, **how):
    """The object that a process prints in the end, with the peak of its memory as `process_bytes`."""
    ran = run(command, **how)
    begin = re.search(r"^\{", ran.out, re.MULTILINE)
    if not begin:
        raise Failed(f"{command[0]}: prints no object", 0)
    return {**json.loads(ran.out[begin.start():]), "process_bytes": ran.peak}


def peer(python, function, *arguments, **how):
    """The object that a function of a measurement gives in a process of `python`, where it may import what we lack."""
    return result(peer_command(python, function, *arguments), **how)


def peer_command(python, function, *arguments):
    module = Path(inspect.getfile(function)).stem
    call = (f"import json, sys; sys.path.insert(0, {str(HERE)!r}); import {module}; "
            f"print(json.dumps({module}.{function.__name__}(*json.loads(sys.argv[1]))))")
    return [python, "-c", call, json.dumps(arguments)]


def in_turns(rounds, sides, ours=("ours",)):
    """What functions give, by name, one after the other in each round. Ours may not fail; another gives None, and a line."""
    def one(name, side):
        try:
            return side()
        except Failed as failed:
            if name in ours:
                raise
            print(f"{name}: {failed}", file=sys.stderr)
    return [{name: one(name, side) for name, side in sides.items()} for _ in range(rounds)]


def start(main):
    """Runs a measurement; its result is the exit code."""
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"{Path(sys.argv[0]).name}: {failed}")


def plan(train, network, *more, evaluates=False):
    """What `train plan` says of a training step, or of an evaluation."""
    mode = ["--eval"] if evaluates else ["--eval-every", 0]
    return result([train, "plan", "--model", network, *mode, "--threads", THREADS, "--json", *more])


def zoo(train):
    """The names of the networks that come with the program."""
    try:
        said = run([train, "plan", "--model", "?"]).out
    except Failed as failed:
        said = str(failed)
    if "known: " not in said:
        raise Failed(said, 1)
    return said.split("known: ")[1].split(", or ")[0].split(", ")


def sets(settings):
    """--set K=V of each."""
    return [word for setting in settings for word in ("--set", setting)]


def median_ms(result):
    return 1000 * statistics.median(result["seconds"][SKIPPED:])


def spread(ratios):
    """Their median, with the least and the largest."""
    return f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f}-{max(ratios):.2f})"


def processor():
    """Its name and what it multiplies with."""
    with open("/proc/cpuinfo") as file:
        facts = {key.strip(): value for key, value in (line.split(":", 1) for line in file if ":" in line)}
    flags = facts.get("flags", "").split()
    units = [name for flag, name in (("amx_tile", "AMX"), ("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags]
    return f"{facts.get('model name', platform.processor()).strip()} with {units[0] if units else 'no vector units'}"

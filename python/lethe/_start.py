"""What comes before the module is loaded: a processor that it runs on, and workers that soon go to sleep."""

import importlib
import os
import pathlib
import platform
import sys

# x86-64-v3, by the names that Linux has for it; abm is lzcnt.
NEEDED = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}


def check_processor(cpuinfo="/proc/cpuinfo"):
    """An instruction that the processor lacks would end the process without a word."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return
    try:
        lines = pathlib.Path(cpuinfo).read_text().splitlines()
    except OSError:
        return
    flags = next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), None)
    missing = sorted(NEEDED - flags) if flags is not None else []
    if missing:
        raise ImportError("lethe needs a processor of x86-64-v3 (Haswell, Zen or later); this one lacks " + ", ".join(missing))


def load_core():
    """GNU's OpenMP reads as it is loaded how long workers spin while they wait: a tenth of a millisecond, so that they
    do not hold processors that another library's workers need. What the user says of waiting stays."""
    said = "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ
    if not said:
        os.environ["GOMP_SPINCOUNT"] = "5000"
    try:
        core = importlib.import_module("lethe._core")
    finally:
        if not said:
            del os.environ["GOMP_SPINCOUNT"]
    core.look_for_models_in(str(pathlib.Path(__file__).parent / "models"))
    return core

"""What comes before the module is loaded: a processor that it runs on, the best of the modules that were compiled for
several levels of x86-64, and workers that soon go to sleep."""

import importlib.util
import os
import pathlib
import platform
import sys

# By the names that Linux has for what they need; abm is lzcnt.
V3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS = {"avx512-bf16": V4 | {"avx512_bf16", "avx512_vnni"}, "x86-64-v4": V4, "x86-64-v3": V3}
HERE = pathlib.Path(__file__).parent


def features(cpuinfo="/proc/cpuinfo"):
    """What the processor has; None if nothing says it, or if it is no x86-64."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return None
    try:
        lines = pathlib.Path(cpuinfo).read_text().splitlines()
    except OSError:
        return None
    return next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), None)


def check_processor(has):
    """An instruction that the processor lacks would end the process without a word."""
    missing = [] if has is None else sorted(V3 - has)
    if missing:
        raise ImportError("lethe needs a processor of x86-64-v3 (Haswell, Zen or later); this one lacks "
                          + ", ".join(missing))


def module_file(has, folder=HERE, wanted=os.environ.get("LETHE_LEVEL")):
    """That of the best level that the processor has, or of the one that is wanted. In the package's own folder is the
    first's, which may be the only one."""
    if wanted and not (wanted in LEVELS and has is not None and LEVELS[wanted] <= has):
        raise ImportError(f"LETHE_LEVEL={wanted}: no such level, or not one that this processor runs; levels: "
                          + ", ".join(LEVELS))
    files = {level: min((folder / level).glob("_core*.so"), default=None) for level in LEVELS}
    if any(files.values()):
        files["x86-64-v3"] = min(folder.glob("_core*.so"))
    if wanted and not files[wanted]:
        raise ImportError(f"LETHE_LEVEL={wanted}: this package was built without it; levels: "
                          + (", ".join(level for level in LEVELS if files[level]) or "none"))
    levels = [wanted] if wanted else [level for level in LEVELS if has is not None and LEVELS[level] <= has]
    return next((files[level] for level in levels if files[level]), None) or min(folder.glob("_core*.so"))


def load_core(has):
    """GNU's OpenMP reads as it is loaded how long workers spin while they wait: a tenth of a millisecond, so that they
    do not hold processors that another library's workers need. What the user says of waiting stays."""
    said = "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ
    if not said:
        os.environ["GOMP_SPINCOUNT"] = "5000"
    try:
        spec = importlib.util.spec_from_file_location("lethe._core", module_file(has))
        core = importlib.util.module_from_spec(spec)
        sys.modules["lethe._core"] = core
        spec.loader.exec_module(core)
    finally:
        if not said:
            del os.environ["GOMP_SPINCOUNT"]
    core.look_for_models_in(str(HERE / "models"))
    return core

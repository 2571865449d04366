"""What comes with the package."""
import ast
import importlib.metadata
import pathlib
import re

import pytest

import lethe
from lethe import _options, _start


def test_version_zoo_and_options():
    assert lethe.__version__ == importlib.metadata.version("lethe")
    assert {"lenet", "resnet20", "gpt2"} <= set(lethe.zoo())
    assert "level=3" in lethe.options()["memory_budget"]


def test_keywords_for_checkers_are_the_options():
    assert set(_options.Options.__annotations__) == set(lethe.options()) - {"model"}, "scripts/python_options.py writes them"


def test_advice_comes_as_keywords():
    advice = lethe.advise("lenet", batch=64, memory_budget="2200KiB")
    assert advice and all(change["bytes"] < lethe.plan("lenet", batch=64)["bytes"]["peak"] for change in advice)
    change = next(change for change in advice if change["fits"])
    assert lethe.plan("lenet", **{"batch": 64, "memory_budget": "2200KiB", **change["options"]}).fits


NEEDS = re.compile("not in this build, which has no CUDA|cuDNN [0-9]")  # what such a plan needs


def test_plans_for_a_gpu_that_is_not_there():
    try:
        plan = lethe.plan("resnet20", device="h100")
    except lethe.Error as error:
        assert NEEDS.search(str(error)), error
        pytest.skip(str(error))
    assert plan["device"] != "cpu"


def test_a_processor_that_is_too_old_is_named(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("flags\t\t: fpu sse2 avx\n")
    with pytest.raises(ImportError, match="x86-64-v3.*lacks abm, avx2"):
        _start.check_processor(_start.features(cpuinfo))
    _start.check_processor(_start.features())


def test_the_best_module_that_the_processor_runs_is_taken(tmp_path):
    for level in ("", "x86-64-v4", "avx512-bf16"):
        (tmp_path / level).mkdir(exist_ok=True)
        (tmp_path / level / "_core.so").touch()
    bf16 = _start.LEVELS["avx512-bf16"]

    def level_of(has, wanted=None):
        return _start.module_file(has, tmp_path, wanted).parent.relative_to(tmp_path).name

    assert level_of(bf16) == "avx512-bf16" and level_of(bf16 - {"avx512_bf16"}) == "x86-64-v4"
    assert level_of(_start.V3) == level_of(None) == level_of(bf16, "x86-64-v3") == ""
    assert level_of(bf16, "x86-64-v4") == "x86-64-v4"
    for has, wanted in ((_start.V3, "x86-64-v4"), (bf16, "v4")):
        with pytest.raises(ImportError, match="no such level, or not one that this processor runs"):
            level_of(has, wanted)
    (tmp_path / "avx512-bf16" / "_core.so").unlink()
    with pytest.raises(ImportError, match="built without it; levels: x86-64-v4, x86-64-v3$"):
        level_of(bf16, "avx512-bf16")
    (tmp_path / "x86-64-v4" / "_core.so").unlink()
    assert level_of(bf16) == ""
    with pytest.raises(ImportError, match="built without it; levels: none"):
        level_of(bf16, "x86-64-v3")
    assert "AVX2" in lethe._core.instruction_sets or _start.features() is None


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_stubs_say_what_the_module_has():
    stub = (pathlib.Path(lethe.__file__).parent / "_core.pyi").read_text()
    of_module = {node.name if hasattr(node, "name") else node.target.id: node for node in ast.parse(stub).body
                 if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AnnAssign))}
    assert set(of_module) == public(dir(lethe._core))
    for name, node in of_module.items():
        if isinstance(node, ast.ClassDef):
            said = {each.name if hasattr(each, "name") else each.target.id for each in node.body
                    if isinstance(each, (ast.FunctionDef, ast.AnnAssign))}
            assert public(said) == public(vars(getattr(lethe._core, name))), name
    assert (pathlib.Path(lethe.__file__).parent / "py.typed").exists()

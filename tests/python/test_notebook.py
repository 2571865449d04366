"""The notebook runs from its first cell to its last."""
import json
import pathlib

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "examples/tutorial.ipynb"


def test_tutorial(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(NOTEBOOK.read_text())
    names, run = {"__name__": "__main__"}, 0
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None, "outputs are not kept"
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
        run += 1
    assert run >= 6 and "accuracy" in capsys.readouterr().out
    assert names["session"].peak_bytes == names["plan"]["bytes"]["peak"]

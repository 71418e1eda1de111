#!/usr/bin/env python3
"""Executes the notebooks of a week with the real program, and passes the exercise in one of them.

    python app/tests/notebooks/run.py LOCKSTEP WEEK

Needs nbclient, nbformat and ipykernel. Prints one line a notebook; the last is `N notebooks passed`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

REPOSITORY = Path(__file__).resolve().parents[3]
# The notebook whose exercise is solved, and what solves it.
SOLVED = ("04_first_kernel.ipynb", REPOSITORY / "kernels/week1/day4-first-kernel/reference.cu")


def tagged(notebook, tag):
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


def text_of(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def check(path):
    """Runs a notebook; what is wrong with it, or None."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    is_solved = path.name == SOLVED[0]
    if is_solved:
        cell = tagged(notebook, "exercise-main")[0]
        cell.source = f"kernel = {SOLVED[1].read_text()!r}\nresult = unit.check(kernel, exercise='main')"
    # Measurements, benchmarks and steps in Python take long and prove nothing here.
    for tag in ("measure", "bench", "rung"):
        for cell in tagged(notebook, tag):
            cell.source = "pass"
    NotebookClient(notebook, timeout=300, startup_timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    errors = [output for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "error"]
    if errors:
        return errors[0].evalue
    for cell in tagged(notebook, "exercise"):
        said, wanted = text_of(cell), "PASSED" if is_solved and "exercise-main" in cell.metadata.tags else "FAILED"
        if wanted not in said:
            return f"an exercise says `{said.strip()[:200]}`, and {wanted} was expected"
    for cell in tagged(notebook, "quiz"):
        if not text_of(cell).strip():
            return "a question shows nothing"
    return None


def main():
    program, week = sys.argv[1:]
    os.environ["LOCKSTEP"] = str(Path(program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "export", "notebook", week, "--output", folder], check=True, stdout=subprocess.DEVNULL)
        paths = sorted(Path(folder).glob("*.ipynb"))
        failed = 0
        for path in paths:
            why = check(path)
            failed += why is not None
            print(f"{path.name}: {why or 'ok'}", flush=True)
    print(f"{len(paths) - failed} notebooks passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

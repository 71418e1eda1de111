"""What the notebooks of Lockstep call: kernels are judged by the program `lockstep`, which runs beside Jupyter.

Needs nothing but Python; draws with matplotlib and asks with ipywidgets where they are installed. The program is looked for
under the name in the environment variable LOCKSTEP, else as `lockstep`.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = os.environ.get("LOCKSTEP", "lockstep")


def call(*arguments):
    """Runs `lockstep ARGUMENTS --json`; gives the object that it prints, with its exit status under "status"."""
    try:
        ended = subprocess.run([PROGRAM, *arguments, "--json"], capture_output=True, text=True)
    except OSError as why:
        raise SystemExit(f"Lockstep does not start ({why}). Install it, or set LOCKSTEP to its path.") from None
    try:
        answer = json.loads(ended.stdout)
    except ValueError:
        raise SystemExit(ended.stderr.strip() or "Lockstep said nothing") from None
    answer["status"] = ended.returncode
    if answer.get("error"):
        print(answer["error"])
    return answer


def ready():
    """What this machine has, line by line."""
    for item in call("doctor").get("items", []):
        print(f"{item.get('state', ''):8} {item.get('title', '')}: {item.get('found', '')}{'; ' + item['fix'] if item.get('fix') else ''}")


def measure(name):
    """Measures this machine with one of Lockstep's own programs."""
    ended = subprocess.run([PROGRAM, "measure", name], capture_output=True, text=True)
    print(ended.stdout or ended.stderr)


def widgets():
    try:
        import ipywidgets

        return ipywidgets
    except ImportError:
        return None


class Unit:
    """A day or a lab of the course."""

    def __init__(self, address, name):
        self.address = address
        self.results = []
        folder = Path(__file__).parent
        file = folder / "quiz" / f"{name}.json"
        questions = json.loads(file.read_text(encoding="utf-8"))["questions"] if file.exists() else []
        self.questions = {question["id"]: question for question in questions}
        self.hints_seen = {}

    def _with_kernel(self, command, kernel, exercise, *more):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel.cu"
            path.write_text(kernel, encoding="utf-8")
            return call(command, self.address, "--exercise", exercise, "--kernel", str(path), *more)

    def check(self, kernel, exercise="main", device="emulator"):
        """Compiles and judges a kernel; prints the verdict, gives all of it."""
        answer = self._with_kernel("check", kernel, exercise, "--device", device)
        compiled, verdict = answer.get("compiled") or {}, answer.get("verdict") or {}
        for diagnostic in compiled.get("diagnostics", []):
            print(f"line {diagnostic.get('line')}: {diagnostic.get('severity', '')}: {diagnostic.get('message')}")
        if answer.get("message"):
            print(answer["message"])
        if verdict:
            print("PASSED" if verdict.get("passed") else "FAILED", "-", verdict.get("summary", ""))
        self.results.append((exercise, answer))
        return answer

    def passed(self, exercise="main"):
        """Whether the last check of an exercise passed."""
        for name, answer in reversed(self.results):
            if name == exercise:
                return bool((answer.get("verdict") or {}).get("passed"))
        return False

    def bench(self, kernel, exercise="main", device="emulator"):
        """Times a kernel on a GPU, or counts its work on the emulator; draws what it found."""
        answer = self._with_kernel("bench", kernel, exercise, "--device", device)
        points = ((answer.get("bench") or {}).get("points")) or []
        for point in points:
            counters = point.get("counters") or {}
            figures = [f"{name} {value:,}" for name, value in counters.items() if isinstance(value, int)]
            print(point.get("name", ""), "-", ", ".join(figures[:6]))
        if not points and answer.get("message"):
            print(answer["message"])
        self._draw(points)
        return answer

    def _draw(self, points):
        try:
            import matplotlib.pyplot as plot
        except ImportError:
            return
        timed = [(p["name"], p["stats"]["median_ns"] / 1e3) for p in points if (p.get("stats") or {}).get("median_ns")]
        counted = [
            (p["name"], value)
            for p in points
            for name, value in (p.get("counters") or {}).items()
            if name == "warp_instructions" and isinstance(value, int)
        ]
        bars, label = (timed, "microseconds") if timed else (counted, "warp instructions")
        if not bars:
            return
        figure, axes = plot.subplots(figsize=(6, 0.5 + 0.4 * len(bars)))
        axes.barh([name for name, _ in bars], [value for _, value in bars])
        axes.set_xlabel(label)
        axes.invert_yaxis()
        figure.tight_layout()
        plot.show()

    def experiment(self, name):
        """Runs an experiment of the unit."""
        answer = call("bench", self.address, "--kernel", f"experiments/{name}", "--device", "emulator")
        verdict = answer.get("verdict") or {}
        print(verdict.get("summary") or answer.get("message") or "")
        for text in answer.get("console", []) if isinstance(answer.get("console"), list) else [answer.get("console") or ""]:
            print(text, end="")
        return answer

    def rung(self, file, source):
        """Runs a step in Python in a process of its own, as the course does; it may lack a package, which is no failure."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            path.write_text(source, encoding="utf-8")
            ended = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
        print(ended.stdout or ended.stderr.strip().splitlines()[-1:] or "")

    def hint(self, exercise="main"):
        """The next hint is in the verdict of the last check: what it looks like, and what to try."""
        for name, answer in reversed(self.results):
            if name == exercise:
                for hint in (answer.get("verdict") or {}).get("hints", [])[:3]:
                    print("-", hint if isinstance(hint, str) else hint.get("text", ""))
                return
        print("Run the check first.")

    def ask(self, name):
        """Shows a question; with ipywidgets it can be answered by a click, else with unit.answer(name, ...)."""
        question = self.questions[name]
        print(question["prompt"])
        choices = question.get("choices", [])
        for number, choice in enumerate(choices, 1):
            print(f"  {number}. {choice['text']}")
        tools = widgets()
        if tools is None or not choices or question["kind"] != "single":
            print(f"\nAnswer with unit.answer({name!r}, ...)")
            return
        from IPython.display import display

        picked = tools.RadioButtons(options=[(choice["text"], number) for number, choice in enumerate(choices, 1)], index=None)
        said = tools.Output()

        def answered(change):
            said.clear_output()
            with said:
                self.answer(name, change["new"])

        picked.observe(answered, names="value")
        display(picked, said)

    def answer(self, name, *given):
        """Marks an answer: numbers of choices, a number, or cells as (row, column). True if it is right."""
        question = self.questions[name]
        kind = question["kind"]
        if kind in ("single", "multiple"):
            choices = question["choices"]
            right = {number for number, choice in enumerate(choices, 1) if choice["right"]}
            is_right = set(given) == right
            for number in given:
                print(choices[number - 1]["why"])
        elif kind == "cell":
            is_right = {tuple(cell) for cell in given} == {tuple(cell) for cell in question["cells"]}
            if not is_right:
                print(question["otherwise"])
        else:
            value, answer = float(given[0]), question["answer"]
            if answer is None:
                print("A GPU tells: run unit.bench(kernel, device='gpu') and compare.")
                return None
            allowed = max(question.get("tolerance") or 0, abs(answer) * (question.get("relative_tolerance") or 0))
            is_right = abs(value - answer) <= allowed
            if not is_right:
                known = [trap["why"] for trap in question.get("traps", []) if trap["answer"] == value]
                print(known[0] if known else question.get("otherwise", f"It is {answer}."))
        print("Right." if is_right else "Not yet.", question["why"] if is_right else "")
        return is_right

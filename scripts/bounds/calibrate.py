"""Constants of the GPU at hand, measured by calibrate.cu in the place of those that chips.py has of its kind."""

import datetime
import json
import pathlib
import subprocess

from . import chips, kernels, store, tools

SOURCE = pathlib.Path(__file__).resolve().parent / "calibrate.cu"
SECONDS = 120
LEAST, MOST = 0.3, 3.0  # of the table's: what is farther off was not measured on a GPU that had nothing else to do


class Refused(Exception):
    """Nothing was measured, or not what was asked for; the message says why and what to do."""


def constants(entry, measured):
    """The machine's constants of a chip, from what calibrate.cu says."""
    bandwidth = chips.numbers(entry)["dram"]
    return {"clock": measured["clock"], "dram_read": measured["read"] / bandwidth,
            "dram_mixed": measured["copied"] / bandwidth, "l2_read": measured["l2"], "l2_port": measured["l2_port"],
            "latency_shared": measured["shared"], "latency_l1": measured["l1"], "latency_l2": measured["l2_latency"],
            "latency_dram": measured["memory"]}


def check(entry, found):
    """Refuses constants that cannot be this chip's."""
    table = chips.numbers(entry)
    for name, value in found.items():
        if table.get(name) and not LEAST * table[name] <= value <= MOST * table[name]:
            raise Refused(f"{name} is {value:.4g} on this GPU, where the table has {table[name]:.4g} for {entry}: "
                          "something else was running on it, or it is another one; nothing was kept")


def build(entry, scratch):
    """The program for this chip."""
    architecture, _ = kernels.code_architecture(f"{chips.numbers(entry)['architecture'] / 10:.1f}")
    program = pathlib.Path(scratch) / f"calibrate-{architecture}"
    program.parent.mkdir(parents=True, exist_ok=True)
    _, said = tools.run("nvcc", f"-arch={architecture}", "-O3", "-o", program, SOURCE)
    if said is not None:
        raise Refused(f"{SOURCE.name} does not compile: {said[:300]}")
    return program


def run(program, *arguments):
    """What the program measures on the first GPU of this machine."""
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Refused(f"{program} did not end within {SECONDS} s") from None
    if done.returncode:
        raise Refused(f"no GPU can be measured here: {done.stderr.strip() or done.returncode}; leave --calibrate out")
    return json.loads(done.stdout)


class Kept:
    """What was measured, by the names of chips, in a folder."""

    def __init__(self, where=None):
        self.path = pathlib.Path(where or store.folder()) / "calibrated.json"

    def all(self):
        try:
            return json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError:
            raise Refused(f"{self.path} is not what --calibrate wrote; remove it, or calibrate anew") from None

    def of(self, entry):
        """{"date": when, "constants": by name} of a chip, or None."""
        return self.all().get(entry)

    def keep(self, entry, found):
        known = self.all()
        known[entry] = {"date": datetime.date.today().isoformat(), "constants": found}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(known, indent=1), encoding="utf-8")
        part.replace(self.path)

    def numbers(self, entry, base_clock=False):
        """As chips.numbers, with what was measured in the place of the table's."""
        known = self.of(entry)
        found = dict(known["constants"]) if known else {}
        if base_clock:
            found.pop("clock", None)
        return chips.numbers(entry, base_clock) | found


def measure(entry, kept, program=None, arguments=()):
    """Measures the GPU of this machine, which must be that chip, and keeps it; returns its constants."""
    measured = run(program or build(entry, kept.path.parent), *arguments)
    try:
        here = chips.find(measured["gpu"])
    except chips.Unknown:
        here = None
    if here != entry:
        raise Refused(f"the GPU here is {measured['gpu']}, not {entry}; --calibrate wants --bound to name it")
    found = constants(entry, measured)
    check(entry, found)
    kept.keep(entry, found)
    return found

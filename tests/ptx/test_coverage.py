#!/usr/bin/env python3
"""What coverage.py --reasons lets pass, and what not: kernels of twenty instructions, made up."""
import json
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).with_name("coverage.py")
ALL = "11111111111111111111"
NINE_TENTHS = "11111111111111111100"
REST = "00000000000000000011"
NONE = "00000000000000000000"

# kernels by name as (ran, long divisions) or None; rows of reasons; what is to be found, None: nothing
CASES = {
    "everything ran": ({"a": (ALL, NONE)}, [], None),
    "no reason": ({"a": (NINE_TENTHS, NONE)}, [], "a: 90.0 %, and no reason"),
    "a reason": ({"a": (NINE_TENTHS, NONE)}, ["*,a,90,why"], None),
    "less than its reason says": ({"a": (NINE_TENTHS, NONE)}, ["*,a,91,why"], "a: 90.0 %, and no reason"),
    "of another architecture": ({"a": (NINE_TENTHS, NONE)}, ["75,a,90,why"], "a: 90.0 %, and no reason"),
    "of several": ({"a": (NINE_TENTHS, NONE)}, ["75 80,a,90,why"], None),
    "of several others": ({"a": (NINE_TENTHS, NONE)}, ["75 90,a,90,why"], "a: 90.0 %, and no reason"),
    "a pattern": ({"a<int>": (NINE_TENTHS, NONE)}, ['*,"a<*",90,why'], None),
    "long divisions": ({"a": (NINE_TENTHS, REST)}, [], None),
    "never launched": ({"a": None, "b": (ALL, NONE)}, [], "a: never launched, and no reason"),
    "for a reason": ({"a": None, "b": (ALL, NONE)}, ["*,a,never,why"], None),
    "launched after all": ({"a": (ALL, NONE)}, ["*,a,never,why"], "a: no kernel wants this reason"),
    "a reason too many": ({"a": (ALL, NONE)}, ["*,a,90,why"], "a: no kernel wants this reason"),
    "one run makes up for another": ({"a": (NINE_TENTHS, NONE), "a ": (REST, NONE)}, [], None),
    "all together": ({"a": (NINE_TENTHS, NONE), "b": (ALL, NONE)}, ["*,a,90,why", "80,all,95,why"], None),
    "not enough for several": ({"a": (NINE_TENTHS, NONE)}, ["*,a,90,why", "75 80,all,95.1,why"], "not 95.1"),
    "not enough": ({"a": (NINE_TENTHS, NONE), "b": (ALL, NONE)}, ["*,a,90,why", "80,all,95.1,why"], "not 95.1"),
}


def line(name, bits):
    row = {"kernel": name.strip(), "arch": 80, "launches": 0}
    if bits:
        ran, long_divisions = (f"{int(b, 2):05x}" for b in bits)
        row.update(source="a.cu", launches=1, instructions=20, ran=ran, long_divisions=long_divisions,
                   lines="20*a.cu:1 ")
    return json.dumps(row) + "\n"


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        cover, reasons = pathlib.Path(folder, "cover"), pathlib.Path(folder, "reasons.csv")
        for case, (kernels, rows, fault) in CASES.items():
            cover.write_text("".join(line(name, bits) for name, bits in kernels.items()))
            reasons.write_text("\n".join(["# a remark", "arch,kernel,least,reason", *rows]) + "\n")
            run = subprocess.run([sys.executable, "-B", TOOL, "--reasons", reasons, cover], capture_output=True,
                                 text=True)
            if run.returncode != (fault is not None) or (fault or "") not in run.stdout:
                print(f"{case}: ended with {run.returncode}, wanted {fault}; said\n{run.stdout}{run.stderr}")
                failures += 1
    print(f"{len(CASES)} cases, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

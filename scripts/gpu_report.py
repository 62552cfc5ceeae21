#!/usr/bin/env python3
"""Joins what gpu_check.sh has gathered: gpu_report.py FOLDER FILE COMMIT DEVICE. Writes one JSON file, prints a short
table."""
import datetime
import json
import pathlib
import sys


MOST = 4000  # characters of what a part said that did not end well


def rows(path):
    """The lines of JSON in a file; what was cut off when its writer was stopped is left out."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            pass
    return found


def said(folder, name, end):
    log = folder / f"log.{name}"
    return {"said": log.read_text(errors="replace")[-MOST:]} if end != "ok" and log.exists() else {}


def report(folder, commit, device):
    folder = pathlib.Path(folder)
    parts = [line.rsplit(" ", 2) for line in (folder / "parts").read_text().splitlines()]
    wrappers = folder / "log.wrappers"
    losses = {path.name.removeprefix("losses."): json.loads(path.read_text())
              for path in sorted(folder.glob("losses.*"))}
    return {
        "date": datetime.date.today().isoformat(), "commit": commit, "device": device,
        "machine": rows(folder / "doctor.json"),
        "parts": [{"part": name, "end": end, "seconds": int(seconds), **said(folder, name, end)}
                  for name, end, seconds in parts],
        "wrappers": wrappers.read_text().splitlines() if wrappers.exists() else [], "losses": losses,
        "kernels": rows(folder / "kernels.jsonl"), "ladder": rows(folder / "ladder.jsonl"),
        "calibrated": rows(folder / "calibrated.json"),
        "precisions": rows(folder / "precisions.jsonl"), "steps": rows(folder / "steps.jsonl")
    }


def show(r):
    if r["device"] != "cuda":
        print(f"  on {r['device']}, which stands in for a GPU: its times say nothing of one")
    for part in r["parts"]:
        print(f"  {part['part']:34} {part['end']:9} {part['seconds']:4} s")
    for recipe, found in r["losses"].items():
        print(f"  {recipe + ', losses beside cpu':34} largest relative difference {found['worst']:.1e} "
              f"of {found['updates']}")
    timed = [k for k in r["kernels"] if "ms" in k]
    if timed:
        k = timed[0]
        print(f"\n{k['device']} {k['isa']}: {k['ceiling_gflops']:.0f} GFLOP/s in registers, "
              f"{k['ceiling_read_gbs']:.0f} GB/s read, {k['ceiling_copy_gbs']:.0f} GB/s copied")
        largest = max(k["batch"] or 0 for k in timed)
        print(f"  {'operation':24} {'pass':9} {'batch':>5} {'ms':>9} {'GFLOP/s':>9} {'%':>4} {'GB/s':>7} {'%':>4}")
        for k in timed:
            if k["batch"] in (None, largest):
                print(f"  {k['op']:24} {k['pass']:9} {k['batch'] or '-':>5} {k['ms']:9.4f} {k['gflops']:9.1f} "
                      f"{100 * k['flops_share']:4.0f} {k['gbs']:7.1f} {100 * k['memory_share']:4.0f}")
    for k in r["calibrated"]:
        print(f"  {k['clock']:.3g} GHz; bytes a cycle of L2: {k['l2']:.4g}, of one multiprocessor {k['l2_port']:.3g}; "
              f"cycles to shared memory, L1, L2, memory: {k['shared']:.3g}, {k['l1']:.3g}, {k['l2_latency']:.3g}, "
              f"{k['memory']:.3g}")
    for k in r["ladder"]:
        if "ms" in k:
            print(f"  ladder: {k['rung']:16} {k['ms']:9.3f} ms {k['gflops']:9.1f} GFLOP/s "
                  f"{100 * k['flops_share']:5.1f} %")
    for k in r["precisions"]:
        print(f"  {k['recipe']}, batch {k['batch']}, {k['precision']}: "
              f"{k['samples_per_second'] or 0:.0f} samples a second")
    for k in r["steps"]:
        print(f"  step of {k['model']}, {k['optimizer']}, batch {k['batch']}, {k['precision']}: "
              f"{k['ms']['gradus']:.2f} ms, PyTorch {k['ms'][k['mode']]:.2f} ms ({k['mode']})")


def main():
    folder, out, commit, device = sys.argv[1:]
    r = report(folder, commit, device)
    pathlib.Path(out).write_text(json.dumps(r, indent=1) + "\n")
    show(r)
    print(f"written: {out}")


if __name__ == "__main__":
    main()

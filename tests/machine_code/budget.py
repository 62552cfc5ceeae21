#!/usr/bin/env python3
"""What the kernels with __launch_bounds__ ask of a multiprocessor, beside what stands in budget.csv:

  budget.py VERSION FILE...            fails where one of FILE, libraries or object files, asks for more
  budget.py --write VERSION FILE...    puts what they ask for in the place of the rows of their architectures

VERSION is nvcc's; another one shares out registers in another way, so code of another version is not compared.

  threads, registers (of a thread), shared (bytes of a block), stack (bytes of a thread), spills (loads and stores of
  local memory, as instructions), blocks (that a multiprocessor holds), products (FFMA, HMMA or HGMMA in the innermost
  loop that has most of them) and loop (its instructions, of all paths through it)

Worse is: fewer blocks, more stack or spills, more instructions of the loop for a product.
"""
import collections
import csv
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cubins  # noqa: E402
import names  # noqa: E402

FILE = pathlib.Path(__file__).with_name("budget.csv")
NUMBERS = ("threads", "registers", "shared", "stack", "spills", "blocks", "products", "loop")
NOT_COMPARED = 77  # ctest's sign for a test that was skipped

# CUDA C++ Programming Guide, "Compute Capabilities": threads, blocks and bytes of shared memory of a multiprocessor,
# and how much of these the system takes of each block.
Chip = collections.namedtuple("Chip", "threads blocks shared reserved")
CHIPS = {75: Chip(1024, 16, 64 << 10, 0), 80: Chip(2048, 32, 164 << 10, 1 << 10),
         90: Chip(2048, 32, 228 << 10, 1 << 10)}
REGISTERS, UNIT, SHARED_UNIT = 65536, 256, 128  # of a multiprocessor; registers are given to a warp by the 256


def blocks(chip, kernel):
    """How many blocks of a kernel a multiprocessor holds at a time."""
    warps = -(-kernel.threads // 32)
    of_a_warp = -(-kernel.registers * 32 // UNIT) * UNIT
    shared = -(-(kernel.shared + chip.reserved) // SHARED_UNIT) * SHARED_UNIT
    return min(chip.blocks, chip.threads // (32 * warps), REGISTERS // of_a_warp // warps,
               chip.shared // shared if shared else chip.blocks)


def worst(rows):
    """One for all: several files may have kernels of the same name."""
    return {number: (min if number in ("blocks", "products") else max)(row[number] for row in rows)
            for number in NUMBERS}


def launched(kernel):
    """No GPU below 8.0 is asked for bf16 or tf32, none but one of 9.0 for wgmma: what is compiled there is a trap."""
    return ((kernel.arch >= 80 or not re.search(r"\d(bf16|tf32)", kernel.name)) and
            (kernel.arch == 90 or not re.search("(hopper|box|tap)_tile", kernel.name)))


def asked(paths):
    """(architecture, kernel) -> numbers"""
    kernels = [kernel for path in paths for kernel in cubins.kernels_in(path) if kernel.threads and launched(kernel)]
    plain = names.plain_names([kernel.name for kernel in kernels])
    rows = collections.defaultdict(list)
    for kernel in kernels:
        row = kernel._asdict() | {"blocks": blocks(CHIPS[kernel.arch], kernel)}
        rows[kernel.arch, names.short(plain[kernel.name])].append(row)
    return {key: worst(row) for key, row in rows.items()}


def allowed():
    """The version that the file was written with, and what stands in it."""
    with open(FILE) as file:
        version = file.readline().removeprefix("# nvcc ").strip()
        return version, {(int(row["arch"]), row["kernel"]): {number: int(row[number]) for number in NUMBERS}
                         for row in csv.DictReader(file)}


def write(version, rows):
    with open(FILE, "w") as file:
        file.write(f"# nvcc {version}\n")
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("arch", "kernel") + NUMBERS)
        for (arch, kernel), row in sorted(rows.items()):
            out.writerow((arch, kernel) + tuple(row[number] for number in NUMBERS))


def worse(row, budget):
    """What a kernel asks for too much, in words."""
    found = [f"{row[number]} bytes of stack" if number == "stack" else f"{row[number]} spills"
             for number in ("stack", "spills") if row[number] > budget[number]]
    if row["blocks"] < budget["blocks"]:
        found.append(f"{row['blocks']} blocks on a multiprocessor instead of {budget['blocks']} "
                     f"({row['registers']} registers, {row['shared']} bytes of shared memory)")
    if row["loop"] * budget["products"] > budget["loop"] * row["products"]:
        found.append(f"{row['loop']} instructions for {row['products']} products instead of {budget['loop']} for "
                     f"{budget['products']}")
    return found


def complaints(rows, budget):
    architectures = {arch for arch, _ in rows}
    found = [f"sm_{arch} {kernel}: {words}" for (arch, kernel), row in sorted(rows.items())
             for words in (worse(row, budget[arch, kernel]) if (arch, kernel) in budget else ["not in budget.csv"])]
    return found + [f"sm_{arch} {kernel}: in budget.csv only" for arch, kernel in sorted(budget)
                    if arch in architectures and (arch, kernel) not in rows]


def prove():
    """That the comparison can fail."""
    good = dict(threads=256, registers=128, shared=25600, stack=0, spills=0, blocks=2, products=32, loop=960)
    for slip in ({"blocks": 1}, {"stack": 8}, {"spills": 1}, {"loop": 961}, {"products": 31}):
        assert worse(good | slip, good) and not worse(good, good)
    kernel = cubins.Kernel(80, "", 256, 128, 25600, 0, 0, 0, 0)
    assert blocks(CHIPS[80], kernel) == 2 and blocks(CHIPS[80], kernel._replace(registers=129)) == 1
    assert blocks(CHIPS[75], kernel._replace(registers=32)) == 2  # 64 KiB of shared memory
    assert complaints({(80, "a"): good}, {(80, "b"): good, (75, "c"): good}) == \
        ["sm_80 a: not in budget.csv", "sm_80 b: in budget.csv only"]


def main():
    arguments = sys.argv[1:]
    writing = arguments[:1] == ["--write"]
    if len(arguments) < 2 + writing:
        sys.exit(__doc__)
    version, *paths = arguments[writing:]
    prove()
    rows = asked(paths)
    if not rows:
        sys.exit("there is no machine code of GPUs in " + " ".join(paths))
    written_by, budget = allowed() if FILE.exists() else (version, {})
    architectures = sorted({arch for arch, _ in rows})
    if writing:
        write(version, {key: row for key, row in budget.items() if key[0] not in architectures} | rows)
    elif version != written_by:
        print(f"made by nvcc {version}, budget.csv by {written_by}: not compared")
        sys.exit(NOT_COMPARED)
    else:
        found = complaints(rows, budget)
        print("\n".join(found + [f"{len(rows)} kernels for {', '.join(f'sm_{a}' for a in architectures)}, "
                                 f"{len(found)} ask for more than budget.csv allows"]))
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

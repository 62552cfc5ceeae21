"""Replays the gdb session in kernels/simt/README.md and compares what gdb says. Addresses may differ."""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROMPT = "(gdb) "
CALL = "printf"  # the one command that calls a function of the program, the last one
NO_CALLS = "Couldn't write extended state status"  # gdb 13 where a processor has AMX
NOISE = ("[Thread debugging using", "Using host libthread_db", "warning:", "Download failed", "Debuginfod has been")


def transcript():
    text = open(os.path.join(ROOT, "kernels/simt/README.md")).read()
    return re.search(r"^```gdb\n(.*?)^```", text, re.M | re.S).group(1)


def replay(program, commands):
    arguments = ["gdb", "-q", "-nx", "-batch", "-ex", "set debuginfod enabled off"]
    for command in commands:
        arguments += [
            "-ex", "echo " + PROMPT + command.replace("\\", "\\\\").replace('"', '\\"') + "\\n", "-ex", command
        ]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GRADUS_")}
    return subprocess.run(arguments + [program], capture_output=True, text=True, timeout=120, env=environment)


def plain(text):
    """The lines that matter, without addresses and the source tree's path."""
    lines = [re.sub(r"0x[0-9a-f]+", "0x", line).replace(ROOT + "/", "").rstrip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith(NOISE)]


def main():
    if not shutil.which("gdb"):
        return 77
    expected = transcript()
    commands = [line[len(PROMPT):] for line in expected.splitlines() if line.startswith(PROMPT)]
    done = replay(sys.argv[1], commands)
    said = done.stdout
    if NO_CALLS in done.stderr:
        print("this gdb calls no functions on this processor: the session is compared up to its call")
        said, expected = (text.partition(PROMPT + CALL)[0] for text in (said, expected))
    if "ptrace: Operation not permitted" in said:
        return 77
    if plain(said) != plain(expected):
        print("kernels/simt/README.md shows another session than this one:\n" + said)
        return 1
    return 0


sys.exit(main())

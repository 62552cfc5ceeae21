"""Ranges as a tool sees them that looks on by NVTX, played by fake_tool.c."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GRADUS, TOOL, NVIDIA = (os.environ.get(name) for name in ("GRADUS", "TOOL", "NVIDIA"))
PROFILE = ["profile", "cifar10-cnn", "--procedural", "--batch", "8", "--schedule", "wait=1,warmup=0,active=1"]


def tree(lines):
    """[name, children] of every range. Raises where they do not lie inside each other."""
    root = ["", []]
    stack = [root]
    for line in lines:
        word, _, name = line.partition(" ")
        if word == "push":
            stack[-1][1].append([name, []])
            stack.append(stack[-1][1][-1])
        else:
            stack.pop()
    if len(stack) != 1:
        raise AssertionError(f"{len(stack) - 1} ranges have no end")
    return root[1]


class Nvtx(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.told = pathlib.Path(self.folder.name, "told")

    def run_with(self, tool, *command, told=None):
        environment = {**os.environ, "NVTX_INJECTION64_PATH": tool, "NVTX_TOLD": told or str(self.told)}
        subprocess.run(command, check=True, cwd=self.folder.name, env=environment, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def test_ranges_of_a_profile(self):
        self.run_with(TOOL, GRADUS, *PROFILE, "--out", "p")
        ranges = tree(self.told.read_text().splitlines())
        spans = [r for r in ranges if r[0] in ("loader", "forward", "backward", "optimizer")]
        self.assertEqual([name for name, _ in spans], 2 * ["loader", "forward", "backward", "optimizer"])
        for update in (spans[:4], spans[4:]):  # one at the run's own pace, one that is traced
            loader, forward, backward, _ = [children for _, children in update]
            self.assertIn(["fill", []], loader)
            self.assertEqual(forward[0], ["conv1+relu1+pool1", [["conv2d_relu_max_pool forward (conv1+relu1+pool1)",
                                                                 []]]])
            self.assertEqual(backward[-1][0], "conv2d_relu_max_pool backward (conv1+relu1+pool1)")

    def test_no_tool_no_ranges(self):
        for tool, told in (("", None), ("/no/such/library.so", None), (TOOL, "refuse")):
            self.run_with(tool, GRADUS, *PROFILE, "--out", "p", told=told)
            self.assertFalse(self.told.exists())

    @unittest.skipUnless(NVIDIA, "NVIDIA's header is not here")
    def test_the_stand_in_serves_nvidias_header(self):
        self.run_with(TOOL, NVIDIA)
        self.assertEqual(tree(self.told.read_text().splitlines()), [["outer", [["inner", []]]]])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()

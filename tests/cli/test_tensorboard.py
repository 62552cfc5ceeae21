"""gradus report --tensorboard: event files, read by a reader of our own and, where it is installed, TensorBoard's."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

from cli import Case

GRID = ["sweep", "cifar10-cnn", "--procedural", "--batch", "100,200", "--optimizer", "sgd", "--seeds", "1",
        "--epochs", "2", "--lr", "0.01,1e30", "--out", "o"]
TENSORBOARD = os.environ.get("GRADUS_TENSORBOARD", sys.executable)  # a Python that may have TensorBoard
READER = """
import json, sys
from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import plugin_data_pb2
a = EventAccumulator(sys.argv[1])
a.Reload()
started = plugin_data_pb2.HParamsPluginData.FromString(
    a.SummaryMetadata("_hparams_/session_start_info").plugin_data.content).session_start_info
ended = plugin_data_pb2.HParamsPluginData.FromString(
    a.SummaryMetadata("_hparams_/session_end_info").plugin_data.content).session_end_info
scalars = {tag: [[e.step, e.tensor_proto.float_val[0]] for e in a.Tensors(tag)] for tag in a.Tags()["tensors"]
           if not tag.startswith("_hparams_")}
print(json.dumps([scalars, {k: v.string_value or v.number_value for k, v in started.hparams.items()}, ended.status]))
"""


def masked_crc(data):
    """CRC-32C bit by bit, as RFC 3720 has it, masked as TFRecord wants it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        length, = struct.unpack("<Q", data[:8])
        for part, at in ((data[:8], 8), (data[12:12 + length], 12 + length)):
            assert struct.unpack("<I", data[at:at + 4])[0] == masked_crc(part)
        yield data[12:12 + length]
        data = data[16 + length:]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """A message of protocol buffers: field number to the values it has."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at), 2: varint(data, at) if key & 7 == 2 else None}[key & 7]
            value, at = data[at:at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def read(path):
    """Scalars as {tag: [[step, value]]}, settings, and the status at the end."""
    events = [fields(r) for r in records(path.read_bytes())]
    assert events[0][3] == [b"brain.Event:2"]
    scalars, settings, status = {}, {}, None
    for event in events[1:]:
        value = fields(fields(event[5][0])[1][0])
        if 2 in value:
            scalars.setdefault(value[1][0].decode(), []).append([event[2][0], struct.unpack("<f", value[2][0])[0]])
            continue
        plugin = fields(fields(value[9][0])[1][0])
        assert plugin[1] == [b"hparams"]
        content = fields(plugin[2][0])
        if 4 in content:
            status = fields(content[4][0])[1][0]
        for entry in fields(content[3][0])[1] if 3 in content else ():
            key, setting = (fields(entry)[i][0] for i in (1, 2))
            kind, (x,) = next(iter(fields(setting).items()))
            settings[key.decode()] = {2: lambda x: struct.unpack("<d", x)[0], 3: bytes.decode, 4: bool}[kind](x)
    return scalars, settings, status


class TensorBoard(Case):
    def make(self):
        self.gradus(*GRID)
        return self.gradus("report", "o", "--tensorboard", "events").out

    def runs(self):
        """Every row with its file."""
        for row in self.read_rows("o"):
            name = f"{row['optimizer']} batch {row['batch']} seed {row['seed']} {row['variant']}"
            path, = (self.folder / "events/o" / name).iterdir()
            yield row, path

    def test_what_stands_in_the_files(self):
        self.assertEqual(self.make(), "tensorboard --logdir events\n")
        self.assertEqual(len([f for f in self.files() if "tfevents" in f]), 4)
        self.assertEqual({row["state"] for row, _ in self.runs()}, {"done", "numbers went bad"})
        for row, path in self.runs():
            scalars, settings, status = read(path)
            self.assertEqual(status, 1 if row["state"] == "done" else 2)
            self.assertEqual((settings["batch"], settings["lr"], settings["nesterov"], settings["optimizer"],
                              settings["variant"]), (row["batch"], row["lr"], False, "sgd", row["variant"]))
            for tag, key in (("loss/train", "train_loss"), ("accuracy/validation", "val_accuracy")):
                expected = [[e["updates"], e[key]] for e in row["history"] if e[key] is not None]
                self.assert_close(scalars.get(tag, []), expected)
            if row["state"] == "done":
                self.assert_close(scalars["run/test accuracy"], [[row["updates"], row["test_accuracy"]]])
        before = {f: (self.folder / f).read_bytes() for f in self.files() if "tfevents" in f}
        self.gradus("report", "o", "--tensorboard", "events")
        self.assertEqual({f: (self.folder / f).read_bytes() for f in self.files() if "tfevents" in f}, before)
        (self.folder / "file").write_text("")
        self.refused(5, "report", "o", "--tensorboard", "file", names=["file/o"])

    def test_folders_of_one_name(self):
        """Neither's runs take the place of the other's, and all are within the folder that was named."""
        self.gradus(*GRID, "--seeds", "1")
        for name in ("x/o", "y/o"):
            shutil.copytree(self.folder / "o", self.folder / name)
        self.gradus("report", "x/o", "./y/o/", "--tensorboard", "events/both")
        self.gradus("report", "x/../o//", "--tensorboard", "events/alone")
        runs = len(self.read_rows("o"))
        for name, folders in (("both", ["._y_o_", "x_o"]), ("alone", ["o"])):
            self.assertEqual(sorted(p.name for p in (self.folder / "events" / name).iterdir()), folders)
            self.assertEqual(len([f for f in self.files() if "tfevents" in f and f"/{name}/" in f]),
                             runs * len(folders))

    def test_names_that_are_too_long(self):
        """Of a run by its lists, and of a sweep by its path: cut, and told apart though they begin the same."""
        zeros = "0" * 50
        model = (pathlib.Path(__file__).parents[2] / "examples/models/cifar10-cnn.txt").read_text()
        names = ["\u00e4" * 25 + f"-{i}.txt" for i in (1, 2)]
        for name in names:
            (self.folder / name).write_text(model)
        deep = "/".join(["d" * 100] * 3)
        for out in (deep + "/1/o", deep + "/2/o"):
            self.gradus("sweep", "cifar10-cnn", "--procedural", "--updates", "1", "--batch", "8", "--optimizer", "sgd",
                        "--seeds", "1", "--lr", f"0.1{zeros},0.2{zeros}", "--ema", f"0.1{zeros},0.2{zeros}",
                        "--label-smoothing", f"0.1{zeros},0.2{zeros}", "--model", ",".join(names), "--out", out)
        self.gradus("report", deep + "/1/o", deep + "/2/o", "--tensorboard", "events")
        files = [f for f in self.files() if "tfevents" in f]
        self.assertEqual(len(files), 2 * 16)
        self.assertLessEqual(max(len(part.encode()) for f in files for part in f.split("/")), 255)

    def assert_close(self, found, expected):
        self.assertEqual([f[0] for f in found], [e[0] for e in expected])
        for f, e in zip(found, expected):
            self.assertAlmostEqual(f[1], e[1], delta=1e-6 * max(1, abs(e[1])))

    def test_refusals(self):
        self.refused(2, "report", "o", "--tensorboard", "t", "--out", "p", names=["--tensorboard", "--out"])
        self.refused(2, "report", "o", "--tensorboard", "t" * 2000, names=["--tensorboard", "1024"])
        self.refused(3, "report", "nowhere", "--tensorboard", "t", names=["nowhere/sweep.json"])

    def test_tensorboard_reads_the_same(self):
        if subprocess.run([TENSORBOARD, "-c", "import tensorboard"], capture_output=True).returncode:
            self.skipTest("TensorBoard is not installed (GRADUS_TENSORBOARD: a Python that has it)")
        self.make()
        for row, path in self.runs():
            ran = subprocess.run([TENSORBOARD, "-c", READER, str(path.parent)], capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            scalars, settings, status = read(path)
            found = json.loads(ran.stdout)
            self.assertEqual(found[0], scalars)
            self.assertEqual({k: v for k, v in settings.items() if v}, {k: v for k, v in found[1].items() if v})
            self.assertEqual(found[2], status)


if __name__ == "__main__":
    unittest.main()

"""Writes the corpora below tests/fuzz/corpus: small files of every kind that the readers know, whole ones and odd ones.

Needs Pillow, and for packed sets the program: GRADUS=build/release/gradus python3 tests/fuzz/make_corpus.py
"""

import gzip
import io
import json
import math
import os
import pathlib
import struct
import subprocess
import tarfile
import tempfile
import zipfile
import zlib

from PIL import Image

ROOT = pathlib.Path(__file__).parent / "corpus"


def put(name, contents):
    path = ROOT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents)


def picture(mode="RGB", size=(9, 7)):
    image = Image.new("RGB", size)
    image.putdata([(20 * x, 30 * y, 255 - 9 * x - 9 * y) for y in range(size[1]) for x in range(size[0])])
    return image.convert(mode)


def encoded(form, mode="RGB", size=(9, 7), **options):
    out = io.BytesIO()
    picture(mode, size).save(out, form, **options)
    return out.getvalue()


def overflowing_jpeg():
    """16 x 16 grey, whose DC coefficients grow by 32767 from block to block and are multiplied by 65535."""
    def segment(marker, data):
        return struct.pack(">BBH", 255, marker, len(data) + 2) + data
    bits = "0" + "1" * 15 + "0"  # the only DC code: 15 bits of difference follow; the only AC code: end of block
    bits = bits * 4 + "1" * 4
    data = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8)).replace(b"\xff", b"\xff\0")
    return (b"\xff\xd8" + segment(0xdb, b"\x10" + b"\xff" * 128) +
            segment(0xc0, struct.pack(">BHHB3B", 8, 16, 16, 1, 1, 0x11, 0)) +
            segment(0xc4, b"\0\1" + bytes(15) + b"\x0f") + segment(0xc4, b"\x10\1" + bytes(15) + b"\0") +
            segment(0xda, bytes([1, 1, 0, 0, 63, 0])) + data + b"\xff\xd9")


def png_beyond_its_palette():
    """4 x 1, 8 bits, a palette of one colour, of which pixels 1 to 3 name others."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 1, 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", b"\1\2\3") + chunk(b"IDAT", zlib.compress(b"\0\0\1\x80\xff")) + chunk(b"IEND", b""))


def images():
    jpeg = encoded("JPEG", quality=20, optimize=True)
    put("image/baseline.jpg", jpeg)
    put("image/progressive.jpg", encoded("JPEG", quality=20, progressive=True))
    put("image/restart.jpg", encoded("JPEG", quality=20, optimize=True, size=(40, 20), restart_marker_blocks=1))
    put("image/grey.jpg", encoded("JPEG", "L", quality=20, optimize=True))
    put("image/cmyk.jpg", encoded("JPEG", "CMYK", quality=20, optimize=True))
    put("image/cut.jpg", jpeg[:-20])
    put("image/exif.jpg", jpeg[:2] + b"\xff\xe1\0\x10Exif\0\0II*\0\0\0\0\0" + jpeg[2:])
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        image = Image.new(mode, (5, 3), 1) if mode == "I;16" else picture(mode, (5, 3))
        out = io.BytesIO()
        image.save(out, "PNG")
        put(f"image/{mode.replace(';', '')}.png", out.getvalue())
    put("image/transparent.png", encoded("PNG", "P", (5, 3), transparency=2))
    put("image/empty.jpg", b"")
    put("image/overflow.jpg", overflowing_jpeg())
    put("image/beyond.png", png_beyond_its_palette())


MEMBERS = {
    "PetImages/Cat/1.jpg": b"first", "PetImages/Cat/2.jpg": b"", "PetImages/Dog/1.jpg": b"dog " * 40,
    "readme.txt": b"read me"
}


def zips():
    def made(kind, name_of=lambda n: n, **options):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", kind) as archive:
            for name, contents in MEMBERS.items():
                with archive.open(zipfile.ZipInfo(name_of(name)), "w", **options) as member:
                    member.write(contents)
        return out.getvalue()
    put("zip/stored.zip", made(zipfile.ZIP_STORED))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, contents in MEMBERS.items():
            archive.writestr(zipfile.ZipInfo(name), contents, zipfile.ZIP_DEFLATED)
        archive.comment = b"a comment"
    put("zip/deflated.zip", out.getvalue())
    put("zip/zip64.zip", made(zipfile.ZIP_STORED, force_zip64=True))
    put("zip/climbs.zip", made(zipfile.ZIP_STORED, lambda n: "../" + n))
    put("zip/cut.zip", out.getvalue()[:-30])


def tars():
    def made(form, kind=tarfile.REGTYPE, headers=None):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as archive:
            for name, contents in MEMBERS.items():
                info = tarfile.TarInfo(name)
                info.type, info.pax_headers = kind, headers or {}
                info.size = len(contents) if kind == tarfile.REGTYPE else 0
                archive.addfile(info, io.BytesIO(contents))
        return out.getvalue()[:512 * 12]  # less of the zeros at the end
    ustar = made(tarfile.USTAR_FORMAT)
    put("tar/ustar.tar.gz", gzip.compress(ustar, 9, mtime=0))
    put("tar/short.tar", ustar[:512 * 3] + bytes(1024))
    put("tar/pax.tar.gz", gzip.compress(made(tarfile.PAX_FORMAT, headers={"comment": "x"}), 9, mtime=0))
    put("tar/links.tar.gz", gzip.compress(made(tarfile.GNU_FORMAT, tarfile.SYMTYPE), 9, mtime=0))
    put("tar/cut.tar.gz", gzip.compress(ustar, 9, mtime=0)[:-20])


def idx():
    def files(n, side):
        pixels, labels = bytes(i % 251 for i in range(n * side * side)), bytes(i % 3 for i in range(n))
        return [struct.pack(">IIII", 0x803, n, side, side) + pixels, struct.pack(">II", 0x801, n) + labels]
    def joined(four):
        return struct.pack("<HHH", *map(len, four[:3])) + b"".join(four)
    whole = files(5, 3) + files(3, 3)
    put("idx/whole", joined(whole))
    put("idx/gzip", joined([gzip.compress(f, mtime=0) for f in whole]))
    put("idx/cut", joined(whole)[:-2])


def cifar():
    def archive(name, size):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            info = tarfile.TarInfo("cifar-10-batches-bin/" + name)
            info.size = size
            tar.addfile(info, io.BytesIO(bytes(size)))
        return out.getvalue()[:512 * (4 + -(-size // 512))]
    as_it_is, members, folder = b"\0", b"\1", b"\3"  # see fuzz_cifar.c
    put("cifar/small.tar.gz", as_it_is + gzip.compress(archive("data_batch_1.bin", 2 * 3073), 9, mtime=0))
    put("cifar/readme.tar", as_it_is + archive("readme.html", 88))
    put("cifar/batch.tar", as_it_is + archive("test_batch.bin", 1))
    whole = b"".join(bytes([file, file, 9 - file, 0]) for file in range(6))
    put("cifar/members", members + whole)
    put("cifar/reversed", members + bytes([6, 0, 0, 1]) + b"".join(whole[i:i + 4] for i in range(20, -1, -4)))
    put("cifar/folder", folder + whole)
    for name, start in (("members", members), ("folder", folder)):
        put(f"cifar/{name}-missing", start + whole[:-4])
        put(f"cifar/{name}-label", start + whole[:-2] + b"\x0a\0")
        put(f"cifar/{name}-longer", start + whole[:-1] + b"\1")
        put(f"cifar/{name}-shorter", start + whole[:-1] + b"\xff")
    put("cifar/twice", members + whole[:4] + whole)


def packed():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("Cat/1.png", "Cat/2.png", "Dog/1.png"):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_bytes(encoded("PNG", size=(4, 3)))
        out = root / "out.grd"
        subprocess.run([os.environ["GRADUS"], "data", "pack", folder, out, "--size", "2"], check=True,
                       stdout=subprocess.DEVNULL)
        whole = out.read_bytes()
    put("packed/whole.grd", whole)
    put("packed/cut.grd", whole[:-1])
    put("packed/version.grd", whole[:8] + b"\2" + whole[9:])


def weights():
    """Of the network in fuzz_safetensors.c, by the names of each tool, and headers that are not what they should be."""
    def header(shapes, dtype="F32", **more):
        entries, at = dict(more), 0
        for name, shape in shapes.items():
            size = math.prod(shape) * {"F32": 4, "F16": 2, "I64": 8}[dtype]
            entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
            at += size
        return json.dumps(entries, separators=(",", ":")).encode(), bytes(at)

    def file(head, data, length=None):
        return struct.pack("<Q", len(head) if length is None else length) + head + data

    torch = {"conv1.weight": [2, 1, 3, 3], "conv1.bias": [2], "bn1.weight": [2], "bn1.bias": [2],
             "bn1.running_mean": [2], "bn1.running_var": [2], "dense1.weight": [3, 8], "dense1.bias": [3]}
    keras = {"conv2d/kernel": [3, 3, 1, 2], "conv2d/bias": [2], "batch_normalization/gamma": [2],
             "batch_normalization/beta": [2], "batch_normalization/moving_mean": [2],
             "batch_normalization/moving_variance": [2], "dense/kernel": [8, 3], "dense/bias": [3]}
    unknown = (1 << 64) - 1  # see fuzz_safetensors.c
    put("safetensors/torch", file(*header(torch)))
    put("safetensors/keras", file(*header(keras)))
    put("safetensors/halves", file(*header(torch, "F16"), unknown))
    put("safetensors/counters", file(*header({"bn1.num_batches_tracked": []}, "I64"), unknown))
    put("safetensors/notes", file(*header(torch, __metadata__={"recipe": "mnist-mlp", "classes": "[]"}), unknown))
    put("safetensors/checksum", file(*header(torch, __metadata__={"checksum": "00000000"}), unknown))
    put("safetensors/both", file(*header({**torch, **keras}), unknown))
    put("safetensors/empty", file(b"{}", b""))
    put("safetensors/cut", file(*header(torch))[:-1])
    put("safetensors/long", file(b"{}", b"", 1 << 40))
    put("safetensors/nested", file(b'{"a":' * 40 + b"{}" + b"}" * 40, b"", unknown))
    put("safetensors/huge", file(b'{"a":{"dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,4]}}',
                                 bytes(4), unknown))


def arrays():
    """NumPy's archives, of the network in fuzz_npz.c, by the names of each tool, and arrays of other kinds."""
    def npy(shape, dtype="<f4", order=False, version=1, size=4):
        head = f"{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': {tuple(shape)}, }}\n".encode()
        return (b"\x93NUMPY" + bytes([version, 0]) + len(head).to_bytes(2 if version == 1 else 4, "little") + head +
                bytes(math.prod(shape) * size))

    def archive(files, method=zipfile.ZIP_STORED):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as z:
            for name, contents in files.items():
                z.writestr(zipfile.ZipInfo(name + ".npy"), contents, method)
        return out.getvalue()

    torch = {"conv1.weight": [2, 1, 3, 3], "conv1.bias": [2], "bn1.weight": [2], "bn1.bias": [2],
             "bn1.running_mean": [2], "bn1.running_var": [2], "dense1.weight": [3, 8], "dense1.bias": [3]}
    keras = {"conv2d/kernel": [3, 3, 1, 2], "conv2d/bias": [2], "bn/gamma": [2], "bn/beta": [2],
             "bn/moving_mean": [2], "bn/moving_variance": [2], "dense/kernel": [8, 3], "dense/bias": [3]}
    whole = archive({name: npy(shape) for name, shape in torch.items()})
    put("npz/torch", whole)
    put("npz/keras", archive({name: npy(shape) for name, shape in keras.items()}))
    put("npz/deflated", archive({name: npy(shape) for name, shape in torch.items()}, zipfile.ZIP_DEFLATED))
    put("npz/fortran", archive({name: npy(shape, "<f8", True, 2, 8) for name, shape in torch.items()}))
    put("npz/counter", archive({"bn1.num_batches_tracked": npy([], "<i8", size=8)}))
    put("npz/objects", archive({"a": npy([1], "|O", size=8)}))
    put("npz/empty", archive({}))
    put("npz/cut", whole[:-1])


for make in (images, zips, tars, idx, cifar, packed, weights, arrays):
    make()
print(sum(p.stat().st_size for p in ROOT.glob("*/*")), "bytes")

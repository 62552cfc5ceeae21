"""The competitors of bench_pytorch.py: one process each that trains one model on one drawn batch as often as it is
told; bench_gpu.py has them all in its own.

    bench_workers.py gradus|pytorch|keras MODEL OPTIMIZER BATCH THREADS MODE DEVICE PRECISION
    (MODE of PyTorch: eager, channels_last, compile; PRECISION bf16 of PyTorch: under autocast)

Prints a line of JSON when it is ready: its version. Then, for every line with a number of seconds on its standard
input, it trains for so long (two steps at least) and prints the milliseconds of each step; at the end of its input, the
bytes by which the process has grown at its peak since before the model was made; on a GPU, the most that tensors took
there.

A step is: batch in memory, forward, loss, backward, update, the loss read. Gradus' batch lies there as bytes and is
gathered and normalised in the step; those of the others are floats already.
"""
import ctypes
import json
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIDES = {"cats-vs-dogs": 200, "cifar10-cnn": 32, "resnet18-cifar": 32}
PRECISIONS = {"fp32": 101, "fp16": 103, "bf16": 104}  # gr_precision
GR_IN_ORDER = 1  # gr_order
WARM_UP = 2


def say(**line):
    print(json.dumps(line), flush=True)


def memory(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return int(line.split()[1]) * 1024


def forget_peak():
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")


def grown_since(before):
    return lambda: memory("VmHWM") - before


def timed(step, seconds, at_least=2):
    times, end = [], time.perf_counter() + seconds
    while len(times) < at_least or time.perf_counter() < end:
        begin = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


# --- Gradus, through its C interface ----------------------------------------------------------------------------------

class Options(ctypes.Structure):
    _fields_ = [("device", ctypes.c_char_p), ("seed", ctypes.c_uint64), ("threads", ctypes.c_int),
                ("memory_limit", ctypes.c_int64), ("precision", ctypes.c_int), ("plan_only", ctypes.c_bool),
                ("no_fusion", ctypes.c_bool), ("allocator", ctypes.c_void_p)]


class LoaderOptions(ctypes.Structure):
    _fields_ = [("batch", ctypes.c_int64), ("order", ctypes.c_int), ("last", ctypes.c_int), ("epoch", ctypes.c_int64),
                ("skip", ctypes.c_int64), ("micro_batch", ctypes.c_int64), ("workers", ctypes.c_int),
                ("prefetch", ctypes.c_int), ("on_device", ctypes.c_bool), ("shards", ctypes.c_int),
                ("rank", ctypes.c_int), ("ranks", ctypes.c_int)]


class SgdOptions(ctypes.Structure):
    _fields_ = [("lr", ctypes.c_double), ("momentum", ctypes.c_double), ("nesterov", ctypes.c_bool),
                ("weight_decay", ctypes.c_double)]


class Batch(ctypes.Structure):
    _fields_ = [("x", ctypes.c_void_p), ("y", ctypes.c_void_p), ("weight", ctypes.c_void_p), ("n", ctypes.c_int64),
                ("samples", ctypes.c_int64), ("first", ctypes.c_bool), ("last", ctypes.c_bool),
                ("classes", ctypes.c_int), ("row", ctypes.c_int64), ("shard", ctypes.c_int),
                ("shard_last", ctypes.c_bool), ("whole", ctypes.c_int64), ("shards", ctypes.c_int)]


class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("persistent", "persistent_peak", "step_peak", "peak", "limit")]


def load_library():
    lib = ctypes.CDLL(os.environ.get("GRADUS_LIBRARY", os.path.join(ROOT, "build/release/libgradus.so")))
    pointer = ctypes.c_void_p
    for name, result, arguments in [
            ("gr_open", pointer, [ctypes.POINTER(Options)]), ("gr_ok", ctypes.c_bool, [pointer]),
            ("gr_error_text", ctypes.c_char_p, [pointer]), ("gr_version", ctypes.c_char_p, []),
            ("gr_isa_name", ctypes.c_char_p, [pointer]), ("gr_step_end", None, [pointer]),
            ("gr_procedural", pointer, [pointer, ctypes.c_int64, ctypes.c_int, ctypes.c_int, ctypes.c_uint64]),
            ("gr_loader_open", pointer, [pointer, ctypes.POINTER(LoaderOptions)]),
            ("gr_loader_next", ctypes.c_bool, [pointer, ctypes.POINTER(Batch)]),
            ("gr_loader_dry", ctypes.c_bool, [pointer, ctypes.c_int64, ctypes.POINTER(Batch)]),
            ("gr_cats_vs_dogs_net", pointer, [pointer]), ("gr_cifar10_cnn", pointer, [pointer]),
            ("gr_resnet18_cifar", pointer, [pointer, ctypes.c_int]),
            ("gr_sgd", pointer, [pointer, pointer, ctypes.POINTER(SgdOptions)]), ("gr_adam", pointer, [pointer] * 3),
            ("gr_forward", pointer, [pointer, pointer]), ("gr_loss", pointer, [pointer, ctypes.POINTER(Batch)]),
            ("gr_minimize", ctypes.c_bool, [pointer, pointer]), ("gr_item", ctypes.c_double, [pointer]),
            ("gr_plan_begin", None, [pointer]), ("gr_plan_end", ctypes.c_int64, [pointer]),
            ("gr_memory_use", Memory, [pointer])]:
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def gradus(model, optimizer, batch, threads, mode, device, precision):
    lib, side, b = load_library(), SIDES[model], Batch()
    ctx = lib.gr_open(Options(device=device.encode(), seed=1, threads=threads, precision=PRECISIONS[precision]))
    if not lib.gr_ok(ctx):
        sys.exit(lib.gr_error_text(ctx).decode())
    data = lib.gr_procedural(ctx, batch, side, side, 1)
    forget_peak()
    before = memory("VmRSS")
    net = {"cats-vs-dogs": lambda: lib.gr_cats_vs_dogs_net(ctx), "cifar10-cnn": lambda: lib.gr_cifar10_cnn(ctx),
           "resnet18-cifar": lambda: lib.gr_resnet18_cifar(ctx, 10)}[model]()
    opt = {"sgd": lambda: lib.gr_sgd(ctx, net, None), "adam": lambda: lib.gr_adam(ctx, net, None),
           "momentum": lambda: lib.gr_sgd(ctx, net, SgdOptions(0.01, 0.9, True, 5e-4))}[optimizer]()
    loader = lib.gr_loader_open(data, LoaderOptions(batch=batch, order=GR_IN_ORDER, on_device=device != "cpu"))

    def minimize():
        loss = lib.gr_loss(lib.gr_forward(net, b.x), b)
        lib.gr_minimize(opt, loss)
        return loss

    lib.gr_plan_begin(ctx)
    lib.gr_loader_dry(loader, batch, b)
    minimize()
    lib.gr_plan_end(ctx)

    def step():
        if not lib.gr_loader_next(loader, b):  # the epoch's end; another one begins
            lib.gr_loader_next(loader, b)
        lib.gr_item(minimize())
        lib.gr_step_end(ctx)
        if not lib.gr_ok(ctx):
            sys.exit(lib.gr_error_text(ctx).decode())

    peak = grown_since(before) if device == "cpu" else lambda: lib.gr_memory_use(ctx).peak
    return step, peak, f"{lib.gr_version().decode()} {lib.gr_isa_name(ctx).decode()}"


# --- PyTorch ----------------------------------------------------------------------------------------------------------

def pytorch_net(model, torch):
    nn = torch.nn
    if model == "cats-vs-dogs":
        return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                             nn.Linear(320000, 128), nn.ReLU(), nn.Linear(128, 1))
    if model == "cifar10-cnn":
        return nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
                             nn.MaxPool2d(2), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 64),
                             nn.ReLU(), nn.Linear(64, 10))

    class Block(nn.Module):
        def __init__(self, c, k, stride):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(c, k, 3, stride, 1, bias=False), nn.BatchNorm2d(k), nn.ReLU(),
                                      nn.Conv2d(k, k, 3, 1, 1, bias=False), nn.BatchNorm2d(k))
            self.side = nn.Sequential(nn.Conv2d(c, k, 1, stride, bias=False),
                                      nn.BatchNorm2d(k)) if stride > 1 else nn.Identity()

        def forward(self, x):
            return torch.relu(self.body(x) + self.side(x))

    layers, c = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()], 64
    for k, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(c, k, stride), Block(k, k, 1)]
        c = k
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def pytorch(model, optimizer, batch, threads, mode, device, precision):
    import torch
    import torch.nn.functional as F
    torch.set_num_threads(threads)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False  # Gradus computes in fp32
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    side = SIDES[model]
    x, labels = torch.rand(batch, 3, side, side).to(device), torch.randint(0, 2, (batch,)).to(device)
    forget_peak()
    before = memory("VmRSS")
    net = pytorch_net(model, torch).to(device)
    if mode != "eager":
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    opt = {
        "sgd": lambda p: torch.optim.SGD(p, 0.01, fused=True), "adam": lambda p: torch.optim.Adam(p, 0.001, fused=True),
        "momentum": lambda p: torch.optim.SGD(p, 0.01, momentum=0.9, nesterov=True, weight_decay=5e-4, fused=True)
    }[optimizer](net.parameters())
    forward = torch.compile(net) if mode == "compile" else net

    def loss_of(z):
        if model == "cats-vs-dogs":
            return F.binary_cross_entropy_with_logits(z[:, 0], labels.to(z.dtype))
        return F.cross_entropy(z, labels)

    def step():
        opt.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=precision == "bf16"):
            loss = loss_of(forward(x))
        loss.backward()
        opt.step()
        loss.item()

    return step, grown_since(before) if device == "cpu" else torch.cuda.max_memory_allocated, torch.__version__


# --- Keras ------------------------------------------------------------------------------------------------------------

def keras_net(model, keras):
    layers = keras.layers
    if model == "cats-vs-dogs":
        return keras.Sequential([
            keras.Input((200, 200, 3)),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(1)
        ])
    if model == "cifar10-cnn":
        return keras.Sequential([
            keras.Input((32, 32, 3)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(10)
        ])

    def conv(x, k, kernel, stride):
        x = layers.Conv2D(k, kernel, stride, padding="same", use_bias=False)(x)
        return layers.BatchNormalization()(x)

    image = keras.Input((32, 32, 3))
    x = layers.ReLU()(conv(image, 64, 3, 1))
    for k, first in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for stride in (first, 1):
            y = conv(layers.ReLU()(conv(x, k, 3, stride)), k, 3, 1)
            x = layers.ReLU()(layers.Add()([y, conv(x, k, 1, stride) if stride > 1 else x]))
    return keras.Model(image, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))


def keras(model, optimizer, batch, threads, mode, device, precision):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    import keras as k
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    k.utils.set_random_seed(1)
    x = tf.random.uniform((batch, SIDES[model], SIDES[model], 3))
    y = tf.random.uniform((batch,), 0, 2, tf.int32)
    forget_peak()
    before = memory("VmRSS")
    net = keras_net(model, k)
    opt = {"sgd": lambda: k.optimizers.SGD(0.01), "adam": lambda: k.optimizers.Adam(0.001),
           "momentum": lambda: k.optimizers.SGD(0.01, momentum=0.9, nesterov=True, weight_decay=5e-4)}[optimizer]()
    binary = model == "cats-vs-dogs"
    net.compile(opt, k.losses.BinaryCrossentropy(from_logits=True) if binary else
                k.losses.SparseCategoricalCrossentropy(from_logits=True))
    y = tf.cast(y, tf.float32)[:, None] if binary else y
    train, data = net.make_train_function() or net.train_function, iter(tf.data.Dataset.from_tensors((x, y)).repeat())
    return lambda: float(train(data)["loss"]), grown_since(before), f"{k.__version__} on TensorFlow {tf.__version__}"


def main():
    name, model, optimizer, batch, threads, mode, device, precision = sys.argv[1:]
    make = {"gradus": gradus, "pytorch": pytorch, "keras": keras}[name]
    step, peak, version = make(model, optimizer, int(batch), int(threads), mode, device, precision)
    timed(step, 0, WARM_UP)
    say(version=version)
    for line in sys.stdin:
        say(ms=timed(step, float(line)))
    say(peak_bytes=peak())


if __name__ == "__main__":
    main()

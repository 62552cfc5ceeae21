"""Gradus from Python, by ctypes: for notebooks and for trying things out. Needs the shared library, and nothing else.

    import gradus
    g = gradus.Context(seed=1)
    x, w = g.tensor([[1, 2], [3, 4]]), g.variable([[0.5], [-1]])
    y = g.call("gr_tanh", g.call("gr_dense", x, w, None, None))
    g.backward(y, [[1], [1]])
    print(y.shape, w.grad.list())

$GRADUS_LIBRARY names the library; else it is looked for in build/release and among the system's. Any function of
gradus.h that takes and gives tensors, modules and numbers can be called by its name; an error raises gradus.Error.
"""
import ctypes
import numbers
import os
import pathlib

F32, F64, I32 = 1, 2, 6  # of gr_type
_CODES = {F32: ctypes.c_float, F64: ctypes.c_double, I32: ctypes.c_int32}
# Whose last argument is a double, where a whole number of Python's would come as none.
DOUBLES = set("""gr_dropout gr_dropout_layer gr_l2_penalty gr_scale gr_scale_layer gr_set_clip gr_set_decay_scale
              gr_set_ema gr_set_loss_scale gr_set_lr gr_set_lr_scale gr_set_sam gr_set_update_weight
              gr_smoothed_cross_entropy""".split())
# That answer yes or no, not with a pointer.
BOOLS = set("""gr_backward gr_backward_from gr_export_weights gr_import_weights gr_load_weights gr_minimize
            gr_module_build gr_module_set_outputs gr_ok gr_optimizer_step gr_record gr_save_weights gr_set_clip
            gr_set_decay_scale gr_set_decay_weights_only gr_set_ema gr_set_lookahead gr_set_loss_scale gr_set_lr
            gr_set_lr_scale gr_set_sam""".split())


class Error(RuntimeError):
    """What gr_error_text says."""


class _Structure(ctypes.Structure):
    """A structure that refuses names which are no fields of it; ctypes alone passes over them."""

    def __init__(self, **fields):
        unknown = fields.keys() - {name for name, *_ in self._fields_}
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}; it has "
                            f"{', '.join(name for name, *_ in self._fields_)}")
        super().__init__(**fields)


class Options(_Structure):
    """gr_options; what is left out is the usual choice."""
    _fields_ = [("device", ctypes.c_char_p), ("seed", ctypes.c_uint64), ("threads", ctypes.c_int),
                ("memory_limit", ctypes.c_int64), ("precision", ctypes.c_int), ("plan_only", ctypes.c_bool),
                ("no_fusion", ctypes.c_bool), ("allocator", ctypes.c_void_p)]


class DenseOptions(_Structure):
    """gr_dense_options."""
    _fields_ = [("units", ctypes.c_int), ("no_bias", ctypes.c_bool), ("init", ctypes.c_int), ("l2", ctypes.c_double)]


def _load():
    built = pathlib.Path(__file__).resolve().parent.parent / "build/release/libgradus.so"
    lib = ctypes.CDLL(os.environ.get("GRADUS_LIBRARY") or (str(built) if built.exists() else "libgradus.so"))
    for name, result in (("gr_error_text", ctypes.c_char_p), ("gr_item", ctypes.c_double), ("gr_dim", ctypes.c_int64),
                         ("gr_count", ctypes.c_int64), *((name, ctypes.c_bool) for name in BOOLS)):
        getattr(lib, name).restype = result
    return lib


LIB = _load()


def _function(name, result=ctypes.c_void_p):
    """A function of the library; pointers do not fit into the int that ctypes takes results for."""
    f = getattr(LIB, name)
    if f.restype is ctypes.c_int:
        f.restype = result
    return f


def _argument(a):
    """As C takes it: tensors and modules by their pointers, arrays and structures by address."""
    if isinstance(a, (Handle, Context)):
        return a.pointer
    if isinstance(a, numbers.Integral):
        return ctypes.c_int64(a)
    if isinstance(a, numbers.Real):
        return ctypes.c_double(a)
    if isinstance(a, (str, os.PathLike)):
        return os.fsencode(a)
    if isinstance(a, (ctypes.Structure, ctypes.Array)):
        return ctypes.byref(a)
    return a  # None, bytes


def _arguments(name, arguments):
    *first, last = arguments or [None]
    last = float(last) if name in DOUBLES and isinstance(last, numbers.Real) else last
    return map(_argument, [*first, last] if arguments else [])


def _flatten(values):
    """Shape and numbers of nested lists (or of anything with tolist, such as numpy's arrays)."""
    values = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(values, (list, tuple)):
        return [], [values]
    parts = [_flatten(v) for v in values]
    if len({tuple(shape) for shape, _ in parts}) != 1:
        raise ValueError("rows of different lengths, or none")
    return [len(values)] + parts[0][0], [x for _, numbers in parts for x in numbers]


def _nest(numbers, shape):
    if not shape:
        return numbers[0]
    step = len(numbers) // shape[0]
    return [_nest(numbers[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


class Handle:
    """Something of the library's: a module, an optimizer, a tensor. Lives as long as its context, or step."""

    def __init__(self, context, pointer):
        self.context, self.pointer = context, ctypes.c_void_p(pointer)


class Tensor(Handle):
    @property
    def shape(self):
        return tuple(LIB.gr_dim(self.pointer, i) for i in range(LIB.gr_ndim(self.pointer)))

    @property
    def grad(self):
        """The gradient that backward has left, or None."""
        pointer = _function("gr_grad")(self.pointer)
        return Tensor(self.context, pointer) if pointer else None

    def list(self):
        """The numbers, as nested lists; numpy.array(t.list()) makes an array of them."""
        code = _CODES.get(LIB.gr_type_of(self.pointer))
        self.context.check()
        if not code:
            raise Error("numbers of half precision and of whole types but i32 are not read from Python")
        buffer = (code * LIB.gr_count(self.pointer))()
        LIB.gr_download(self.pointer, buffer)
        self.context.check()
        return _nest(list(buffer), self.shape)

    def item(self):
        value = LIB.gr_item(self.pointer)
        self.context.check()
        return value


class Context:
    """gr_context. Options by name: Context(device="ref", seed=1)."""

    def __init__(self, device="cpu", **options):
        self.pointer = ctypes.c_void_p(_function("gr_open")(ctypes.byref(Options(device=device.encode(), **options))))
        self.check()

    def __del__(self):
        if getattr(self, "pointer", None):
            LIB.gr_close(self.pointer)

    def check(self):
        """Raises the error that stands, and forgets it: the context is usable again."""
        if not LIB.gr_ok(self.pointer):
            text = LIB.gr_error_text(self.pointer).decode()
            LIB.gr_clear_error(self.pointer)
            raise Error(text)

    def _new(self, function, values, kind=None):
        shape, numbers = _flatten(values)
        sizes = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        real = LIB.gr_real(self.pointer)
        head = (self.pointer,) if function == "gr_variable" else (self.pointer, kind or real)
        t = Tensor(self, _function(function)(*head, len(shape), sizes))
        self.check()
        LIB.gr_upload(t.pointer, (_CODES[kind or real] * len(numbers))(*numbers))
        self.check()
        return t

    def tensor(self, values):
        return self._new("gr_tensor_new", values)

    def labels(self, values):
        """Whole numbers, as losses take them."""
        return self._new("gr_tensor_new", values, I32)

    def variable(self, values):
        """A tensor with a gradient."""
        return self._new("gr_variable", values)

    def call(self, name, *arguments, kind=Tensor):
        """The function of gradus.h of this name, whose result is a tensor, or of BOOLS; kind=Handle: a module."""
        function = _function(name)
        result = function(*_arguments(name, arguments))
        for context in (self, *(a.context for a in arguments if isinstance(a, Handle))):
            context.check()
        return result if name in BOOLS or result is None else kind(self, result)

    def layer(self, name, *arguments):
        """A layer: layer("relu"), layer("dropout", 0.5), layer("dense", DenseOptions(units=8))."""
        return self.call(f"gr_{name}_layer", self, *arguments, kind=Handle)

    def sequential(self, *layers):
        return self.call("gr_sequential", self, *layers, None, kind=Handle)

    def optimizer(self, name, net, lr):
        """sgd, adam, lars, muon or prox. Their options begin with the rate; zero is the usual choice of all others."""
        return self.call(f"gr_{name}", self, net, (ctypes.c_double * 64)(lr), kind=Handle)

    def forward(self, net, x):
        return self.call("gr_forward", net, x)

    def backward(self, y, dy=None):
        """From a loss, or from any tensor and its gradient (nested lists)."""
        if dy is None:
            LIB.gr_backward(y.pointer)
        else:
            LIB.gr_backward_from(y.pointer, self.tensor(dy).pointer)
        self.check()

    def minimize(self, optimizer, loss):
        """Backward and the optimizer's step; ends the step, and returns the loss."""
        LIB.gr_minimize(optimizer.pointer, loss.pointer)
        value = loss.item()
        LIB.gr_step_end(self.pointer)
        self.check()
        return value

    def step_end(self):
        LIB.gr_step_end(self.pointer)

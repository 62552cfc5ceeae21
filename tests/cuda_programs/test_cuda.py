"""gradus cuda and gradus-simt: programs/*.cu run as they should, or are told what is wrong with them and in which
line."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

GRADUS = os.environ.get("GRADUS")  # the tool; where it is not built, gradus-simt alone is tested
SIMT = os.environ["GRADUS_SIMT"]
PROGRAMS = pathlib.Path(__file__).parent / "programs"
HERE = re.compile(r"// HERE: (.*)")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gradus cuda "))  # with a blank: paths may have some
        for file in PROGRAMS.iterdir():
            shutil.copy(file, self.folder)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def run_in(self, *words, expect=0, **more):
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, cwd=self.folder, timeout=120,
                              env={**os.environ, **more})
        self.assertEqual(done.returncode, expect, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def cuda(self, name, *options, expect=0, arguments=(), **more):
        """Compiles and runs a program, by the tool where there is one."""
        if GRADUS:
            return self.run_in(GRADUS, "cuda", name, *options, "--", *arguments, expect=expect, **more)
        check = [o for o in options if o == "--check"] + ["--check"] * ("--counters" in options)
        self.run_in(SIMT, *check, "-o", "program", name)
        if "--counters" in options:
            more["GRADUS_SIMT_COUNTERS"] = "1"
        return self.run_in("./program", *arguments, expect=expect, **more)


class Right(Case):
    def test_language(self):
        done = self.cuda("language.cu", arguments=["one argument", "two"])
        self.assertEqual(done.stdout, "all right\none argument\ntwo\n")
        self.assertEqual(done.stderr, "")

    def test_who_looks_at_an_error_and_who_does_not(self):
        """By what a call returned, in the usual ways, without cudaGetLastError."""
        looks = """if (cudaMalloc(&p, big) != cudaSuccess) return 3;
if (cudaMalloc(&p, big)) return 3;
if (!cudaMalloc(&p, big)) return 5;
if (cudaSuccess != ::cudaMalloc(&p, big)) return 3;
return ::cudaMalloc(&p, big);
cudaError_t e = cudaMalloc(&p, big); if (e != cudaSuccess) return 3;
cudaError_t e; e = cudaMalloc(&p, big); bool good = e == cudaSuccess; return !good;
cudaError_t e; if ((e = cudaMalloc(&p, big)) != cudaSuccess) return 3;
CHECK(cudaMalloc(&p, big));
CHECK_BY_TEMPLATE(cudaMalloc(&p, big));
cudaMalloc(&p, big) == cudaSuccess || printf("bad ");
bool good = true; good = good && cudaMalloc(&p, big) == cudaSuccess;
switch (cudaMalloc(&p, big)) { case cudaSuccess: break; default: return 3; }
int bad = 0; bad |= cudaMalloc(&p, big); return bad;
cudaError_t e[] = {cudaFree(0), cudaMalloc(&p, big)}; return e[1];
kept = cudaMalloc(&p, big);
cudaAsked own = cudaAsked(4); cudaNothing(); return own.v + !cudaMalloc(&p, big);
cudaMalloc(&p, big); printf("%s ", cudaGetErrorString(cudaErrorMemoryAllocation));
cudaMalloc(&p, big); printf("%s ", cudaGetErrorName(cudaErrorMemoryAllocation));
cudaMalloc(&p, big); if (cudaGetLastError()) return 3;""".splitlines()
        drops = """cudaMalloc(&p, big);
(void)cudaMalloc(&p, big);
if (big) cudaMalloc(&p, big);
cudaFree(0), cudaMalloc(&p, big);
cudaError_t e = cudaMalloc(&p, big);
cudaError_t e; e = cudaMalloc(&p, big); e = cudaFree(0);
auto e = cudaMalloc(&p, big);
cudaMalloc(&p, big); printf("an error ");
cudaMalloc(&p, big); printf("%s ", cudaGetErrorString(cudaErrorNoDevice));""".splitlines()
        functions = "".join(f"int f{i}() {{ void *p; {line} return 0; }}\n" for i, line in enumerate(looks + drops))
        names = ", ".join(f"f{i}" for i in range(len(looks + drops)))
        (self.folder / "asks.cu").write_text(f"""#include <cstdio>
#define CHECK(call) do {{ const cudaError_t e = (call); if (e != cudaSuccess) return 3; }} while (0)
template <class T> int check(T e) {{ return e ? 3 : 0; }}
#define CHECK_BY_TEMPLATE(call) return check((call))
static const size_t big = 1ull << 50;
static cudaError_t kept;
struct cudaAsked {{ int v; cudaAsked(int v) : v(v) {{}} }};
void cudaNothing() {{}}
void relay() {{ return cudaNothing(); }}
float *cudaFloats(int n) {{ float *p; return cudaMalloc(&p, 4 * n) ? nullptr : p; }}
{functions}int (*const f[])() = {{{names}}};
int main(int, char **words) {{ f[atoi(words[1])](); return 3; }}
""")
        self.assertEqual(self.run_in(SIMT, "-Wall", "-Wno-unused", "-o", "asks", "asks.cu").stderr, "")
        for i, line in enumerate(looks + drops):
            with self.subTest(line):
                dropped = i >= len(looks)
                done = self.run_in("./asks", i, expect=7 if dropped else 3)
                self.assertEqual("unread error: out of memory" in done.stderr, dropped)

    def test_language_checked_in_every_order(self):
        self.run_in(SIMT, "--check", "-o", "language", "language.cu")
        for order in ("forward", "reverse", "random"):
            done = self.run_in("./language", GRADUS_SIMT_ORDER=order, GRADUS_SIMT_SEED="3")
            self.assertEqual((done.stdout, done.stderr), ("all right\n", ""), order)

    def test_parts_of_groups_and_copies_by_them(self):
        for words in ([], ["--check"]):
            done = self.cuda("groups.cu", *words)
            self.assertEqual((done.stdout, done.stderr), ("all right\n", ""))

    def test_barriers_of_a_grid_in_every_order(self):
        for words in ([], ["--check"]):
            self.run_in(SIMT, *words, "-o", "cooperative", "cooperative.cu")
            for order in ("forward", "reverse", "random"):
                done = self.run_in("./cooperative", GRADUS_SIMT_ORDER=order, GRADUS_SIMT_SEED="5")
                self.assertEqual((done.stdout, done.stderr), ("all right\n", ""), (words, order))

    def test_barriers_in_memory_and_copies(self):
        """cuda::barrier and cuda::pipeline, whoever comes first."""
        for words in ([], ["--check"]):
            self.run_in(SIMT, *words, "-o", "barrier", "barrier.cu")
            for order in ("forward", "reverse", "random"):
                done = self.run_in("./barrier", GRADUS_SIMT_ORDER=order, GRADUS_SIMT_SEED="7")
                self.assertEqual((done.stdout, done.stderr), ("all right\n", ""), (words, order))

    def test_textures_and_surfaces(self):
        """Against the definition in the programming guide."""
        for words in ([], ["--check"]):
            done = self.cuda("texture.cu", *words)
            self.assertEqual((done.stdout, done.stderr), ("all right\n", ""))

    def test_random_numbers(self):
        """Those of cuRAND, of kernels and of the host's generators."""
        for words in ([], ["--check"]):
            done = self.cuda("random.cu", *words)
            self.assertEqual((done.stdout, done.stderr), ("all right\n", ""))

    def test_ranges_for_a_profiler(self):
        """That nobody looks at: by either header, linked as on a GPU, also in C++."""
        (self.folder / "ranges.cu").write_text("""#include <nvtx3/nvToolsExt.h>
#include <nvToolsExt.h>
#include <nvToolsExtCuda.h>
#include <nvToolsExtCudaRt.h>
#include <cstdio>
int level();
int main()
{
    nvtxEventAttributes_t green = {};
    green.version = NVTX_VERSION, green.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    green.colorType = NVTX_COLOR_ARGB, green.color = 0xff00ff00;
    green.messageType = NVTX_MESSAGE_TYPE_ASCII, green.message.ascii = "green";
    const int first = nvtxRangePush("outer"), second = nvtxRangePushEx(&green);
    const nvtxRangeId_t id = nvtxRangeStartA("beside");
    nvtxMark("here"), nvtxNameCudaStream(0, "the default one");
    nvtxRangeEnd(id);
    const int last = nvtxRangePop(), before = nvtxRangePop(), none = nvtxRangePop();
    printf("%d %d %d %d %d %d\\n", first, second, last, before, none < 0, level());
}
""")
        (self.folder / "level.cpp").write_text("""#include <nvToolsExt.h>
int level() { return nvtxRangePushA("C++") + nvtxRangePop(); }
""")
        self.run_in(SIMT, "-o", "ranges", "ranges.cu", "level.cpp", "-lnvToolsExt")
        self.assertEqual(self.run_in("./ranges").stdout, "0 1 1 0 1 0\n")

    def test_the_hosts_library(self):
        """What it asks of the compiler collides with none of CUDA's words, and links where accesses are checked."""
        for words in ([], ["--check"]):
            done = self.cuda("host_library.cu", *words)
            self.assertEqual((done.stdout, done.stderr), ("407 2 3 thrown 25\n", ""))

    def test_the_host_waits(self):
        """In every way there is, or need not: nothing is found."""
        for words in ([], ["--check"]):
            done = self.cuda("host_waits.cu", *words)
            self.assertEqual((done.stdout, done.stderr), ("62514 961 7052\n", ""))

    def test_rows_and_boxes(self):
        """As the programming guide has them: filled, written by a kernel, copied in parts and in a stream."""
        (self.folder / "box.cu").write_text("""#include <cstdio>
__global__ void number(cudaPitchedPtr box, cudaExtent n)
{
    const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    float *row = (float *)((char *)box.ptr + (z * n.height + y) * box.pitch);
    row[x] += 100 * z + 10 * y + x;
}
int main()
{
    const int W = 5, H = 4, D = 3;
    cudaExtent n = make_cudaExtent(W * sizeof(float), H, D);
    cudaPitchedPtr box, other;
    cudaStream_t s;
    float h[D][H][W], part[2][2][3], rows[H][W];
    cudaMalloc3D(&box, n), cudaMalloc3D(&other, n), cudaStreamCreate(&s);
    printf("%d %d %d\\n", box.pitch % 512 == 0 && box.pitch >= n.width, (int)box.xsize, (int)box.ysize);
    cudaMemset3D(box, 0, n), cudaMemset3DAsync(other, 0, n, s);
    number<<<D, dim3(W, H)>>>(box, n);
    cudaMemcpy3DParms p = {};
    p.srcPtr = box, p.dstPtr = make_cudaPitchedPtr(h, W * sizeof(float), W, H), p.extent = n;
    p.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&p);
    printf("%g %g %g\\n", h[0][0][0], h[1][2][3], h[2][3][4]);
    p.srcPos = make_cudaPos(1 * sizeof(float), 2, 1);
    p.dstPtr = make_cudaPitchedPtr(part, sizeof part[0][0], 3, 2);
    p.extent = make_cudaExtent(sizeof part[0][0], 2, 2);
    cudaMemcpy3D(&p);
    printf("%g %g\\n", part[0][0][0], part[1][1][2]);
    p = cudaMemcpy3DParms(), p.srcPtr = box, p.dstPtr = other, p.extent = n, p.kind = cudaMemcpyDeviceToDevice;
    cudaMemcpy3DAsync(&p, s);
    cudaMemset2DAsync(other.ptr, other.pitch, 0, 2 * sizeof(float), H - 1, s);
    cudaMemcpy2DAsync(rows, sizeof rows[0], other.ptr, other.pitch, n.width, H, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    printf("%g %g %g %g\\n", rows[1][1], rows[1][2], rows[H - 1][0], rows[H - 1][4]);
    cudaMemset2D(box.ptr, box.pitch, 0, n.width, 2);
    cudaMemcpy2D(rows, sizeof rows[0], box.ptr, box.pitch, n.width, H, cudaMemcpyDeviceToHost);
    printf("%g %g\\n", rows[1][4], rows[2][4]);
    cudaMemcpyPeer(other.ptr, 0, box.ptr, 0, box.pitch * H * D);
    cudaFree(box.ptr), cudaFree(other.ptr), cudaStreamDestroy(s);
}
""")
        for words in ([], ["--check"]):
            done = self.cuda("box.cu", *words)
            self.assertEqual((done.stdout, done.stderr), ("1 20 4\n0 123 234\n121 233\n0 12 30 34\n0 24\n", ""))
        rows = "memory of the cudaMalloc at rows.cu:3"
        for line, said in (("cudaMemcpy2D(h, 40, d, pitch / 4, 400, 4, cudaMemcpyDeviceToHost);",
                            "pitch: rows of 400 bytes, each 40 bytes behind the one before\n"),
                           ("cudaMemcpy2D(h, 400, d, pitch, 400, 5, cudaMemcpyDeviceToHost);",
                            f"out of bounds: a copy of 5 rows, in all of 2448 bytes from the {rows}"),
                           ("cudaMemset2D(d, pitch, 0, 600, 4);",
                            "out of bounds: a cudaMemset of 4 rows, in all of 2136 bytes in"),
                           ("cudaMemcpy3DParms p = {}; cudaMemcpy3D(&p);",
                            "pitch: cudaMemcpy3D wants srcPtr and dstPtr")):
            (self.folder / "rows.cu").write_text(f"""int main() {{
float *d, h[1000]; size_t pitch;
cudaMallocPitch(&d, &pitch, 400, 4);
{line}
cudaFree(d); }}
""")
            done = self.cuda("rows.cu", expect=7)
            self.assertIn(f"gradus: {said}", done.stderr)
            self.assertIn(f"  at rows.cu:4    {line}\n", done.stderr)

    def test_shared_variables_outside_of_functions(self):
        """As nvcc takes them, beside what is called the same elsewhere."""
        (self.folder / "outside.cu").write_text("""#include <cstdio>
__shared__ int t[32], *where;
static __shared__ float u;
__shared__ struct { int x; float2 y; } odd;
namespace deep { __shared__ double w[2][2]; __device__ double get() { return w[1][0]; } }
struct has { int t, u; };
__device__ float helper() { return u + deep::w[1][0] + odd.x; }
__device__ int own(int t) { float u = 3; return t + u; }
__device__ int stars(const float *u, int *t) { return u[0] * *t; }
template <class T> __global__ void k(T *x)
{
    has h = {1, 2};
    t[threadIdx.x] = h.t;
    if (threadIdx.x == 0)
        u = 3, u += 1, deep::w[1][0] = 2, odd.x = 10, odd.y = make_float2(4, 5), where = t;
    __syncthreads();
    atomicAdd(&t[0], 1), atomicAdd(&u, 1.0f);
    __syncthreads();
    x[32 * blockIdx.x + threadIdx.x] = where[threadIdx.x] + u + deep::get() + helper() + odd.y.x + sizeof(t) + 2 * u +
                                       own(7) + stars(&u, t);
}
int main()
{
    int *d, h[64], t = 1;
    cudaMalloc(&d, sizeof h), k<<<2, 32>>>(d), cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost), cudaFree(d);
    printf("%d %d %d\\n", h[0], h[t], h[63]);
}
""")
        for words in ([], ["--check"]):
            done = self.cuda("outside.cu", *words)
            self.assertEqual((done.stdout, done.stderr), ("1521 1489 1489\n", ""))
        (self.folder / "outside.cu").write_text("""__shared__ float t[32];
__global__ void k() { t[threadIdx.x + 1] = 1; }
int main() { k<<<1, 32>>>(); return cudaDeviceSynchronize(); }
""")
        self.assertIn("index 32 of 'float [32]'", self.cuda("outside.cu", "--check", expect=7).stderr)

    def test_memory_that_was_given_back_is_nobodys(self):
        """What the host gets where the device, or pinned memory, had some, and what it no longer registers."""
        (self.folder / "again.cu").write_text("""#include <cstdio>
#include <vector>
int main()
{
    const size_t bytes = 1 << 20;
    char *d, *gone[3];
    cudaMalloc(&d, bytes), cudaMemset(d, 1, bytes);
    cudaMalloc(&gone[0], bytes), cudaMallocHost(&gone[1], bytes), cudaMallocManaged(&gone[2], bytes);
    cudaFree(gone[0]), cudaFreeHost(gone[1]), cudaFree(gone[2]);
    int sum = 0;
    for (int i = 0; i < 8; i++) { // of the size for which malloc asks the system
        char *h = (char *)malloc(bytes - 64);
        cudaMemcpy(h, d, bytes - 64, cudaMemcpyDeviceToHost);
        sum += h[9];
    }
    std::vector<char> own(4096);
    cudaHostRegister(own.data(), 4096, 0), cudaHostUnregister(own.data());
    cudaMemcpy(own.data(), d, 4096, cudaMemcpyDeviceToHost);
    cudaHostRegister(own.data(), 2048, 0), cudaHostUnregister(own.data());
    cudaMemcpy(d, own.data(), 4096, cudaMemcpyHostToDevice);
    printf("%d %d\\n", sum, own[9]);
    cudaFree(d);
}
""")
        for words in ([], ["--check"]):
            done = self.cuda("again.cu", *words)
            self.assertEqual((done.stdout, done.stderr), ("8 1\n", ""))

    def test_what_gives_back_is_passed_by_pointer(self):
        """cudaFree, which knows its caller's place where it is called, is a plain function where it is not."""
        (self.folder / "owners.cu").write_text("""#include <cstdio>
#include <functional>
#include <memory>
template <class T> T *fresh() { T *p; return cudaMalloc(&p, 64) ? nullptr : p; }
template <class T> using Owner = std::unique_ptr<T, decltype(&cudaFree)>;
struct Free { template <class T> void operator()(T *p) const { cudaFree(p); } };
struct Table { cudaError_t (*cudaFree)(void *); };
int main()
{
    {
        std::unique_ptr<float, decltype(&cudaFree)> a(fresh<float>(), cudaFree);
        std::unique_ptr<int, cudaError_t (*)(void *)> b(fresh<int>(), &::cudaFree);
        std::unique_ptr<int, decltype(cudaFree) *> c(fresh<int>(), cudaFree);
        std::shared_ptr<float> d(fresh<float>(), cudaFree);
        std::function<cudaError_t(void *)> e = cudaFree;
        Owner<double> f{fresh<double>(), cudaFree};
        std::unique_ptr<int, Free> g(fresh<int>());
        e(fresh<int>());
        Table table = {cudaFree};
        table.cudaFree(fresh<int>());
        void *host; cudaStream_t stream; cudaEvent_t event;
        cudaMallocHost(&host, 64), cudaStreamCreate(&stream), cudaEventCreate(&event);
        std::unique_ptr<void, decltype(&cudaFreeHost)> h(host, cudaFreeHost);
        std::unique_ptr<void, decltype(&cudaStreamDestroy)> s(stream, cudaStreamDestroy);
        std::unique_ptr<gr__cuda_event, decltype(&cudaEventDestroy)> v(event, cudaEventDestroy);
        puts("all");
    }
    int *twice = fresh<int>();
    std::shared_ptr<int> owner(twice, cudaFree);
    owner.reset();
    cudaFree(twice);
}
""")
        for words in ([], ["--check"]):
            done = self.cuda("owners.cu", *words, expect=7)
            self.assertEqual(done.stdout, "all\n")
            self.assertEqual(done.stderr.count("gradus: "), 1, done.stderr)
            self.assertRegex(done.stderr, r"gradus: freed twice: .*owners.cu:4, which cudaFree gave back\n"
                                          r"  at owners.cu:31    cudaFree\(twice\)")

    def test_copies_of_memory_that_is_not_pinned(self):
        """In a stream: they have read the host's memory, or written there, when they return, as on a GPU. While a graph
        is captured they do neither."""
        (self.folder / "paged.cu").write_text("""#include <cstdio>
#include <vector>
__global__ void add(int *x, int v) { x[threadIdx.x] += v; }
static void upload(int *d, int v, cudaStream_t s)
{
    std::vector<int> h(64, v); // gone when the copy comes to it
    cudaMemcpyAsync(d, h.data(), 256, v ? cudaMemcpyDefault : cudaMemcpyHostToDevice, s);
}
int main()
{
    int *d, *pinned;
    std::vector<int> h(64);
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStreamCreate(&s), cudaMalloc(&d, 256), cudaMallocHost(&pinned, 256);
    for (int turn = 0; turn < 2; turn++) {
        upload(d, 10 * turn, s);
        add<<<1, 64, 0, s>>>(d, 1);
        std::fill(h.begin(), h.end(), -1);
        cudaMemcpyAsync(h.data(), d, 256, turn ? cudaMemcpyDefault : cudaMemcpyDeviceToHost, s);
        printf("%d ", h[5]);
    }
    pinned[5] = 8;
    cudaMemcpyAsync(pinned, h.data(), 256, cudaMemcpyHostToHost, s); // waits, wherever on the host it goes
    printf("%d ", pinned[5]);
    cudaMemcpyAsync(pinned, d, 256, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(d, h.data(), 256, cudaMemcpyHostToDevice, s);
    add<<<1, 64, 0, s>>>(d, 1);
    cudaMemcpyAsync(h.data(), d, 256, cudaMemcpyDeviceToHost, s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    std::fill(h.begin(), h.end(), 40);
    cudaGraphLaunch(run, s), cudaGraphLaunch(run, s);
    cudaStreamSynchronize(s);
    printf("%d %d\\n", pinned[5], h[5]);
    cudaGraphExecDestroy(run), cudaGraphDestroy(graph), cudaStreamDestroy(s), cudaFree(d), cudaFreeHost(pinned);
}
""")
        for words in ([], ["--check"]):
            done = self.cuda("paged.cu", *words)
            self.assertEqual((done.stdout, done.stderr), ("1 11 11 11 42\n", ""))

    def test_time(self):
        """From the command to the output in at most 2 seconds of processor time."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cuda("race_missing_barrier.cu")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2)

    def test_exit_code_is_the_programs(self):
        (self.folder / "five.cu").write_text("int main() { return 5; }\n")
        self.cuda("five.cu", expect=5)
        (self.folder / "abort.cu").write_text("int main() { abort(); }\n")
        self.cuda("abort.cu", expect=128 + 6 if GRADUS else -6)


class Wrong(Case):
    """Each program with a line // HERE: KIND is told of it, with file and line, and ends with 7."""

    def test_all(self):
        names = [p.name for p in sorted(PROGRAMS.glob("*.cu")) if HERE.search(p.read_text())]
        self.assertGreater(len(names), 15)
        for name in names:
            with self.subTest(name):
                self.look_at(name)

    def look_at(self, name):
        lines = (PROGRAMS / name).read_text().splitlines()
        number, kind = next((i + 1, m[1]) for i, line in enumerate(lines) if (m := HERE.search(line)))
        done = self.cuda(name, "--check", expect=7)
        self.assertIn(f"gradus: {kind}", done.stderr)
        self.assertIn(f"{name}:{number}", done.stderr)
        self.assertIn(lines[number - 1].split("//")[0].strip(), done.stderr)  # the line itself is shown
        if "// always" in lines:
            done = self.cuda(name, expect=7)
            self.assertIn("gradus: ", done.stderr)

    def test_barriers_in_memory_that_cannot_be_met(self):
        for init, said in (("init(&all, 128);", "deadlock: no thread can run:\n"
                            "  threads 0 to 63: at the mbarrier meet.cu:8\n"
                            "  the mbarrier on shared all + 0 bytes (of 8), for which 64 threads wait: its phase 0 "
                            "wants 64 of 128 arrivals"),
                           ("", "mbarrier: an arrival at meet.cu:8 on shared all + 0 bytes (of 8), which was not ")):
            (self.folder / "meet.cu").write_text(f"""#include <cuda/barrier>
__global__ void meet()
{{
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    if (threadIdx.x == 0) {{
        {init} }}
    __syncthreads();
    all.arrive_and_wait();
}}
int main() {{ meet<<<1, 64>>>(); return cudaDeviceSynchronize(); }}
""")
            for words in ([], ["--check"]):
                self.assertIn(f"gradus: {said}", self.cuda("meet.cu", *words, expect=7).stderr)

    def test_mistakes_with_textures(self):
        """Each is told of, once, at its line, with and without the check of every access (but for the last)."""
        lines = """fetch<<<1, 1>>>(d, t, 0), cudaDeviceSynchronize(); // texture: tex2D: the object is asked for float
count<<<1, 1>>>(d, u, 1), cudaDeviceSynchronize(); // texture: tex2D: the object is asked for integers, and gives
cudaDestroyTextureObject(t), count<<<1, 1>>>(d, t, 0); // texture: tex2D is given one that was destroyed at wrong.cu:32
cudaDestroyTextureObject(t), cudaDestroyTextureObject(t); // texture: cudaDestroyTextureObject is given one that was
write<<<1, 2>>>(s, 1, 0), cudaDeviceSynchronize(); // misaligned: surf2Dwrite at x 1: x counts bytes, 4 for each
write<<<1, 9>>>(s, 4, 0), cudaDeviceSynchronize(); // out of bounds: surf2Dwrite of 4 bytes at byte 32 of row 0,
write<<<1, 1>>>(t, 4, 0), cudaDeviceSynchronize(); // surface: surf2Dwrite is given one that no cudaCreateSurfaceObject
cudaMemcpy2DToArray(a, 0, 0, h, 36, 36, 1, cudaMemcpyHostToDevice); // out of bounds: a copy of 1 rows of 36 bytes to
cudaMemcpyFromArray(h, a, 4, 3, 32, cudaMemcpyDeviceToHost); // out of bounds: a copy of 32 bytes from byte 100 of an
cudaMemcpy2DToArray(a, 0, 0, d, 32, 32, 1, cudaMemcpyHostToDevice); // wrong pointer: cudaMemcpyHostToDevice, but the
cudaFree(a); // wrong pointer: cudaFree of an array: cudaFreeArray
cudaFreeArray(b), cudaFreeArray(b); // freed twice: the array of the cudaMallocArray at wrong.cu:23, which was freed at
cudaFreeArray((cudaArray_t)d); // wrong pointer: cudaFreeArray of what no cudaMallocArray gave
how.filterMode = cudaFilterModeLinear, make(bytes); // texture: cudaFilterModeLinear is for floats: integers want
how.addressMode[1] = (cudaTextureAddressMode)-1, make(bytes); // texture: its cudaTextureDesc holds what nobody set
make(other); // texture: resType 9 is none of cudaResourceTypeArray
make(nowhere); // wrong pointer: a texture of memory that is not the device's
make(odd); // misaligned: a texture's memory begins at a multiple of 512 bytes
make(narrow); // misaligned: a texture's pitch is a multiple of 32 bytes, and 40 is none
make(long_one); // out of bounds: a texture of 8192 bytes in the memory of the cudaMalloc at wrong.cu:22
cudaCreateSurfaceObject(&s, &bytes); // surface: of an array that cudaMallocArray made with the flag
number<<<1, 1>>>(d, v, 1024), cudaDeviceSynchronize(); // out of bounds: tex1Dfetch of texel 1024 of""".splitlines()
        (self.folder / "wrong.cu").write_text("""__global__ void fetch(float *y, cudaTextureObject_t t, int)
{ *y = tex2D<float>(t, 0, 0); }
__global__ void count(float *y, cudaTextureObject_t t, int)
{ *y = tex2D<unsigned>(t, 0, 0); }
__global__ void number(float *y, cudaTextureObject_t t, int i)
{ *y = tex1Dfetch<float>(t, i); }
__global__ void write(cudaSurfaceObject_t s, int by, int y)
{ surf2Dwrite(1.0f, s, threadIdx.x * by, y); }
static cudaTextureDesc how;
static cudaTextureObject_t make(const cudaResourceDesc &what)
{ cudaTextureObject_t t; cudaCreateTextureObject(&t, &what, &how, NULL); return t; }
static cudaResourceDesc of(cudaArray_t a)
{ cudaResourceDesc what = {}; what.res.array.array = a; return what; }
static cudaResourceDesc of(void *p, size_t bytes)
{ cudaResourceDesc what = {}; what.resType = cudaResourceTypeLinear; what.res.linear.devPtr = p;
  what.res.linear.desc = cudaCreateChannelDesc<float>(), what.res.linear.sizeInBytes = bytes; return what; }
int main(int, char **words)
{
    float *d, h[100] = {};
    cudaArray_t a, b;
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>(), small = cudaCreateChannelDesc<unsigned char>();
    cudaMalloc(&d, 4096), cudaMemset(d, 0, 4096); cudaMallocArray(&a, &floats, 8, 4, cudaArraySurfaceLoadStore);
    cudaMallocArray(&b, &small, 8, 4), cudaMemcpyToArray(a, 0, 0, h, 128, cudaMemcpyHostToDevice);
    cudaMemcpyToArray(b, 0, 0, h, 32, cudaMemcpyHostToDevice);
    cudaResourceDesc bytes = of(b), other = bytes, nowhere = of(h, 64), odd = of(d + 1, 64), long_one = of(d, 8192);
    cudaResourceDesc rows = of(a); other.resType = (cudaResourceType)9, rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D = {d, floats, 8, 4, 40}; cudaResourceDesc narrow = rows, numbers = of(d, 4096), whole = of(a);
    cudaTextureObject_t t = make(bytes), u = make(whole), v = make(numbers);
    cudaSurfaceObject_t s; cudaCreateSurfaceObject(&s, &whole); switch (atoi(words[1])) {
""" + "".join(f"    case {i}: {line.split(' // ')[0]} break;\n" for i, line in enumerate(lines)) + "}\n}\n")
        for check in ([], ["--check"]):
            self.run_in(SIMT, *check, "-o", "wrong", "wrong.cu")
            for i, line in enumerate(lines):
                if not check and i == len(lines) - 1:
                    continue
                with self.subTest(line, check=check):
                    said = self.run_in("./wrong", i, expect=7).stderr
                    found = [text for text in said.splitlines() if text.startswith("gradus: ") and " leak" not in text]
                    self.assertEqual(len(found), 1, said)
                    self.assertTrue(found[0].startswith("gradus: " + line.split(" // ")[1]), said)

    def test_what_is_done_with_memory_that_was_given_back(self):
        """And with the wrong function: each is told of once, with its line, also where none is passed on."""
        lines = """m[1] = 2; // freed memory: the host touched the memory of the cudaMallocManaged at gone.cu:4
p[1] = 2; // freed memory: the host touched the memory of the cudaMallocHost at gone.cu:4, which cudaFreeHost gave back
if (d[1]) return 3; // freed memory: the host touched the memory of the cudaMalloc at gone.cu:4, which was freed at
cudaMemcpy(h, p, 16, cudaMemcpyDefault); // freed memory: a copy from the memory of the cudaMallocHost at gone.cu:4
cudaFree(m); // freed twice: the memory of the cudaMallocManaged at gone.cu:4, which was freed at gone.cu:6
cudaFreeHost(p); // freed twice: the memory of the cudaMallocHost at gone.cu:4, which cudaFreeHost gave back
cudaFree(h); // wrong pointer: cudaFree of memory that no cudaMalloc gave
cudaFreeHost(malloc(4)); // wrong pointer: cudaFreeHost of memory that no cudaMallocHost gave
cudaSetDevice(1); // unread error: invalid device ordinal""".splitlines()
        (self.folder / "gone.cu").write_text("""int main(int, char **words)
{
    float *d, *m, *p, h[4];
    cudaMalloc(&d, 4096), cudaMallocManaged(&m, 4096), cudaMallocHost(&p, 4096);
    m[0] = p[0] = 1;
    cudaFree(d), cudaFree(m), cudaFreeHost(p);
    switch (atoi(words[1])) {
""" + "".join(f"    case {i}: {line.split(' // ')[0]} break;\n" for i, line in enumerate(lines)) + "}\n}\n")
        self.run_in(SIMT, "-o", "gone", "gone.cu")
        for i, line in enumerate(lines):
            with self.subTest(line):
                code, said = line.split(" // ")
                done = self.run_in("./gone", i, expect=7)
                self.assertIn(f"gradus: {said}", done.stderr)
                self.assertIn(f"  at gone.cu:{8 + i}    case {i}: {code}", done.stderr)
                self.assertEqual(done.stderr.count("gradus: "), 1, done.stderr)

    def test_a_kernel_that_is_given_the_hosts_memory(self):
        """Without --check, too; and what a kernel may be given is not called so."""
        (self.folder / "given.cu").write_text("""#include <vector>
__device__ int own[4], *linked;
__global__ void make() { linked = (int *)malloc(64); }
__global__ void take(int *first, const int *last, int (*by)(int)) { if (first != last && first) *first = 1; }
template <class T> __global__ void typed(T *x, int n) { if (x) x[0] = n; }
int main(int n, char **)
{
    int *d, *managed, *pinned, *symbol, *made;
    std::vector<int> registered(1 << 16), plain(1 << 16);
    cudaMalloc(&d, 64), cudaMallocManaged(&managed, 64), cudaMallocHost(&pinned, 64);
    cudaHostRegister(registered.data(), 4 << 16, 0), cudaGetSymbolAddress((void **)&symbol, own);
    take<<<1, 1>>>(d, d + 16, nullptr), take<<<1, 1>>>(managed, pinned + 16, nullptr);
    take<<<1, 1>>>(registered.data(), registered.data() + registered.size(), nullptr), take<<<1, 1>>>(symbol, d, 0);
    typed<<<1, 1>>>((float *)NULL, 3), typed<int><<<1, 1>>>(NULL, 3);
    if (n > 1) {
        for (int i = 0; i < 9; i++) typed<<<1, 1>>>(plain.data(), 3); // told of once
    } else {
        make<<<1, 1>>>();
        cudaMemcpyFromSymbol(&made, linked, sizeof made);
        typed<<<1, 1>>>(made, 3);
    }
    cudaHostUnregister(registered.data()), cudaFree(d), cudaFree(managed), cudaFreeHost(pinned);
}
""")
        self.run_in(SIMT, "-o", "given", "given.cu")
        self.assertEqual(self.run_in("./given").stderr, "")
        said = self.run_in("./given", "1", expect=7).stderr
        self.assertIn("gradus: wrong pointer: argument 1 of typed points to memory of the host\n"
                      "  at given.cu:16  ", said)
        self.assertEqual(said.count("gradus: "), 1)

    def test_slips_of_beginners(self):
        """Each with the words that help, with --check or without."""
        slips = """int *d; cudaMalloc(&d, 64); cudaMemset(d, 0, 256); cudaFree(d); // hint: sizes are in bytes: n *
put<<<1, 4>>>(nullptr); cudaDeviceSynchronize(); // hint: nobody set this pointer: cudaMalloc(&p, bytes)
dynamic<<<1, 4>>>(); cudaDeviceSynchronize(); // hint: the third argument of <<<grid, block, BYTES>>> is the size
dynamic<<<1, dim3(64, 32), 8192>>>(); cudaDeviceSynchronize(); // (1,1,1) of blocks (64,32,1), 2048 threads in each
cudaMemcpyToSymbol("factors", h, 16); // symbol: the variable itself is meant, not its name in quotes
cudaMemcpyToSymbol(factors, h, 32); // out of bounds: a copy of 32 bytes at byte 0 of a variable that has 16
cudaMemcpyFromSymbol(h, factors, 8, 12); // out of bounds: a copy of 8 bytes at byte 12 of a
put<<<3 / 4, 4>>>(nullptr); // hint: n / threads is 0 where n is small
float *d; cudaMalloc(&d, 64); cudaMemcpy(d, h, 4, cudaMemcpyDeviceToHost); cudaFree(d); // hint: cudaMemcpy(to, from
cudaEvent_t e = nullptr; cudaEventRecord(e); // hint: a pointer, stream or event that nobody set
h[0] = *nowhere; // hint: a pointer, stream or event that nobody set
volatile float big[8 << 20]; big[0] = 1; // hint: the stack is full, of some megabytes""".splitlines()
        (self.folder / "slips.cu").write_text("""__constant__ float factors[4];
__global__ void put(float *x) { x[threadIdx.x] = factors[0]; }
__global__ void dynamic() { extern __shared__ int words[]; words[threadIdx.x] = 1; }
float h[16], *nowhere;
""" + "".join(f"void f{i}() {{ {line.split(' // ')[0]} }}\n" for i, line in enumerate(slips)) + f"""
void (*const f[])() = {{{', '.join(f'f{i}' for i in range(len(slips)))}}};
int main(int, char **words) {{ f[atoi(words[1])](); }}
""")
        for words in ([], ["--check"]):
            self.run_in(SIMT, *words, "-o", "slips", "slips.cu")
            for i, line in enumerate(slips):
                with self.subTest(line, words=words):
                    done = subprocess.run(["./slips", str(i)], capture_output=True, text=True, cwd=self.folder)
                    self.assertIn(done.returncode, (7, -signal.SIGSEGV))
                    self.assertIn(line.split(" // ")[1], done.stderr)
                    self.assertRegex(done.stderr, rf"slips.cu:({5 + i}|2|3)   ")
                    self.assertEqual(done.stderr.count("gradus: "), 1, done.stderr)

    def test_the_hint_of_a_race_goes_by_whose_accesses_they_are(self):
        for name, words in (("race_between_streams.cu", "two streams: cudaEventRecord()"),
                            ("race_between_blocks.cu", "two blocks: an atomic"),
                            ("race_missing_barrier.cu", "a __syncthreads() between the two")):
            self.assertIn(f"hint: {words}", self.cuda(name, "--check", expect=7).stderr)

    def test_a_grids_barrier_that_not_all_reach(self):
        """Nor is there one where the launch is not cooperative or too large. Without one the blocks race."""
        (self.folder / "grid.cu").write_text("""#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void k(int *y, int *z, int how)
{
    cg::grid_group grid = cg::this_grid();
    const int i = grid.thread_rank(), n = grid.size();
    __shared__ int fetched[32], empty[32];
    y[i] = i; // writes
    cg::memcpy_async(cg::this_thread_block(), fetched, z + 32 * blockIdx.x, how == 10 ? sizeof fetched : 0);
    if ((how == 1 && threadIdx.x > 7) || (how == 2 && blockIdx.x == 1))
        return;
    if (how == 3 && threadIdx.x == 9)
        __syncthreads(); // another
    if (how == 4 && threadIdx.x == 9)
        grid.sync(); // other
    else if (how != 5 && how != 12)
        grid.sync(); // first
    while (how == 8 && blockIdx.x == 0 && atomicAdd(&z[n], 0) == 0) // waits
        ;
    z[i] = y[n - 1 - i];
    if ((how == 9 && blockIdx.x > 0) || how == 12)
        grid.sync(); // second
    if (how == 10)
        z[i] = fetched[threadIdx.x]; // under way
    cg::wait(cg::this_thread_block());
    if (how == 11)
        z[i] = empty[threadIdx.x]; // empty
}
int main(int, char **words)
{
    int *y, *z, how = atoi(words[1]);
    cudaMalloc(&y, 1024), cudaMalloc(&z, 1024);
    cudaMemset(y, 0, 1024), cudaMemset(z, 0, 1024);
    void *arguments[] = {&y, &z, &how};
    cudaError_t e = cudaSuccess;
    if (how == 6)
        k<<<1, 32>>>(y, z, how); // launch
    else
        e = cudaLaunchCooperativeKernel((void *)k, how == 7 ? 217 : 4, how == 7 ? 1024 : 32, arguments); // cooperative
    if (e == cudaErrorCooperativeLaunchTooLarge)
        puts("too large");
    puts(cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(y), cudaFree(z);
}
""")
        lines = (self.folder / "grid.cu").read_text().splitlines()
        said = {1: ("deadlock: a thread exits, while 8 others of its block wait at the grid's barrier", "first"),
                2: ("deadlock: a block ends and will not come to the grid's barrier", "first"),
                3: ("deadlock: no thread can run:", "first"),
                4: ("barrier divergence: here at the grid's barrier", "other"),
                5: ("race: write after read in another block, unordered,", "writes"),
                6: ("grid barrier: the launch is not cooperative", "first"),
                7: ("launch: cooperative, of 217 blocks where 216 fit at a time", "cooperative"),
                8: ("deadlock: an endless wait", "waits"),
                9: ("deadlock: 1 of 4 blocks ended and will not come to the grid's barrier", "second"),
                10: ("missing wait: read during a copy on shared fetched", "under way"),
                11: ("uninitialised: read on shared empty", "empty"),
                12: ("race: write after read in another block, unordered,", "writes")}
        for words in ([], ["--check"]):
            self.run_in(SIMT, *words, "-o", "grid", "grid.cu")
            done = self.run_in("./grid", 0)
            self.assertEqual((done.stdout, done.stderr), ("no error\n", ""))
            for how, (report, place) in said.items():
                if how in (5, 10, 11, 12) and not words:
                    continue
                with self.subTest(how=how, words=words):
                    done = self.run_in("./grid", how, expect=7)
                    self.assertEqual(done.stdout,
                                     "too large\nno error\n" if how == 7 else "unspecified launch failure\n")
                    self.assertIn(f"gradus: {report}", done.stderr)
                    line = next(i for i, text in enumerate(lines, 1) if text.endswith(f"// {place}"))
                    self.assertRegex(done.stderr, rf"grid.cu:{line}\b")
                    self.assertEqual("hint: " in done.stderr, how != 10)
                    self.assertEqual(done.stderr.count("gradus: "), 1, done.stderr)

    def test_a_kernel_in_a_header(self):
        """The first file that is included: its lines are its own."""
        (self.folder / "kernel.h").write_text("__global__ void k(int *x)\n{\n    x[threadIdx.x + 1] = 1;\n}\n")
        (self.folder / "header.cu").write_text("""#include "kernel.h"
int main() { int *x; cudaMalloc(&x, 128); k<<<1, 32>>>(x); return cudaDeviceSynchronize(); }
""")
        done = self.cuda("header.cu", "--check", expect=7)
        self.assertIn("this access kernel.h:3    x[threadIdx.x + 1] = 1;", done.stderr)

    def test_order_shows_in_the_result(self):
        (self.folder / "order.cu").write_text("""
__global__ void k() { printf("%d ", threadIdx.x); }
int main() { k<<<1, 4>>>(); cudaDeviceSynchronize(); }
""")
        self.run_in(SIMT, "-o", "order", "order.cu")
        self.assertEqual(self.run_in("./order", GRADUS_SIMT_ORDER="reverse").stdout, "3 2 1 0 ")


    def test_a_misspelt_environment_stops_the_program(self):
        (self.folder / "order.cu").write_text("""
__global__ void k() { printf("%d ", threadIdx.x); }
int main() { k<<<1, 4>>>(); cudaDeviceSynchronize(); }
""")
        self.run_in(SIMT, "-o", "order", "order.cu")
        for name, word in (("ORDER", "backward"), ("SEED", "x"), ("TENSOR_CORES", "hopper"), ("SEED", "-1")):
            done = self.run_in("./order", expect=2, **{f"GRADUS_SIMT_{name}": word})
            self.assertIn(f'GRADUS_SIMT_{name} is "{word}"; it must be', done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertEqual(self.run_in("./order", GRADUS_SIMT_ORDER="", GRADUS_SIMT_SEED="0x10").stdout, "0 1 2 3 ")


class Compiling(Case):
    def test_errors_speak_of_the_writers_lines(self):
        (self.folder / "bad.cu").write_text("""#include <cuda_runtime.h>
__global__ void k(float *x, int n)
{
    __shared__ float tile[32];
    tile[0] = nowhere;
}
int main()
{
    int *p;
    k<<<1, 32>>>(p, 3);
    k<<<1, 32>>>(1);
}
""")
        done = self.run_in(SIMT, "bad.cu", expect=1)
        self.assertIn("bad.cu:5:", done.stderr)
        self.assertIn("bad.cu:10:", done.stderr)
        self.assertIn("bad.cu:11:", done.stderr)
        for ours in ("gr__launcher", "simt/include", "translated.ii"):
            self.assertNotIn(f"{ours}", "\n".join(l for l in done.stderr.splitlines() if ": error:" in l))
        self.assertNotIn("/simt/", done.stderr)

    def test_an_error_in_a_header_of_ours_that_they_led_to_is_shown(self):
        """By a template; it was left out, and "required from here" stood alone."""
        (self.folder / "tile.cu").write_text("""#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k() { auto tile = cg::tiled_partition<33>(cg::this_thread_block()); }
int main() { nowhere(); }
""")
        for text in ("nowhere();", ""):
            source = (self.folder / "tile.cu").read_text().replace("nowhere();", text)
            (self.folder / "tile.cu").write_text(source)
            said = self.run_in(SIMT, "tile.cu", expect=1).stderr
            self.assertRegex(said, r"tile.cu:3:\S* +required from here\n(?: .*\n)*\S+ error: .*a tile has 1, 2, 4")
            self.assertEqual("'nowhere'" in said.replace("\u2018", "'").replace("\u2019", "'"), bool(text), said)

    def test_kernels_are_launched_by_call(self):
        """As CUDA's manual has it, with a pointer to void."""
        (self.folder / "call.cu").write_text("""#include <cstdio>
__global__ void add(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }
template <class T> __global__ void twice(T *x) { x[threadIdx.x] *= 2; }
int main()
{
    int *x, h[4] = {1, 2, 3, 4}, n = 3;
    cudaMalloc(&x, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    void *arguments[] = {&x, &n};
    cudaLaunchKernel(add, 1, 4, arguments);
    cudaLaunchKernel((void *)add, dim3(1), dim3(4), arguments, 0, 0);
    cudaLaunchKernel((const void *)&add, 1, 4, arguments);
    cudaLaunchKernel(reinterpret_cast<void const *>(
                         &add), 1, 4, arguments);
    cudaLaunchKernel((void *)
                         twice<int>, 1, 4, arguments);
    cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d, line %d\\n", h[0], h[1], h[2], h[3], __LINE__);
    cudaFree(x);
}
""")
        for words in ([], ["--check"]):
            self.assertEqual(self.cuda("call.cu", *words).stdout, "10 12 14 8, line 18\n")
        (self.folder / "variable.cu").write_text("""__global__ void k(int *) {}
int main() { const void *p = (const void *)k; return cudaLaunchKernel(p, 1, 4, nullptr); }
""")
        said = self.run_in(SIMT, "variable.cu", expect=1).stderr
        self.assertRegex(said, "variable.cu:2:.* error: .*wants the kernel itself here")

    def test_a_call_of_the_hosts_functions_is_warned_of(self):
        """g++ knows one kind of function. What may be something else, or nvcc takes, is passed over."""
        (self.folder / "calls.cu").write_text("""#define BOTH __host__ __device__
int divided(int a, int b) { return (a + b - 1) / b; }
BOTH int twice(int x) { return 2 * x; }
BOTH int third(int x) { return divided(x, 3); } // nvcc only warns
__device__ int later(int x);
int sumup(int a) { return a; }
int rankof(int a) { return a; }
int cubed(int x) { return x; }
__device__ int cubed(float x) { return (int)x; }
constexpr int fourth() { return 4; }
template <class T> T plus(T a, T b) { return a + b; }
namespace deep { static inline int lowered(int x) { return x; } }
using namespace deep;
struct S { int v; __device__ S() : v(1) {} __device__ int divided(int a) { return a; } };
__device__ int later(int x) { return x + lowered(x); } // WARNED
__global__ void k(int *x, int n)
{
    S s;
    int sumup(3), i = threadIdx.x;
    auto f = [=] __device__(int a) { return a + sumup; };
    auto rankof = [](int a) { return a; };
    if (i < divided(n, 2)) // WARNED
        x[i] = twice(i) + later(i) + f(i) + rankof(i) + s.divided(3) + fourth() + cubed(1.0f) + third(i);
    x[i] += plus(i, 2); // WARNED
}
int main()
{
    int *x;
    cudaMalloc(&x, 128);
    k<<<divided(32, 32), 32>>>(x, sumup(rankof(cubed(plus(30, 2)))));
    return cudaFree(x);
}
""")
        said = self.run_in(SIMT, "-o", "calls", "calls.cu").stderr
        lines = (self.folder / "calls.cu").read_text().splitlines()
        self.assertEqual(re.findall(r"^calls.cu:(\d+): warning: nvcc refuses this", said, re.M),
                         [str(i) for i, line in enumerate(lines, 1) if "WARNED" in line], said)
        self.assertIn("divided, of calls.cu:2, runs on the host", said)
        self.run_in("./calls")

    def test_kernels_that_are_called_and_variables_of_the_device_on_the_host(self):
        """nvcc refuses the former and warns of the latter. What may be something else is passed over."""
        (self.folder / "slips.cu").write_text("""#include <cstdio>
__device__ int counter, table[4] = {1, 2, 3, 4}, last;
__constant__ float c[4];
__device__ __managed__ int of_both;
__managed__ int too;
__global__ void k() { counter = c[0] + last; }
__global__ int bad(int x) { return x; } // WARNED returns void
template <class T> __global__ T worse(T x) { return x; } // WARNED returns void
template <class T> __global__ void fine(T x) {}
__global__ auto good(int x) -> void {}
__global__ __launch_bounds__(64) void bounded(int x) { counter = x; }
__device__ int get() { return counter; }
struct S { int counter; void k() {} void f() { k(), counter = 3; } };
int own() { int counter = 3, table[2] = {1, 2}, *last = table; return counter + table[0] + *last; }
int parameter(int last, const float *c) { return last + c[0]; }
int main()
{
    S s;
    float h[4];
    int n = 0, *p;
    s.counter = 3, s.k(), of_both = 3, too = 1;
    cudaMemcpyToSymbol(c, h, sizeof(c)), cudaMemcpyFromSymbol(&n, counter, sizeof(counter));
    cudaGetSymbolAddress((void **)&p, table);
    k(); // WARNED k<<<blocks, threads>>>(...)
    k<<<1, 1>>>(), fine<<<1, 1>>>(3), fine<int><<<1, 1>>>(own()), good<<<1, 1>>>(1), bounded<<<1, 1>>>(2);
    printf("%d\\n", counter); // WARNED no counter, of slips.cu:2
    c[0] = 2; // WARNED no c, of slips.cu:3
    n = 2 * table[1] + parameter(3, h); // WARNED no table
    return cudaDeviceSynchronize();
}
""")
        said = self.run_in(SIMT, "-o", "slips", "slips.cu").stderr
        wanted = [(str(i), line.split("// WARNED ")[1])
                  for i, line in enumerate((self.folder / "slips.cu").read_text().splitlines(), 1) if "WARNED" in line]
        found = re.findall(r"^slips.cu:(\d+): warning: (.*)$", said, re.M)
        self.assertEqual([line for line, _ in found], [line for line, _ in wanted], said)
        for (_, words), (_, some) in zip(found, wanted):
            self.assertIn(some, words)

    def test_every_standard_that_nvcc_takes(self):
        (self.folder / "standard.cu").write_text("""
__global__ void k(int *x) { x[threadIdx.x] = threadIdx.x; }
int main() { int *x; cudaMalloc(&x, 128); k<<<1, 32>>>(x); return cudaFree(x); }
""")
        for words in (["-std=c++03"], ["-std=c++11"], ["--std", "c++11"], ["-std=c++14"], ["-std=c++20"]):
            with self.subTest(words):
                self.assertEqual(self.run_in(SIMT, *words, "-o", "standard", "standard.cu").stderr, "")
                self.run_in("./standard")

    def test_what_is_not_there_is_said(self):
        (self.folder / "thrust.cu").write_text("#include <stdio.h>\n#include <thrust/sort.h>\nint main() {}\n")
        done = self.run_in(SIMT, "thrust.cu", expect=1)
        self.assertIn("thrust.cu:2: error: thrust/sort.h is not here", done.stderr)
        self.assertIn("not Thrust", done.stderr)
        (self.folder / "rest.cu").write_text("#include <curand_kernel.h>\n#include <curand_mtgp32.h>\nint main() {}\n")
        done = self.run_in(SIMT, "rest.cu", expect=1)
        self.assertRegex(done.stderr, r"^rest.cu:2: error: curand_mtgp32.h is not here: .*, not the rest of cuRAND$")
        for line, words in (("texture<float, 1> t;", "given up textures that are variables"),
                            ("int f() { return cudaBindTexture(0, 0, 0, 4); }", "given up textures that are variables"),
                            ("cudaMipmappedArray_t t;", "no mipmaps"),
                            ("namespace cuda {} void f() { cuda::make_pipeline(1, 2); }", "is that of one thread"),
                            ("int f() { return curand_poisson(0, 4.0); }", "of cuRAND the generator XORWOW"),
                            ("curandStateMRG32k3a *state;", "of cuRAND the generator XORWOW"),
                            ("int type = CURAND_RNG_PSEUDO_MT19937;", "of cuRAND the generator XORWOW"),
                            ("int f() { return cudaLaunchCooperativeKernelMultiDevice(0, 1, 0); }", "one device"),
                            ("CUdevice d;", "not the driver's"), ("int f() { return cuInit(0); }", "not the driver's"),
                            ("__device__ int f(int x) { return __shfl_down(x, 1); }", "without a mask"),
                            ('__device__ void f() { asm("mov.u32 %r0, %laneid;"); }', "no inline PTX"),
                            ("__device__ int f(int x) { return __shfl_snc(x, 1); }", None)):
            for locale in ("C", "C.UTF-8"):
                with self.subTest(line=line, locale=locale):
                    (self.folder / "names.cu").write_text(f"#include <cuda.h>\n{line}\nint main() {{}}\n")
                    said = self.run_in(SIMT, "names.cu", expect=1, LC_ALL=locale).stderr
                    self.assertIn("names.cu:2:", said)
                    told = [text for text in said.splitlines() if text.startswith("gradus-simt: ")]
                    self.assertEqual(len(told), 1 if words else 0, said)
                    self.assertTrue(not words or words in told[0], said)

    def test_the_host_touching_the_device_is_said_after_other_findings(self):
        (self.folder / "twice.cu").write_text("""#include <cuda_runtime.h>
__global__ void k(int *y) { y[threadIdx.x] = 1; }
int main()
{
    int *y;
    cudaMalloc(&y, 64);
    k<<<1, 2048>>>(y);
    volatile int first = *y;
    return first;
}
""")
        done = self.cuda("twice.cu", expect=7)
        self.assertIn("the host touched the memory of the cudaMalloc at twice.cu:6", done.stderr)
        self.assertIn("at twice.cu:8", done.stderr)

    def test_a_kernel_that_never_ends_says_where_it_is(self):
        (self.folder / "endless.cu").write_text("""#include <cuda_runtime.h>
__device__ void wait_for(volatile int *flag)
{
    while (flag[0] == 0)
        flag[1] = 1;
}
__global__ void k(int *flag)
{
    if (threadIdx.x == 3)
        wait_for(flag);
    __syncthreads();
}
int main()
{
    int *flag;
    cudaMalloc(&flag, 8);
    cudaMemset(flag, 0, 8);
    printf("before\\n");
    fflush(stdout);
    k<<<1, 32>>>(flag);
    cudaDeviceSynchronize();
}
""")
        for words in ([], ["--check"]):
            self.run_in(SIMT, *words, "-g", "-o", "endless", "endless.cu")
            process = subprocess.Popen(["./endless"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True)
            self.assertEqual(process.stdout.readline(), "before\n")
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, -signal.SIGINT)
            self.assertIn("interrupted within a kernel", said)
            self.assertRegex(said, r"at endless.cu:(4|5) ")
            self.assertIn("thread 3: running", said)

    def test_a_kernel_that_runs_for_long_is_told_of(self):
        """Once, while it runs: a thread that waits for another one by reads, which lets nobody go first; or many."""
        sources = {"waits": """__global__ void k()
{
    __shared__ int flag;
    if (threadIdx.x == 9) flag = 0;
    __syncthreads();
    while (threadIdx.x == 3 && flag == 0) {}
    if (threadIdx.x == 40) flag = 1;
}
int main() { k<<<1, 64>>>(); return cudaDeviceSynchronize(); }
""", "many": """__global__ void k(float *x)
{
    float s = 0;
    for (int i = 0; i < 100000; i++) s = s * 0.5f + i;
    x[blockIdx.x] = s;
}
int main() { float *x; cudaMalloc(&x, 4 << 20), k<<<1 << 20, 1>>>(x); return cudaDeviceSynchronize(); }
"""}
        running = {}
        for name, text in sources.items():
            (self.folder / f"{name}.cu").write_text(text)
            self.run_in(SIMT, "-o", name, f"{name}.cu")
        for name in sources:
            running[name] = subprocess.Popen([self.folder / name], stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20)))
        said = {}
        for name, process in running.items():
            said[name] = ""
            while "hint: " not in said[name] and (line := process.stderr.readline()):
                said[name] += line
            process.kill()
            process.communicate()
        self.assertIn("gradus: still running: one thread alone for 5 s", said["waits"])
        self.assertRegex(said["waits"], r"  at waits.cu:6  .*\n  k, block \(0,0,0\)\n(  .*\n)*  thread 3: running\n")
        self.assertIn("hint: a thread that reads a word until another one writes there", said["waits"])
        self.assertIn("gradus: still running: one launch for 10 s", said["many"])
        self.assertRegex(said["many"], r"  at many.cu:[3-5]  .*\n  k, block \(\d+,0,0\)\n")
        self.assertIn("hint: the grid has 1048576 blocks of 1 threads", said["many"])

    def test_freed_memory_is_called_so(self):
        self.assertIn("there was the memory of the cudaMalloc at freed_memory.cu:9, which was freed at "
                      "freed_memory.cu:10", self.cuda("freed_memory.cu", "--check", expect=7).stderr)

    def test_no_compiler(self):
        done = self.run_in(SIMT, "leak.cu", expect=5, GRADUS_CXX="no-such-compiler")
        self.assertIn("apt-get install g++", done.stderr)

    def test_no_such_file(self):
        done = self.run_in(SIMT, "nowhere.cu", expect=2)
        self.assertIn("nowhere.cu: No such file", done.stderr)

    def test_what_is_no_program_is_said(self):
        (self.folder / "notes.txt").write_text("hello\n")
        for name in ("notes.txt", "."):
            done = self.run_in(SIMT, name, expect=2)
            self.assertEqual(done.stderr, f"gradus-simt: {name}: a CUDA program is a file whose name ends in .cu\n")
        (self.folder / "mian.cu").write_text("int mian() { return 0; }\n")
        self.assertIn("there is no function main", self.run_in(SIMT, "mian.cu", expect=1).stderr)

    def test_a_source_is_not_written_over(self):
        for words in (["leak.cu", "-o", "leak.cu"], ["-c", "leak.cu", "-o", "./leak.cu"]):
            self.assertIn("leak.cu would be written over", self.run_in(SIMT, *words, expect=2).stderr)
        self.assertEqual((self.folder / "leak.cu").read_text(), (PROGRAMS / "leak.cu").read_text())

    def test_bad_launches_are_refused(self):
        (self.folder / "bad.cu").write_text("int main()\n{\n    1 <<< 2;\n}\n")
        self.assertIn("bad.cu:3: error: a launch is kernel<<<", self.run_in(SIMT, "bad.cu", expect=1).stderr)
        (self.folder / "bad.cu").write_text("__global__ void k() {}\nint main()\n{\n    k<<<dim3(1, 2)>>>();\n}\n")
        self.assertIn("bad.cu:4: error: a launch says how many blocks and how many threads",
                      self.run_in(SIMT, "bad.cu", expect=1).stderr)
        (self.folder / "bad.cu").write_text("""template <int M> __global__ void k(int n)
{
    const int two = 2;
    __shared__ float fine[M][two], s[n];
}
int main() { k<3><<<1, 1>>>(3); }
""")
        said = self.run_in(SIMT, "bad.cu", expect=1).stderr
        self.assertIn("the size of a __shared__ array is a constant", said)
        self.assertIn("bad.cu:4:", said)
        self.assertNotIn("fine", "".join(line for line in said.splitlines() if "error" in line))
        for variable in ("x[3] = {1, 2, 3}", "x[2] = {}", "x = 3", "x{3}", "x[2]{1, 2}"):
            for text in ("__shared__ float %s;\nint main() {}\n", "__global__ void k() { __shared__ float %s; }\n"):
                (self.folder / "bad.cu").write_text(text % variable)
                self.assertIn("bad.cu:1: error: a __shared__ variable cannot have an initial value",
                              self.run_in(SIMT, "bad.cu", expect=1).stderr)

    def test_a_launch_from_a_kernel_is_said(self):
        (self.folder / "nested.cu").write_text("""#include <cuda_runtime.h>
__global__ void child(int depth) { if (depth < 2) child<<<1, 2>>>(depth + 1); }
int main()
{
    child<<<1, 4>>>(0);
    printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
""")
        for words in ([], ["--check"]):
            done = self.cuda("nested.cu", *words, expect=7)
            self.assertIn("launch from a kernel: child of nested.cu:2", done.stderr)
            self.assertEqual(done.stdout, "cudaErrorNotSupported\n")

    def test_makefile(self):
        """make NVCC=gradus-simt, with objects, a header, and nvcc's usual options."""
        (self.folder / "twice.h").write_text("__device__ inline int twice(int x) { return FACTOR * x; }\n"
                                             "void launch(int *);\n")
        (self.folder / "kernel.cu").write_text("""#include "twice.h"
__global__ void k(int *x) { x[threadIdx.x] = twice(threadIdx.x); }
void launch(int *x) { k<<<1, 32>>>(x); }
""")
        (self.folder / "main.cu").write_text("""#include "twice.h"
int main()
{
    int *x;
    cudaMallocManaged(&x, 128);
    launch(x);
    cudaDeviceSynchronize();
    printf("%d\\n", x[5]);
    cudaFree(x);
}
""")
        (self.folder / "Makefile").write_text("""FLAGS = -O3 -std=c++14 -arch=sm_70 -gencode arch=compute_80,code=sm_80
FLAGS += -lineinfo -Xcompiler -Wall,-Wextra -I. -DFACTOR=2
program: main.o kernel.o
\t$(NVCC) $(FLAGS) -o $@ $^ -lm
%.o: %.cu twice.h
\t$(NVCC) $(FLAGS) -c -o $@ $<
""")
        if not shutil.which("make"):
            self.skipTest("no make")
        self.run_in("make", f"NVCC={SIMT}")
        self.assertEqual(self.run_in("./program").stdout, "10\n")


class Counting(Case):
    PROGRAM = """__global__ void columns(float *y, const float *x)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main()
{
    float *x, *y;
    cudaMalloc(&x, 4096), cudaMalloc(&y, 4096);
    cudaMemset(x, 0, 4096);
    columns<<<1, dim3(32, 32)>>>(y, x);
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y);
}
"""

    def test_kernel_and_lines(self):
        (self.folder / "columns.cu").write_text(self.PROGRAM)
        rows = {line.split()[0]: line.split()[1:] for line in
                self.cuda("columns.cu", "--counters").stderr.splitlines()}
        # launches, threads, barriers, shared requests, conflicts each, global requests, sectors, each, lanes
        self.assertEqual(rows["columns"], ["1", "1024", "1", "64", "15.50", "64", "256", "4.00", "32.0"])
        self.assertEqual(rows["columns.cu:4"], ["32", "0.00", "32", "128", "4.00", "32.0"])
        self.assertEqual(rows["columns.cu:6"], ["32", "31.00", "32", "128", "4.00", "32.0"])


@unittest.skipUnless(GRADUS, "the tool is not built")
class Tool(Case):
    def test_debugger_stops_in_one_thread(self):
        if not shutil.which("gdb"):
            self.skipTest("no gdb")
        (self.folder / "gdb.cu").write_text("""__global__ void k(int *x)
{
    int mine = 10 * threadIdx.x + blockIdx.x;
    x[mine % 8] = 1;
}
int main() { int *x; cudaMallocManaged(&x, 32); k<<<2, 4>>>(x); cudaDeviceSynchronize(); cudaFree(x); }
""")
        done = subprocess.run([GRADUS, "cuda", "gdb.cu", "--gdb", "--break", "4", "--block", "1", "--thread", "3"],
                              input="print mine\nkill\nquit\n", capture_output=True, text=True, cwd=self.folder,
                              timeout=120)
        if "ptrace" in done.stdout + done.stderr:
            self.skipTest("gdb may not trace here")
        self.assertIn("= 31", done.stdout, done.stderr)

    def test_debugger_stays_in_a_thread_over_a_grids_barrier(self):
        if not shutil.which("gdb"):
            self.skipTest("no gdb")
        (self.folder / "gdb.cu").write_text("""#include <cooperative_groups.h>
__global__ void k(int *x)
{
    int mine = 10 * threadIdx.x + blockIdx.x;
    cooperative_groups::this_grid().sync();
    x[mine] = 1;
}
int main()
{
    int *x;
    cudaMalloc(&x, 256);
    void *arguments[] = {&x};
    cudaLaunchCooperativeKernel((void *)k, 3, 4, arguments);
    return cudaFree(x);
}
""")
        done = subprocess.run([GRADUS, "cuda", "gdb.cu", "--gdb", "--break", "5", "--block", "1", "--thread", "3"],
                              input="next\nprint 1000 + mine\nkill\nquit\n", capture_output=True, text=True,
                              cwd=self.folder, timeout=120)
        if "ptrace" in done.stdout + done.stderr:
            self.skipTest("gdb may not trace here")
        self.assertRegex(done.stdout, r"6\s+x\[mine\] = 1;(.|\n)*= 1031", done.stderr)

    def test_usage(self):
        for words, says in (([], "which program"), (["--break", "3", "--block", "x", "leak.cu"], "--block"),
                            (["leak.cu", "--thread", "1"], "--break LINE"), (["leak.cu", "--break", "3"], "--gdb"),
                            (["leak.cu", "--seed", "3"], "--order random"),
                            (["leak.cu", "1000"], "goes behind --: leak.cu -- 1000"),
                            (["leak.cu", "--out", "./leak.cu"], "leak.cu is read and would be written over")):
            self.assertIn(says, self.run_in(GRADUS, "cuda", *words, expect=2).stderr)
        self.assertIn("make its folder", self.run_in(GRADUS, "cuda", "leak.cu", "--out", "no/p", expect=5).stderr)
        self.assertEqual((self.folder / "leak.cu").read_text(), (PROGRAMS / "leak.cu").read_text())

    def test_debugger_that_has_nowhere_to_stop(self):
        """A line that is not there does not let the program run; one that nobody comes to is told at its end."""
        if not shutil.which("gdb"):
            self.skipTest("no gdb")
        (self.folder / "gdb.cu").write_text("""__global__ void k()
{
    printf("kernel\\n");
}
int main() { k<<<2, 4>>>(); cudaDeviceSynchronize(); }
""")

        def told(*words):
            done = subprocess.run([GRADUS, "cuda", "gdb.cu", "--gdb", *words], input="quit\n", capture_output=True,
                                  text=True, cwd=self.folder, timeout=120)
            return done.stdout + done.stderr
        nowhere = told("--break", "99")
        self.assertIn("No line 99", nowhere)
        self.assertNotIn("kernel", nowhere.replace("kernel.cu", ""))
        missed = told("--break", "3", "--block", "2")
        if "ptrace" in missed:
            self.skipTest("gdb may not trace here")
        self.assertIn("nowhere did it stop", missed)
        self.assertNotIn("nowhere did it stop", told("--break", "3", "--block", "1"))

    def test_program_is_kept(self):
        self.cuda("language.cu", "--out", "kept")
        self.assertEqual(self.run_in("./kept").stdout, "all right\n")


if __name__ == "__main__":
    unittest.main()

/*
 * simt.h - the emulator as C sees it: steering, reports, device memory, and the entry points that language.h calls for
 * a kernel.
 *
 * Everything belongs to the calling OS thread: its launches, its orders, its registered buffers, its fault. A launch is
 * over when gr__simt_launch returns, unless it went to a stream (queue.h).
 */
#ifndef GRADUS_SIMT_H
#define GRADUS_SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- for devices, tests and debuggers ----------------------------------------------------------------------------- */

/*
 * The order in which the blocks of a grid run and runnable threads of a block take turns. Orders differ only where a
 * kernel is wrong. At first from the environment: GRADUS_SIMT_ORDER=forward|reverse|random and GRADUS_SIMT_SEED=n.
 */
typedef enum { GR__SIMT_FORWARD, GR__SIMT_REVERSE, GR__SIMT_RANDOM } gr__simt_order;
void gr__simt_set_order(gr__simt_order order, uint64_t seed);

/*
 * Of which compute capability the tensor cores are, 10 major + minor: each adds in a way of its own (tensor_core.c). At
 * first from the environment's GRADUS_SIMT_TENSOR_CORES, else 80.
 */
void gr__simt_set_tensor_cores(int capability);

/*
 * The first thing found wrong since the last gr__simt_clear_fault, or NULL. Until it is cleared, launches do nothing.
 */
const char *gr__simt_fault(void);
void gr__simt_clear_fault(void);

/* Where every thread of the running block is, one line for neighbours at the same place. For a debugger. */
const char *gr__simt_where(void);

/*
 * Device buffers. Kernels may touch registered buffers, within their bounds; what else they touch is tolerated unless
 * strict. Only the check build sees accesses. False: memory is out.
 */
bool gr__simt_register(const void *p, size_t bytes);
void gr__simt_forget(const void *p);

/*
 * A registered buffer that holds nothing yet: the check build reports reads of bytes that no kernel and no copy wrote.
 * False: memory is out. gr__simt_written says that the host wrote some. gr__simt_call_it: its name in reports, which
 * must live as long as the buffer.
 */
bool gr__simt_expect_writes(const void *p);
void gr__simt_written(const void *p, size_t bytes);
void gr__simt_call_it(const void *p, const char *name);
void gr__simt_name(const void *p, char *text, size_t room); /* what lies there, as reports say it */
void gr__simt_set_strict(bool strict);
/* A finding of the check build, which tell is called to tell of: the host at memory, without having waited. */
void gr__simt_expect_waits(void (*tell)(void));

/*
 * Memory of the device's own, zero-filled and registered: kernels and copies in streams alone may touch it, the host is
 * killed by a signal when it does. NULL: memory is out. Freeing waits for all work. With gr__simt_touchable(true),
 * until it is taken back, the host may. gr__simt_retire: nobody may touch these pages of an mmap any more, and what is
 * asked for later lies elsewhere; so does what is freed where strict is set.
 */
void *gr__simt_alloc(size_t bytes);
void gr__simt_free(void *p);
void gr__simt_retire(void *p, size_t bytes);
void gr__simt_touchable(bool on);

/* True in the build that checks every access (CMake option GRADUS_SIMT_CHECK). */
bool gr__simt_checks(void);

/*
 * What kernels asked for between begin and end, in the check build (zeros in the others, where begin returns false). A
 * request is one access by one warp. Reads and writes of 32 neighbouring floats touch 4 sectors; lanes / requests tells
 * how much of the warps was at work.
 */
typedef struct {
    uint64_t launches, threads, barriers;     /* barriers: times that a block, or a part of it, met */
    uint64_t shared_requests, bank_conflicts; /* extra turns because lanes need different words of one bank */
    uint64_t global_requests, global_sectors; /* sectors: pieces of 32 bytes */
    uint64_t lanes;                           /* of all requests */
    uint64_t uncounted;                       /* accesses by a lane far ahead of its warp: those are left out */
} gr__simt_counters;
bool gr__simt_count_begin(void);
gr__simt_counters gr__simt_count_end(void);

/*
 * Before gr__simt_count_end: for each kernel and each line of source from which it touched memory, in no order, what
 * was counted there. line: "FILE:LINE", or "" for all of the kernel, launches, threads and barriers too.
 */
typedef void (*gr__simt_count_visit)(const char *kernel, const char *line, const gr__simt_counters *c, void *data);
void gr__simt_count_lines(gr__simt_count_visit visit, void *data);

/*
 * Writes down at path, as lines of JSON (check/watch.c), the kernels that this thread launches from now on and what
 * one block of one launch does: each request, barrier and collective. Takes effect once, in the check build; false in
 * the others, or when path cannot be written. A program that calls nothing here may be asked by its environment:
 * GRADUS_SIMT_WATCH=path, and GRADUS_SIMT_WATCH_KERNEL, _LAUNCH, _BLOCK (as X,Y,Z), _LIMIT.
 */
typedef struct {
    const char *kernel; /* NULL: the first to be launched. "k" is every k<...> */
    int64_t launch;     /* of that kernel, from 1; 0: the first */
    unsigned block[3];
    int64_t limit; /* lines for requests, barriers and collectives; 0: GR__SIMT_SCENE */
} gr__simt_scene;
enum { GR__SIMT_SCENE = 20000 };
bool gr__simt_watch(const char *path, const gr__simt_scene *scene);

/* --- for language.h ----------------------------------------------------------------------------------------------- */

typedef struct uint3 {
    unsigned x, y, z;
} uint3;

#define GR__SIMT_HIDDEN __attribute__((visibility("hidden")))

/*
 * Real variables, so that a debugger can print them and break on them. A kernel's thread never sees them change, and to
 * know it lets the compiler read them once; the check build's compiler need not report what is constant.
 */
#ifdef __cplusplus
#define GR__SIMT_GIVEN const
#else
#define GR__SIMT_GIVEN
#endif
extern __thread GR__SIMT_GIVEN uint3 threadIdx GR__SIMT_HIDDEN, blockIdx GR__SIMT_HIDDEN, blockDim GR__SIMT_HIDDEN,
    gridDim GR__SIMT_HIDDEN;

/* One launch. run(arguments) is one thread's work; the arguments are copied when the launch has to wait in a stream. */
typedef struct {
    const char *kernel, *file;
    int line;
    const void *function; /* for GR_ALLOW_SHARED */
    uint3 grid, block;
    size_t dynamic_shared;
    void *stream;
    void (*run)(const void *arguments);
    const void *arguments;
    size_t arguments_bytes;
    const char *unit;     /* the file that was compiled */
    bool cooperative;     /* its blocks may wait for each other, at gr__simt_grid_barrier */
    uint64_t most_blocks; /* that may do so */
} gr__simt_config;

void gr__simt_launch(const gr__simt_config *config);

/*
 * Launches written down (record.c): with GRADUS_SIMT_LAUNCHES=path in the environment, each one that the program asks
 * for becomes a line of JSON at path; with GRADUS_SIMT_LAUNCHES_ALONE=1, too, none is run, for those who want to know
 * what is launched and not what comes of it. parameters: as a GPU's kernel finds them, each at a multiple of its
 * alignment. False: the launch is not to be run.
 */
bool gr__simt_writes_down(void);
bool gr__simt_write_down(const gr__simt_config *config, const unsigned char *parameters, size_t bytes);
void gr__simt_allow_shared(const void *function, int bytes, const char *file, int line);

/* One GR_SHARED in the source. */
typedef struct {
    const char *name;
    size_t bytes;
    const char *file;
    int line;
} gr__simt_variable;

/* The block's instance of a variable, the same for all its threads. */
void *gr__simt_shared(const gr__simt_variable *v);
void *gr__simt_dynamic_shared(const char *file, int line);

/* The same for a kernel that may leave it alone: where the launch gave none, an address that nobody may touch. */
void *gr__simt_dynamic_shared_if_any(const char *file, int line);

/* barrier 0 is __syncthreads (threads 0: the whole block), 1 to 15 are named. */
void gr__simt_barrier(int id, int threads, const char *file, int line);

/* A barrier of all blocks of a cooperative launch; whether this is one. */
void gr__simt_grid_barrier(const char *file, int line);
bool gr__simt_is_cooperative(void);

typedef enum {
    GR__SIMT_SYNC,
    GR__SIMT_SHUFFLE,
    GR__SIMT_BALLOT,
    GR__SIMT_ALL,
    GR__SIMT_ANY,
    GR__SIMT_SUM,
    GR__SIMT_MIN,
    GR__SIMT_MAX,
    GR__SIMT_TOGETHER,
    GR__SIMT_LDMATRIX,
    GR__SIMT_LDMATRIX_TRANS,
    GR__SIMT_MMA_F16,
    GR__SIMT_MMA_BF16,
    GR__SIMT_MMA_TF32,
    GR__SIMT_WGMMA_FENCE,
    GR__SIMT_WGMMA,
    GR__SIMT_WGMMA_COMMIT,
    GR__SIMT_WGMMA_WAIT,
} gr__simt_collective;

typedef enum { GR__SIMT_INDEX, GR__SIMT_UP, GR__SIMT_DOWN, GR__SIMT_XOR } gr__simt_shuffle_mode;

/* What a lane brings to a collective, and takes home. */
typedef struct {
    uint64_t in, out;
    gr__simt_shuffle_mode mode;
    int operand, width;
} gr__simt_shuffle;
typedef struct {
    int in;
    unsigned out;
} gr__simt_vote;
typedef struct {
    uint32_t *r;
    const void *row;
} gr__simt_ldmatrix;
typedef struct {
    float *d;
    const uint32_t *a, *b;
} gr__simt_mma;

/* TOGETHER: work(all, mask) is done once, all[lane] being what each lane of the mask brought. */
typedef struct gr__simt_together {
    void (*work)(struct gr__simt_together *const all[32], unsigned mask);
} gr__simt_together;

/*
 * Waits for the lanes of mask; the last one to come does the work for all. argument: one of the structs above (or one
 * that begins with a gr__simt_together), NULL for SYNC.
 */
void gr__simt_warp(unsigned mask, gr__simt_collective op, void *argument, const char *file, int line);

/*
 * The lanes of the warp that are at this place: those that come here before every other one waits or has left.
 */
unsigned gr__simt_active_lanes(const char *file, int line);

/* A barrier of the whole block that tells for how many of its threads v is true. */
int gr__simt_barrier_count(bool v, const char *file, int line);

/* The thread whose turn it is: false outside of kernels. Lets the others of the block have their turns. */
bool gr__simt_in_kernel(void);
/* The number of that turn, 0 outside of kernels: as long as it stays, no other thread runs. launch: its launch's. */
uint64_t gr__simt_turn(uint64_t *launch);
void gr__simt_refuse(const char *what, const char *file, int line); /* a fault: what the emulator does not have */
/* The running thread reads and writes memory on behalf of file:line. */
void gr__simt_read(void *to, const void *from, size_t bytes, const char *file, int line);
void gr__simt_write(void *to, const void *from, size_t bytes, const char *file, int line);
void gr__simt_yield(const char *file, int line);

typedef enum {
    GR__SIMT_ADD,
    GR__SIMT_ADD_FLOAT,
    GR__SIMT_SMALLER,
    GR__SIMT_LARGER,
    GR__SIMT_SMALLER_UNSIGNED,
    GR__SIMT_LARGER_UNSIGNED,
    GR__SIMT_AND,
    GR__SIMT_OR,
    GR__SIMT_XOR_BITS,
    GR__SIMT_EXCHANGE,
    GR__SIMT_COMPARE_AND_SWAP,
    GR__SIMT_INCREMENT, /* to 0 from value on */
    GR__SIMT_DECREMENT, /* to value from 0, or from above it */
} gr__simt_atomic_op;

/* *p = op(*p, value) on 4 or 8 bytes; the old bits. COMPARE_AND_SWAP: *p = value where it was expected. */
uint64_t gr__simt_atomic(void *p, int bytes, gr__simt_atomic_op op, uint64_t value, uint64_t expected, const char *file,
                         int line);

/* __threadfence */
void gr__simt_fence(void);

/* cp.async of size (4 or 16) bytes, of which the first bytes come from global memory and the rest are zero. */
void gr__simt_copy_async(void *shared, const void *global, int size, int bytes, const char *file, int line);
bool gr__simt_is_shared(const void *p);
void gr__simt_copy_commit(void);
void gr__simt_copy_wait(int pending);

#ifdef __cplusplus
}
#endif

#endif

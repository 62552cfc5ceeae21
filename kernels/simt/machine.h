/*
 * machine.h - the emulated GPU of one OS thread, as the emulator's files share it.
 *
 * A block runs at a time; its threads are fibers that take turns and go on until they wait, leave or break a rule.
 * m->current is the thread whose turn it is, NULL while the launching function runs.
 */
#ifndef GRADUS_SIMT_MACHINE_H
#define GRADUS_SIMT_MACHINE_H

#include "kernels/simt/fiber.h"
#include "kernels/simt/simt.h"

enum {
    GR__SIMT_THREADS = 1024, /* of a block, at most */
    GR__SIMT_LANES = 32,
    GR__SIMT_WARPS = GR__SIMT_THREADS / GR__SIMT_LANES,
    GR__SIMT_BARRIERS = 16,
    GR__SIMT_VARIABLES = 64,     /* shared variables of a block */
    GR__SIMT_ARENA = 320 * 1024, /* for 227 KiB of shared memory and the gaps between variables */
    GR__SIMT_STREAMS = 64,       /* 0: work without a stream */
    GR__SIMT_FAULT = 4096,       /* characters of a report */
    GR__SIMT_SHARED = 48 * 1024, /* shared memory of a block without and with GR_ALLOW_SHARED */
    GR__SIMT_SHARED_MAX = 227 * 1024,
};

typedef enum {
    GR__SIMT_NEW,
    GR__SIMT_READY,
    GR__SIMT_RUNNING,
    GR__SIMT_AT_BARRIER,
    GR__SIMT_IN_COLLECTIVE,
    GR__SIMT_LOOKING_ROUND, /* in gr__simt_active_lanes */
    GR__SIMT_AT_MBARRIER,
    GR__SIMT_AT_GRID_BARRIER,
    GR__SIMT_EXITED,
} gr__simt_state;

/* One cp.async under way. */
typedef struct {
    char *to;
    const char *from;
    int size, bytes, group;
    const char *file;
    int line;
} gr__simt_copy;

typedef struct {
    uint3 index;
    int number, warp, lane;
    gr__simt_state state;
    gr__simt_fiber *fiber; /* NULL while NEW */
    const char *file;      /* where it waits */
    int line, barrier;
    void *argument; /* what it brought to a collective; the mbarrier that it waits for */
    gr__simt_copy *copies;
    int copy_count, copy_room, groups; /* groups closed so far */
    unsigned lanes;                    /* answer of gr__simt_active_lanes */
    int tries;                         /* atomics in a row that changed nothing */
    int looks;                         /* check build: reads in a row of one place, by one instruction */
    const void *looked_at, *looked_by; /* which and by which */
    bool vote;                         /* what it brought to gr__simt_barrier_count */
} gr__simt_thread;

/* Lanes waiting for each other at one collective. */
typedef struct {
    unsigned mask, arrived;
    gr__simt_collective op;
    const char *file;
    int line;
} gr__simt_gathering;

typedef struct {
    unsigned exist, exited; /* lanes */
    gr__simt_gathering gathering[GR__SIMT_LANES];
    int gatherings;
} gr__simt_warp_state;

typedef struct {
    int arrived, need, first;
    const char *file;
    int line;
} gr__simt_barrier_state;

/* The threads whose turn may come, in a ring. */
typedef struct {
    uint16_t thread[GR__SIMT_THREADS];
    unsigned head, count;
} gr__simt_ring;

/* A shared variable's place in the running block; what == NULL: the dynamic shared memory. */
typedef struct {
    const gr__simt_variable *what;
    char *at;
    size_t bytes;
} gr__simt_placed;

typedef struct {
    char *memory;
    size_t top, highest; /* end of the last variable; the largest top since the machine was made */
    size_t used;         /* bytes as the GPU counts them */
    size_t limit;        /* of the launch */
    gr__simt_placed placed[GR__SIMT_VARIABLES];
    int count;
    char *dynamic;
    unsigned char owner[GR__SIMT_ARENA / 16]; /* 1 + position in placed, 0: a gap */
    struct {
        const gr__simt_variable *what;
        uint64_t block; /* valid in this block only */
        char *at;
    } found[2 * GR__SIMT_VARIABLES]; /* hash table from variable to place */
} gr__simt_arena;

/* A registered device buffer. shadow: who accessed it, in the check build. */
typedef struct {
    const char *low;
    size_t bytes;
    void *shadow;
    unsigned char *written; /* a bit for each byte that holds something; NULL: all do */
    const char *name;       /* NULL: "a device buffer" */
    bool owned;             /* by gr__simt_alloc */
} gr__simt_buffer;

typedef struct {
    gr__simt_buffer *buffer; /* by address */
    int count, room, last;   /* last: found last time */
    int open;                /* work that runs; 0: what is owned is closed to everybody */
    bool strict;
    void (*host_waits)(void); /* where it does not, before it looks at what a kernel or a copy may still be at, that is
                                 a finding, which this tells; NULL: it is none */
} gr__simt_registry;

/* Kernels that may have more than 48 KiB. */
typedef struct {
    const void *function;
    size_t bytes;
} gr__simt_allowance;

/* How much of each stream's work has happened, as far as somebody knows. */
typedef struct {
    uint32_t at[GR__SIMT_STREAMS];
} gr__simt_time;

typedef struct {
    struct gr__simt_stream *stream[GR__SIMT_STREAMS];
    gr__simt_time host, now; /* what the host has waited for; what came before the work that runs */
    int running;             /* the stream that it runs in */
    uint32_t waited;         /* launches without a stream, which run at once here, that the host has waited for */
    uint32_t copies;         /* that wait in streams, of what the host may be at */
    uint64_t captures, waits;
} gr__simt_queues;

typedef struct gr__simt_machine {
    const gr__simt_config *launch; /* NULL: nothing runs */
    uint64_t block, launches;      /* numbers of blocks and launches begun */

    int threads, warps, exited; /* of the block */
    int vain;                   /* turns in a row in which threads asked for something in vain */
    uint3 shape;                /* for which threads are numbered */
    gr__simt_thread thread[GR__SIMT_THREADS];
    gr__simt_warp_state warp[GR__SIMT_WARPS];
    gr__simt_barrier_state barrier[GR__SIMT_BARRIERS];
    gr__simt_thread *current;
    gr__simt_ring ring;
    struct gr__simt_grid *grid; /* grid.c; NULL: the launch is not cooperative */

    gr__simt_stacks stacks;
    gr__simt_fiber fiber[GR__SIMT_THREADS], launcher;
    gr__simt_fiber *idle[GR__SIMT_THREADS]; /* fibers between two threads */
    int fibers, idles;

    gr__simt_arena shared;
    gr__simt_registry memory;
    gr__simt_queues queue;
    struct gr__simt_async *async; /* async.h; NULL: no kernel asked for it */
    gr__simt_allowance *allowed;
    int allowed_count;

    gr__simt_order order;
    uint64_t seed, random;
    int tensor_cores; /* of which compute capability */
    char fault[GR__SIMT_FAULT];
    char where[GR__SIMT_FAULT];
    struct gr__simt_shadow *shadow;   /* check build */
    struct gr__simt_tally *tally;     /* check build, while it counts */
    const char *counted_kernel;       /* whose accesses are being counted */
    struct gr__simt_watcher *watcher; /* check build, once a block was asked for */
    bool watching;                    /* that block runs */
} gr__simt_machine;

/* machine.c: this OS thread's machine, made on first use; NULL: memory is out (a fault). gr__simt_now: NULL before. */
extern __thread gr__simt_machine *gr__simt_now GR__SIMT_HIDDEN;
gr__simt_machine *gr__simt_here(void);
uint64_t gr__simt_random(gr__simt_machine *m);

/*
 * report.c: records the first fault. In a kernel's thread the launch is abandoned and this does not return; the
 * launching function goes on after it. "; in KERNEL, block (x,y,z) thread (x,y,z)" is added.
 */
void gr__simt_report(gr__simt_machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same in two steps: text that says where this is found, and its report later. */
void gr__simt_compose(gr__simt_machine *m, char text[GR__SIMT_FAULT], const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gr__simt_report_text(gr__simt_machine *m, const char *text);
const char *gr__simt_short(const char *file); /* without the path of the source tree */
void gr__simt_list_threads(gr__simt_machine *m, char *text, size_t room);

/* launch.c: now. */
void gr__simt_run_launch(gr__simt_machine *m, const gr__simt_config *config);

/*
 * block.c: a block from its begin until its threads have ended, or all have come to the grid's barrier, where it is set
 * aside. To go on from there: enter_block, its state as it was, go_on.
 */
void gr__simt_run_block(gr__simt_machine *m, uint3 index);
void gr__simt_enter_block(gr__simt_machine *m, uint3 index);
void gr__simt_go_on(gr__simt_machine *m);
void gr__simt_wake(gr__simt_machine *m, gr__simt_thread *t);
void gr__simt_suspend(gr__simt_machine *m, gr__simt_state why, const char *file, int line);
void gr__simt_let_others_go_first(gr__simt_machine *m, const char *file, int line);

/*
 * patience.c: the running thread has asked in vain for long, at file:line (NULL: not known). Lets others go first;
 * false where all do nothing else, which is to be reported with the place as text.
 */
bool gr__simt_let_others_do_it(gr__simt_machine *m, const char *file, int line);
void gr__simt_report_vain(gr__simt_machine *m, const char *place);

/*
 * grid.c: the blocks of a cooperative launch. run_grid_block: the one of that number, which begins or goes on;
 * goes_on: all have met at the grid's barrier; at_end: of a block; list_grid: of the others, where they wait.
 */
void gr__simt_grid_open(gr__simt_machine *m, uint64_t blocks);
void gr__simt_run_grid_block(gr__simt_machine *m, uint64_t number, uint3 index);
bool gr__simt_grid_goes_on(gr__simt_machine *m);
void gr__simt_grid_close(gr__simt_machine *m);
bool gr__simt_waits_for_grid(const gr__simt_machine *m);
void gr__simt_set_aside(gr__simt_machine *m);
void gr__simt_grid_at_exit(gr__simt_machine *m);
void gr__simt_grid_at_end(gr__simt_machine *m);
void gr__simt_list_grid(const gr__simt_machine *m, char *text, size_t room);

/* queue.c: what the running launch does from now on comes after all that it has done. */
void gr__simt_time_goes_on(gr__simt_machine *m);

/* barrier.c, warp.c, copies.c: what must hold when a thread leaves the kernel. */
void gr__simt_barriers_at_exit(gr__simt_machine *m, const gr__simt_thread *t);
void gr__simt_warp_at_exit(gr__simt_machine *m, const gr__simt_thread *t);
void gr__simt_copies_at_exit(gr__simt_machine *m, const gr__simt_thread *t);

/* warp.c: nobody can run: lets those go who look round for the lanes beside them. False: there are none. */
bool gr__simt_answer_lookers(gr__simt_machine *m);

/* matrix.c: collectives of a whole warp; lane[32]. */
void gr__simt_do_ldmatrix(gr__simt_machine *m, gr__simt_thread *lane, bool transposed, const char *file, int line);
void gr__simt_do_mma(gr__simt_thread *lane, gr__simt_collective op);

/*
 * mbarrier.c, tma.c, wgmma.c: what goes on beside the threads. land_tile: nobody can run, so the next copy must land;
 * false: there is none. land_at_random: perhaps one lands. at_end: of a block. list_mbarriers adds those waited for.
 */
void gr__simt_list_mbarriers(gr__simt_machine *m, char *text, size_t room);
bool gr__simt_land_tile(gr__simt_machine *m);
void gr__simt_land_at_random(gr__simt_machine *m);
void gr__simt_tiles_at_end(gr__simt_machine *m);
void gr__simt_do_wgmma(gr__simt_machine *m, const gr__simt_thread *lane, const gr__simt_gathering *g);
void gr__simt_wgmma_at_exit(gr__simt_machine *m, const gr__simt_thread *t);
void gr__simt_wgmma_at_end(gr__simt_machine *m);
void gr__simt_async_close(gr__simt_machine *m);

/* shared.c */
void gr__simt_shared_reset(gr__simt_machine *m);
static inline bool gr__simt_in_shared(const gr__simt_machine *m, const void *p)
{
    return (size_t)((const char *)p - m->shared.memory) < GR__SIMT_ARENA;
}

/* memory.c: the registered buffer that p lies in, or NULL. */
gr__simt_buffer *gr__simt_find_buffer(gr__simt_machine *m, const void *p);

/* "shared As + 4 bytes (of 4352)" for p. */
void gr__simt_name_address(gr__simt_machine *m, const void *p, char *text, size_t room);

#include "kernels/simt/shadow.h"

#endif

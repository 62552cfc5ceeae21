/*
 * shadow.h - what the check build (GRADUS_SIMT_CHECK) is told beside the loads and stores of the kernel itself. In the
 * other builds nobody listens.
 */
#ifndef GRADUS_SIMT_SHADOW_H
#define GRADUS_SIMT_SHADOW_H

#if defined(GRADUS_SIMT_CHECK)

/* A new launch, a new block. */
bool gr__simt_shadow_launch(gr__simt_machine *m);
void gr__simt_shadow_block(gr__simt_machine *m);

/* All of the block's threads meet, or have ended. */
void gr__simt_shadow_meets(gr__simt_machine *m);

/*
 * A block is set aside at the grid's barrier: a bit for each byte of its shared memory, up to the last variable, that
 * somebody wrote. It goes on, as it does after gr__simt_shadow_block but for that.
 */
void gr__simt_shadow_written(gr__simt_machine *m, unsigned char *bits);
void gr__simt_shadow_put_back(gr__simt_machine *m, const unsigned char *bits);

/* Thread t's access on behalf of file:line, made by the emulator. */
void gr__simt_touch(gr__simt_machine *m, gr__simt_thread *t, const void *p, size_t bytes, bool write, const char *file,
                    int line);
void gr__simt_touch_atomic(gr__simt_machine *m, const void *p, size_t bytes, bool compares, const char *file, int line);

/* The running thread fences for the whole GPU; it comes to a word with an atomic. */
void gr__simt_shadow_fence(gr__simt_machine *m);
void gr__simt_shadow_came(gr__simt_machine *m, const void *word);

/* A copy in a stream. */
void gr__simt_touch_in_stream(gr__simt_machine *m, const void *p, size_t bytes, bool write);

/* An asynchronous copy into shared memory begins and lands. */
void gr__simt_shadow_copy_begins(gr__simt_machine *m, const gr__simt_copy *c);
void gr__simt_shadow_copy_lands(gr__simt_machine *m, const gr__simt_copy *c);

/*
 * Barriers in memory (async.h), by their number: one is made; the running thread arrives, so that others may learn what
 * it knows; a phase is complete; the running thread has waited for it and knows what they knew who arrived.
 */
struct gr__simt_tile;
void gr__simt_shadow_mbarrier(gr__simt_machine *m, int barrier);
void gr__simt_shadow_arrives(gr__simt_machine *m, int barrier);
void gr__simt_shadow_completes(gr__simt_machine *m, int barrier);
void gr__simt_shadow_waited(gr__simt_machine *m, int barrier);

/*
 * A tile is sent by the running thread, and lands. Product number number of its warp, from 1 on,
 * reads bytes; count of them have been made.
 */
void gr__simt_shadow_tile_begins(gr__simt_machine *m, const struct gr__simt_tile *t);
void gr__simt_shadow_tile_lands(gr__simt_machine *m, const struct gr__simt_tile *t);
void gr__simt_shadow_product_reads(gr__simt_machine *m, uint64_t number, const void *p, size_t bytes, const char *file,
                                   int line);
void gr__simt_shadow_products_end(gr__simt_machine *m, int warp, uint64_t count);
void gr__simt_shadow_fence_async(gr__simt_machine *m);

/* All accesses before now, by the warps of which a bit is set, are seen by all of them after now. */
void gr__simt_order_warps(gr__simt_machine *m, unsigned warps);

/* Counters; nothing while nobody counts. */
void gr__simt_count_launch(gr__simt_machine *m);
void gr__simt_count_barrier(gr__simt_machine *m);
void gr__simt_count_close(gr__simt_machine *m);

/*
 * What is watched, nothing while nobody asked for one: a block begins, and has ended or was abandoned; warps met at
 * barrier id; lanes of the running thread's warp at a collective. watch_asked: what the environment asks for.
 */
void gr__simt_watch_asked(gr__simt_machine *m);
void gr__simt_watch_launch(gr__simt_machine *m);
void gr__simt_watch_block(gr__simt_machine *m);
void gr__simt_watch_block_end(gr__simt_machine *m);
void gr__simt_watch_barrier(gr__simt_machine *m, int id, unsigned warps, const char *file, int line);
void gr__simt_watch_collective(gr__simt_machine *m, const gr__simt_gathering *g);
void gr__simt_watch_close(gr__simt_machine *m);

void gr__simt_shadow_close(gr__simt_machine *m);
void gr__simt_shadow_forget(gr__simt_buffer *b);

#else

static inline bool gr__simt_shadow_launch(gr__simt_machine *m)
{
    (void)m;
    return true;
}
static inline void gr__simt_shadow_block(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_shadow_meets(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_shadow_written(gr__simt_machine *m, unsigned char *bits)
{
    (void)m, (void)bits;
}
static inline void gr__simt_shadow_put_back(gr__simt_machine *m, const unsigned char *bits)
{
    (void)m, (void)bits;
}
static inline void gr__simt_touch(gr__simt_machine *m, gr__simt_thread *t, const void *p, size_t bytes, bool write,
                                  const char *file, int line)
{
    (void)m, (void)t, (void)p, (void)bytes, (void)write, (void)file, (void)line;
}
static inline void gr__simt_touch_atomic(gr__simt_machine *m, const void *p, size_t bytes, bool compares,
                                         const char *file, int line)
{
    (void)m, (void)p, (void)bytes, (void)compares, (void)file, (void)line;
}
static inline void gr__simt_shadow_fence(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_shadow_came(gr__simt_machine *m, const void *word)
{
    (void)m, (void)word;
}
static inline void gr__simt_touch_in_stream(gr__simt_machine *m, const void *p, size_t bytes, bool write)
{
    (void)m, (void)p, (void)bytes, (void)write;
}
static inline void gr__simt_shadow_copy_begins(gr__simt_machine *m, const gr__simt_copy *c)
{
    (void)m, (void)c;
}
static inline void gr__simt_shadow_copy_lands(gr__simt_machine *m, const gr__simt_copy *c)
{
    (void)m, (void)c;
}
struct gr__simt_tile;
static inline void gr__simt_shadow_mbarrier(gr__simt_machine *m, int barrier)
{
    (void)m, (void)barrier;
}
static inline void gr__simt_shadow_arrives(gr__simt_machine *m, int barrier)
{
    (void)m, (void)barrier;
}
static inline void gr__simt_shadow_completes(gr__simt_machine *m, int barrier)
{
    (void)m, (void)barrier;
}
static inline void gr__simt_shadow_waited(gr__simt_machine *m, int barrier)
{
    (void)m, (void)barrier;
}
static inline void gr__simt_shadow_tile_begins(gr__simt_machine *m, const struct gr__simt_tile *t)
{
    (void)m, (void)t;
}
static inline void gr__simt_shadow_tile_lands(gr__simt_machine *m, const struct gr__simt_tile *t)
{
    (void)m, (void)t;
}
static inline void gr__simt_shadow_product_reads(gr__simt_machine *m, uint64_t number, const void *p, size_t bytes,
                                                 const char *file, int line)
{
    (void)m, (void)number, (void)p, (void)bytes, (void)file, (void)line;
}
static inline void gr__simt_shadow_products_end(gr__simt_machine *m, int warp, uint64_t count)
{
    (void)m, (void)warp, (void)count;
}
static inline void gr__simt_shadow_fence_async(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_order_warps(gr__simt_machine *m, unsigned warps)
{
    (void)m, (void)warps;
}
static inline void gr__simt_count_launch(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_count_barrier(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_count_close(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_watch_asked(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_watch_launch(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_watch_block(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_watch_block_end(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_watch_barrier(gr__simt_machine *m, int id, unsigned warps, const char *file, int line)
{
    (void)m, (void)id, (void)warps, (void)file, (void)line;
}
static inline void gr__simt_watch_collective(gr__simt_machine *m, const gr__simt_gathering *g)
{
    (void)m, (void)g;
}
static inline void gr__simt_watch_close(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_shadow_close(gr__simt_machine *m)
{
    (void)m;
}
static inline void gr__simt_shadow_forget(gr__simt_buffer *b)
{
    (void)b;
}

#endif

#endif

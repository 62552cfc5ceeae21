/* machine.c - the machine of each OS thread: made on its first use, gone with the thread. */
#include "kernels/simt/machine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/simt/environment.h"
#include "kernels/simt/poison.h"

__thread gr__simt_machine *gr__simt_now;
static __thread bool without_memory; /* the fault of a thread that could not make its machine */

static pthread_key_t at_thread_end;
static pthread_once_t key_made = PTHREAD_ONCE_INIT;

static void close_machine(void *machine)
{
    gr__simt_machine *m = machine;
    gr__simt_stacks_close(&m->stacks);
    if (m->shared.memory) {
        gr__simt_unpoison(m->shared.memory, GR__SIMT_ARENA); /* another thread may be given these addresses */
        munmap(m->shared.memory, GR__SIMT_ARENA + GR__SIMT_SHARED_MAX);
    }
    for (int i = 0; i < GR__SIMT_THREADS; i++)
        free(m->thread[i].copies);
    for (int i = 0; i < m->memory.count; i++) {
        gr__simt_shadow_forget(&m->memory.buffer[i]);
        free(m->memory.buffer[i].written);
    }
    free(m->memory.buffer);
    gr__simt_async_close(m);
    free(m->allowed);
    gr__simt_watch_close(m);
    gr__simt_shadow_close(m);
    gr__simt_count_close(m);
    free(m);
    gr__simt_now = NULL;
}

static void make_key(void)
{
    pthread_key_create(&at_thread_end, close_machine);
}

static void read_environment(gr__simt_machine *m)
{
    const char *why; /* said by who opened the device, or by the program's first call */
    const gr__simt_wishes asked = gr__simt_environment(&why);
    m->order = asked.order;
    m->seed = asked.seed;
    m->tensor_cores = asked.tensor_cores;
}

/* Zero-filled pages, or NULL. */
static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

gr__simt_machine *gr__simt_here(void)
{
    if (gr__simt_now)
        return gr__simt_now;
    gr__simt_machine *m = calloc(1, sizeof *m);
    without_memory = true;
    if (!m)
        return NULL;
    m->shared.memory = map(GR__SIMT_ARENA + GR__SIMT_SHARED_MAX);
    if (!m->shared.memory || !gr__simt_stacks_open(&m->stacks, GR__SIMT_THREADS)) {
        close_machine(m);
        return NULL;
    }
    without_memory = false;
    /* behind the arena: the dynamic shared memory of a launch that gave none */
    mprotect(m->shared.memory + GR__SIMT_ARENA, GR__SIMT_SHARED_MAX, PROT_NONE);
    read_environment(m);
    gr__simt_watch_asked(m);
    pthread_once(&key_made, make_key);
    pthread_setspecific(at_thread_end, m);
    return gr__simt_now = m;
}

void gr__simt_set_order(gr__simt_order order, uint64_t seed)
{
    gr__simt_machine *m = gr__simt_here();
    if (m)
        m->order = order, m->seed = seed;
}

void gr__simt_set_tensor_cores(int capability)
{
    gr__simt_machine *m = gr__simt_here();
    if (m)
        m->tensor_cores = capability;
}

/* xorshift64: any choice will do, but the same one for the same seed. */
uint64_t gr__simt_random(gr__simt_machine *m)
{
    uint64_t x = m->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return m->random = x;
}

const char *gr__simt_fault(void)
{
    if (without_memory)
        return "out of memory: the emulator could not reserve its stacks";
    return gr__simt_now && gr__simt_now->fault[0] ? gr__simt_now->fault : NULL;
}

void gr__simt_clear_fault(void)
{
    without_memory = false;
    if (gr__simt_now)
        gr__simt_now->fault[0] = '\0';
}

bool gr__simt_checks(void)
{
#if defined(GRADUS_SIMT_CHECK)
    return true;
#else
    return false;
#endif
}

#if !defined(GRADUS_SIMT_CHECK)
bool gr__simt_count_begin(void)
{
    return false;
}

gr__simt_counters gr__simt_count_end(void)
{
    return (gr__simt_counters){0};
}

void gr__simt_count_lines(gr__simt_count_visit visit, void *data)
{
    (void)visit, (void)data;
}

bool gr__simt_watch(const char *path, const gr__simt_scene *scene)
{
    (void)path, (void)scene;
    return false;
}
#endif

/*
 * memory.c - memory of the device, of both sides and of the host; copies between them. What the program asked for is
 * kept in a list with the places where it was asked for and given back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/simt/runtime/runtime.h"

enum { NEAR = 256 };

static gr__cuda_block *blocks; /* the youngest first */

gr__cuda_block *gr__cuda_find_block(const void *p)
{
    gr__cuda_block *freed = NULL;
    for (gr__cuda_block *b = blocks; b; b = b->next) {
        const bool inside = (size_t)((const char *)p - b->p) < b->bytes;
        if (inside && !b->freed_file)
            return b;
        freed = inside && !freed ? b : freed;
    }
    return freed;
}

const char *gr__cuda_freed(const gr__cuda_block *b, char *text, size_t room)
{
    if (b->freed_line)
        snprintf(text, room, "%s, which was freed at %s:%d", b->name, b->freed_file, b->freed_line);
    else
        snprintf(text, room, "%s, which %s gave back", b->name, b->freed_file);
    return text;
}

/* --- asked for and given back ------------------------------------------------------------------------------------- */

static const char *const makers[] = {
    [cudaMemoryTypeUnregistered] = "cudaHostRegister",
    [cudaMemoryTypeHost] = "cudaMallocHost",
    [cudaMemoryTypeDevice] = "cudaMalloc",
    [cudaMemoryTypeManaged] = "cudaMallocManaged",
};

/* Takes note of memory that is registered by now. Whole: the device's own, which holds nothing yet. */
static cudaError_t note(char *p, size_t bytes, enum cudaMemoryType type, const char *file, int line)
{
    gr__cuda_block *b = calloc(1, sizeof *b);
    if (!b)
        return gr__cuda_fails(cudaErrorMemoryAllocation, file, line);
    *b = (gr__cuda_block){.next = blocks, .p = p, .bytes = bytes, .type = type, .file = file, .line = line};
    b->freer = "cudaFree";
    snprintf(b->name, sizeof b->name, "the memory of the %s at %.180s:%d", makers[type], file, line);
    blocks = b;
    gr__simt_call_it(p, b->name);
    return cudaSuccess;
}

/* Not zero, as on a GPU that others used before: all bits set are NaN and -1. */
static void *device_memory(size_t bytes)
{
    void *p = gr__simt_alloc(bytes);
    if (p && gr__simt_expect_writes(p)) {
        gr__simt_touchable(true);
        memset(p, 0xFF, bytes);
        gr__simt_touchable(false);
    }
    return p;
}

/* Not malloc's: what is freed must not come back as memory of the host's own, of which a block here still tells. */
static void *host_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (!gr__simt_register(p, bytes)) {
        munmap(p, bytes);
        return NULL;
    }
    return p;
}

cudaError_t gr__cuda_alloc(void **p, size_t bytes, enum cudaMemoryType type, const char *file, int line)
{
    gr__cuda_start();
    if (gr__cuda_look())
        return gr__cuda_look();
    *p = NULL;
    if (!bytes)
        return cudaSuccess;
    *p = type == cudaMemoryTypeDevice ? device_memory(bytes) : host_memory(bytes);
    return *p ? note(*p, bytes, type, file, line) : gr__cuda_fails(cudaErrorMemoryAllocation, file, line);
}

cudaError_t gr__cuda_free(void *p, const char *file, int line)
{
    char text[GR__NAME_ROOM];
    gr__cuda_block *b = p ? gr__cuda_find_block(p) : NULL;
    if (!p)
        return cudaSuccess;
    if (!b || b->p != p || b->type == cudaMemoryTypeHost || b->type == cudaMemoryTypeUnregistered) {
        gr__cuda_find(file, line, "wrong pointer: cudaFree of %s",
                      gr__cuda_is_array(p) ? "an array: cudaFreeArray" : "memory that no cudaMalloc gave");
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    }
    if (b->freed_file) {
        gr__cuda_find(file, line, "freed twice: %s", gr__cuda_freed(b, text, sizeof text));
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    }
    gr__cuda_wait_all();
    gr__simt_host_waited();
    b->freed_file = file ? file : "cudaFree", b->freed_line = line;
    if (b->type == cudaMemoryTypeDevice) {
        gr__simt_free(p);
    } else {
        gr__simt_forget(p);
        gr__simt_retire(p, b->bytes);
    }
    return gr__cuda_look();
}

cudaError_t gr__cuda_free_by_pointer(void *p)
{
    return gr__cuda_free(p, NULL, 0);
}

cudaError_t cudaFreeHost(void *p)
{
    char text[GR__NAME_ROOM];
    gr__cuda_block *b = p ? gr__cuda_find_block(p) : NULL;
    if (!p)
        return cudaSuccess;
    if (!b || b->p != p || b->type != cudaMemoryTypeHost || b->freed_file) {
        if (b && b->p == p && b->freed_file)
            gr__cuda_find(NULL, 0, "freed twice: %s", gr__cuda_freed(b, text, sizeof text));
        else
            gr__cuda_find(NULL, 0, "wrong pointer: cudaFreeHost of memory that no cudaMallocHost gave");
        return gr__cuda_fails(cudaErrorInvalidValue, NULL, 0);
    }
    gr__cuda_wait_all();
    gr__simt_host_waited();
    b->freed_file = "cudaFreeHost";
    gr__simt_forget(p);
    gr__simt_retire(p, b->bytes);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    (void)flags;
    gr__cuda_start();
    if (!p || !bytes || !gr__simt_register(p, bytes))
        return gr__cuda_fails(cudaErrorInvalidValue, NULL, 0);
    return note(p, bytes, cudaMemoryTypeUnregistered, "", 0);
}

cudaError_t cudaHostUnregister(void *p)
{
    gr__cuda_block **link = &blocks;
    while (*link && ((*link)->p != p || (*link)->type != cudaMemoryTypeUnregistered))
        link = &(*link)->next;
    gr__cuda_block *b = *link;
    if (!b)
        return gr__cuda_fails(cudaErrorInvalidValue, NULL, 0);
    gr__simt_forget(p); /* the host's own as before */
    *link = b->next;
    free(b);
    return cudaSuccess;
}

cudaError_t cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice, int device)
{
    (void)p, (void)bytes, (void)advice, (void)device;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    const gr__cuda_block *b = gr__cuda_find_block(p);
    const bool live = b && !b->freed_file;
    *a = (struct cudaPointerAttributes){.type = live ? b->type : cudaMemoryTypeUnregistered};
    a->devicePointer = live ? (void *)(uintptr_t)p : NULL;
    a->hostPointer = live && b->type == cudaMemoryTypeDevice ? NULL : (void *)(uintptr_t)p;
    return cudaSuccess;
}

void gr__cuda_report_leaks(void)
{
    for (const gr__cuda_block *b = blocks; b; b = b->next)
        if (!b->freed_file && b->type == cudaMemoryTypeDevice)
            gr__cuda_find(b->file, b->line, "memory leak: %zu bytes that no %s gave back", b->bytes, b->freer);
}

/* Whether p lies in a block or beside one, as the end of a loop does. */
static bool is_near(const char *p)
{
    for (const gr__cuda_block *b = blocks; b; b = b->next)
        if (p >= b->p - NEAR && p < b->p + b->bytes + NEAR)
            return true;
    return false;
}

static bool is_mapped(const void *p)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return !msync((void *)((uintptr_t)p & ~(page - 1)), page, MS_ASYNC);
}

/* With --check each access is looked at. The program's own variables, and the emulator's, are in its image. */
void gr__cuda_look_at_argument(const gr__simt_config *config, int number, const void *p)
{
    extern const char __executable_start, _end; /* the linker's */
    static int told;                            /* a line of which it has been, which may be in a loop */
    const char *c = p;
    if (gr__simt_checks() || gr__cuda_heap_used() || (c >= &__executable_start && c < &_end) || is_near(c) ||
        !is_mapped(p) || told == config->line)
        return;
    told = config->line;
    gr__cuda_find(config->file, config->line, "wrong pointer: argument %d of %s points to memory of the host", number,
                  config->kernel);
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

static bool of_device(const void *p)
{
    const gr__cuda_block *b = gr__cuda_find_block(p);
    return b && b->type == cudaMemoryTypeDevice;
}

bool gr__cuda_fits(const char *call, const char *side, const void *p, size_t bytes, const char *file, int line)
{
    char text[GR__NAME_ROOM];
    const gr__cuda_block *b = gr__cuda_find_block(p);
    if (!b)
        return true;
    if (b->freed_file) {
        gr__cuda_find(file, line, "freed memory: %s %s %s", call, side, gr__cuda_freed(b, text, sizeof text));
        return false;
    }
    const size_t room = b->bytes - (size_t)((const char *)p - b->p);
    if (bytes <= room)
        return true;
    gr__cuda_find(file, line, "out of bounds: %s of %zu bytes %s %s, which has %zu there", call, bytes, side, b->name,
                  room);
    return false;
}

bool gr__cuda_symbol(bool text, size_t size, size_t offset, size_t bytes, const char *file, int line)
{
    if (text)
        gr__cuda_find(file, line, "symbol: the variable itself is meant, not its name in quotes");
    else if (bytes > size || offset > size - bytes)
        gr__cuda_find(file, line, "out of bounds: a copy of %zu bytes at byte %zu of a variable that has %zu", bytes,
                      offset, size);
    else
        return true;
    gr__cuda_fails(text ? cudaErrorInvalidSymbol : cudaErrorInvalidValue, file, line);
    return false;
}

/* Whether the kind of the copy is that of its pointers. */
static bool right_way(const void *to, const void *from, enum cudaMemcpyKind kind, const char *file, int line)
{
    static const char *const names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                        "cudaMemcpyDeviceToDevice"};
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault || (unsigned)kind > cudaMemcpyDefault)
        return true;
    const bool to_wrong = to_device ? !gr__cuda_find_block(to) : of_device(to);
    const bool from_wrong = from_device ? !gr__cuda_find_block(from) : of_device(from);
    if (to_wrong || from_wrong)
        gr__cuda_find(file, line, "wrong pointer: %s, but the %s memory of the %s", names[kind],
                      to_wrong ? "destination is" : "source is",
                      (to_wrong ? to_device : from_device) ? "host" : "device");
    return !to_wrong && !from_wrong;
}

static void copy_now(void *to, const void *from, size_t bytes)
{
    gr__simt_touchable(true);
    memmove(to, from, bytes);
    gr__simt_written(to, bytes);
    gr__simt_touchable(false);
}

static bool of_host(const void *p)
{
    const gr__cuda_block *b = gr__cuda_find_block(p);
    return !b || b->type == cudaMemoryTypeHost || b->type == cudaMemoryTypeUnregistered;
}

/* By where the memory lies, whatever kind of copy it is called. From host to host the host always waits. */
static cudaError_t copy_in_stream(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    const bool to_host = !gr__cuda_find_block(to) || (of_host(to) && of_host(from));
    if (to_host || !gr__cuda_find_block(from))
        gr__simt_stream_copy_paged(stream, to, from, bytes, to_host);
    else
        gr__simt_stream_copy(stream, to, from, bytes);
    return gr__cuda_look();
}

cudaError_t gr__cuda_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream,
                          bool wait, const char *file, int line)
{
    gr__cuda_start();
    if (!bytes || gr__cuda_look())
        return gr__cuda_look();
    if (!to || !from)
        gr__cuda_find(file, line, "wrong pointer: a copy %s NULL", to ? "from" : "to");
    if (!to || !from || !right_way(to, from, kind, file, line) ||
        !gr__cuda_fits("a copy", "to", to, bytes, file, line) ||
        !gr__cuda_fits("a copy", "from", from, bytes, file, line))
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    if (stream && !wait)
        return copy_in_stream(to, from, bytes, stream);
    gr__cuda_wait_all();
    gr__simt_host_waited();
    if (gr__cuda_look())
        return gr__cuda_look();
    copy_now(to, from, bytes);
    return cudaSuccess;
}

cudaError_t gr__cuda_fill(void *p, int value, size_t bytes, cudaStream_t stream, const char *file, int line)
{
    gr__cuda_start();
    if (!bytes || gr__cuda_look())
        return gr__cuda_look();
    if (!gr__cuda_find_block(p)) {
        gr__cuda_find(file, line, "wrong pointer: cudaMemset of memory that is not the device's");
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    }
    if (!gr__cuda_fits("a cudaMemset", "in", p, bytes, file, line))
        return gr__cuda_fails(cudaErrorInvalidValue, file, line);
    if (stream) {
        gr__simt_stream_fill(stream, p, value, bytes);
        return cudaSuccess;
    }
    gr__cuda_wait_all();
    gr__simt_touchable(true);
    memset(p, value, bytes);
    gr__simt_written(p, bytes);
    gr__simt_touchable(false);
    return gr__cuda_look();
}

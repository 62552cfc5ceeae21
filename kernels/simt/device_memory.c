/*
 * device_memory.c - memory that is the device's alone. Nobody may touch it but kernels and copies while they run: in
 * between its pages are closed, so that the host's mistake ends as it would with a GPU, at the line that makes it.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/simt/machine.h"
#include "kernels/simt/poison.h"
#include "kernels/simt/queue.h"

static size_t whole_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static int protection(const gr__simt_machine *m)
{
    return m->memory.open ? PROT_READ | PROT_WRITE : PROT_NONE;
}

void *gr__simt_alloc(size_t bytes)
{
    gr__simt_machine *m = gr__simt_here();
    const size_t pages = whole_pages(bytes);
    char *p = m && bytes ? mmap(NULL, pages, protection(m), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (p == MAP_FAILED)
        return NULL;
    if (!gr__simt_register(p, bytes)) {
        munmap(p, pages);
        return NULL;
    }
    gr__simt_find_buffer(m, p)->owned = true;
    gr__simt_poison(p + bytes, pages - bytes);
    return p;
}

void gr__simt_retire(void *p, size_t bytes)
{
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    const size_t pages = whole_pages(bytes);
    if (mmap(p, pages, PROT_NONE, how, -1, 0) == MAP_FAILED)
        munmap(p, pages);
}

void gr__simt_free(void *p)
{
    gr__simt_wait_for_all();
    const gr__simt_buffer *b = p ? gr__simt_find_buffer(gr__simt_now, p) : NULL;
    if (!b)
        return;
    const size_t bytes = b->bytes, pages = whole_pages(bytes);
    gr__simt_forget(p);
    gr__simt_unpoison((char *)p + bytes, pages - bytes);
    if (gr__simt_now->memory.strict)
        gr__simt_retire(p, bytes);
    else
        munmap(p, pages);
}

void gr__simt_touchable(bool on)
{
    gr__simt_machine *m = gr__simt_here();
    if (!m)
        return;
    m->memory.open += on ? 1 : -1;
    if (m->memory.open != on)
        return; /* within another such time */
    for (int i = 0; i < m->memory.count; i++) {
        const gr__simt_buffer *b = &m->memory.buffer[i];
        if (b->owned)
            mprotect((void *)(uintptr_t)b->low, whole_pages(b->bytes), protection(m));
    }
}

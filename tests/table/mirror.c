/* mirror.c - copies of a trial's buffers on a device. */
#include "tests/table/mirror.h"

void mirror_open(mirror *m, gr_device *device)
{
    *m = (mirror){.device = device, .good = true};
}

void *mirror_block(mirror *m, void *host, size_t bytes)
{
    void *there = m->n < MIRRORED ? m->device->alloc(m->device, bytes) : NULL;
    m->good &= there && m->device->upload(m->device, there, host, bytes);
    if (!there)
        return NULL;
    m->blocks[m->n].host = host;
    m->blocks[m->n].there = there;
    m->blocks[m->n++].bytes = bytes;
    return there;
}

const gr_step_state *mirror_state(mirror *m, const gr_step_state *state)
{
    m->state = m->device->alloc(m->device, sizeof *state);
    m->good &= m->state && m->device->upload(m->device, m->state, state, sizeof *state);
    return m->state;
}

const char *mirror_close(mirror *m)
{
    gr_device *d = m->device;
    const char *fault = d->fault ? d->fault(d) : NULL;
    for (int i = 0; i < m->n; i++) {
        m->good &= d->download(d, m->blocks[i].host, m->blocks[i].there, m->blocks[i].bytes);
        d->free(d, m->blocks[i].there, m->blocks[i].bytes);
    }
    if (m->state)
        d->free(d, m->state, sizeof *m->state);
    if (!fault && d->fault)
        fault = d->fault(d);
    return fault ? fault : m->good ? NULL : "could not be given its buffers, or they could not be read back";
}

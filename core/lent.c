/* lent.c - see lent.h. */
#include "core/lent.h"

#include <stdlib.h>

static bool grow(gr_lent *l)
{
    if (l->n < l->capacity)
        return true;
    const int capacity = l->capacity ? 2 * l->capacity : 64;
    gr_loan *grown = realloc(l->loans, (size_t)capacity * sizeof *grown);
    if (!grown)
        return false;
    l->loans = grown;
    l->capacity = capacity;
    return true;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool gr__lent_take(gr_lent *l, size_t bytes, gr_block *block, void **address)
{
    const size_t size = (bytes + GR__ALIGN - 1) / GR__ALIGN * GR__ALIGN;
    *address = size >= bytes && grow(l) ? l->from->take(l->from->user, size) : NULL;
    if (!*address)
        return false;
    *block = (gr_block){.offset = l->n, .size = (int64_t)size};
    l->loans[l->n++] = (gr_loan){*address, size};
    l->bytes += (int64_t)size;
    l->peak = larger(l->peak, l->bytes);
    l->most = larger(l->most, l->bytes);
    return true;
}

static void give(gr_lent *l, gr_loan *loan)
{
    if (!loan->address)
        return;
    l->from->give(l->from->user, loan->address, loan->bytes);
    l->bytes -= (int64_t)loan->bytes;
    loan->address = NULL;
}

void gr__lent_give(gr_lent *l, const gr_block *block)
{
    give(l, &l->loans[block->offset]);
}

void gr__lent_end(gr_lent *l)
{
    for (int i = 0; i < l->n; i++)
        give(l, &l->loans[i]);
    l->n = 0;
    l->peak = 0;
    if (l->from && l->from->step_end)
        l->from->step_end(l->from->user);
}

void gr__lent_close(gr_lent *l)
{
    gr__lent_end(l);
    free(l->loans);
}

int64_t gr__lent_take_most(gr_lent *l)
{
    const int64_t most = l->most;
    l->most = l->bytes;
    return most;
}

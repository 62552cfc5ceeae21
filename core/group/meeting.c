/* meeting.c - see meeting.h. */
#include "core/group/meeting.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"

void gr__meeting_close(gr_meeting *m)
{
    free(m->room);
    *m = (gr_meeting){0};
}

double *gr__meeting_own(gr_meeting *m, gr_context *ctx, int64_t count)
{
    if (count > m->capacity) {
        free(m->room);
        m->room = gr__calloc(ctx, (size_t)(1 + gr_group_size(m->group)) * (size_t)count, sizeof *m->room);
        m->capacity = m->room ? count : 0;
    }
    return m->room;
}

/* A group that has ended ends what its ranks are at. */
static bool check(const gr_meeting *m, gr_context *ctx, bool good)
{
    return good || gr__fail(ctx, GR_DEVICE_FAULT, "%s", gr_group_error(m->group));
}

/* How much the next meeting is about, 0: the pass is over. Rank 0, which always has samples, tells who has none. */
static bool agree(gr_meeting *m, int64_t *count)
{
    return m->absent == 0 || gr_group_broadcast(m->group, count, sizeof *count);
}

/* What all have told, told what it is about. */
static const double *gather(gr_meeting *m, gr_context *ctx, int64_t count)
{
    double *all = m->room + m->capacity;
    return check(m, ctx, gr_group_gather(m->group, m->room, (size_t)count * sizeof *all, all)) ? all : NULL;
}

const double *gr__meet(gr_meeting *m, gr_context *ctx, int64_t count)
{
    return check(m, ctx, agree(m, &count)) ? gather(m, ctx, count) : NULL;
}

bool gr__meeting_over(gr_meeting *m, gr_context *ctx)
{
    int64_t nothing = 0;
    return check(m, ctx, agree(m, &nothing));
}

bool gr__meeting_attend(gr_meeting *m, gr_context *ctx)
{
    for (;;) {
        int64_t count = 0;
        if (!check(m, ctx, agree(m, &count)))
            return false;
        if (count == 0)
            return true;
        double *own = gr__meeting_own(m, ctx, count);
        if (!own)
            return false;
        memset(own, 0, (size_t)count * sizeof *own);
        if (!gather(m, ctx, count))
            return false;
    }
}

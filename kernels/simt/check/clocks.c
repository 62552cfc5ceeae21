/* clocks.c - a vector clock for each warp, moved on when warps synchronise. */
#include <string.h>

#include "kernels/simt/check/requests.h"

void gr__simt_order_warps(gr__simt_machine *m, unsigned warps)
{
    uint32_t joined[GR__SIMT_AGENTS] = {0};
    gr__simt_requests_flush(m, warps);
    m->shadow->period += warps == (m->warps < GR__SIMT_WARPS ? (1u << m->warps) - 1 : ~0u);
    for (int w = 0; w < m->warps; w++)
        for (int i = 0; i < GR__SIMT_AGENTS && (warps >> w & 1); i++)
            if (m->shadow->clock[w][i] > joined[i])
                joined[i] = m->shadow->clock[w][i];
    for (int w = 0; w < m->warps; w++) {
        if (!(warps >> w & 1))
            continue;
        memcpy(m->shadow->clock[w], joined, sizeof joined);
        m->shadow->clock[w][w] += joined[w] < GR__SIMT_CLOCK_MAX;
        m->shadow->met[w] = m->shadow->clock[w][w];
    }
}

/* bench_scaling_model.c - see bench_scaling_model.h. */
#include "bench/bench_scaling_model.h"

#include <math.h>
#include <stddef.h>

/* Latencies are those by which NCCL 2.x chooses its algorithms (src/graph/tuning.cc, hwLatencies, ring, simple). */
const scaling_link scaling_links[] = {
    {"10 Gbit/s Ethernet", 14e-6, 1.25e9, "IEEE 802.3ae; NCCL, NET 14 us, which flatters TCP"},
    {"100 Gbit/s Ethernet", 14e-6, 12.5e9, "IEEE 802.3ba; NCCL, NET 14 us"},
    {"InfiniBand HDR", 14e-6, 25e9, "IBTA, 4x HDR 200 Gbit/s; NCCL, NET 14 us"},
    {"NVLink 4", 3.4e-6, 450e9, "NVIDIA's H100 data sheet, 900 GB/s both ways; NCCL, NVLINK 3.4 us"},
    {NULL, 0, 0, NULL}};

double scaling_sum(const scaling_link *link, int64_t ranks, double bytes)
{
    const double r = (double)ranks;
    return 2 * log2(r) * link->latency + 2 * (r - 1) / r * bytes / link->bandwidth;
}

scaling_link scaling_link_of(double small, double large, double bytes)
{
    const double more = large > small ? large - small : large; /* noise may have made the small one the longer */
    return (scaling_link){.name = "measured", .latency = small / 2, .bandwidth = bytes / more};
}

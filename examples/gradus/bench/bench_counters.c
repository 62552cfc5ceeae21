/* bench_counters.c - see bench_counters.h. */
#include "bench/bench_counters.h"

#include <stdio.h>

#include "terminal/text.h"

static double per(int64_t a, int64_t b)
{
    return b > 0 ? (double)a / (double)b : 0;
}

void counters_print_heading(void)
{
    printf("%6s %-8s %8s %9s %9s %10s %9s %10s %8s %6s\n", "batch", "pass", "launches", "threads", "barriers", "shared",
           "conflicts", "global", "sectors", "lanes");
}

void counters_print(const char *batch, const char *pass, const gr_counters *c)
{
    const int64_t requests = c->shared_requests + c->global_requests;
    printf("%6s %-8s %8lld %9lld %9lld %10lld %9.2f %10lld %8.2f %6.1f\n", batch, pass, (long long)c->launches,
           (long long)c->threads, (long long)c->barriers, (long long)c->shared_requests,
           per(c->bank_conflicts, c->shared_requests), (long long)c->global_requests,
           per(c->global_sectors, c->global_requests), per(c->lanes, requests));
}

void counters_print_legend(void)
{
    putchar('\n');
    print_wrapped(
        stdout,
        "shared, global: requests, one access by one warp each. conflicts: turns that a shared request takes beyond "
        "the first, because lanes need different words of one bank. sectors: pieces of 32 bytes that a global request "
        "touches; 32 floats side by side are 4. lanes: at work in a request, of 32.",
        0, 0);
}

json_t *counters_json(const gr_counters *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "launches", (json_int_t)c->launches, "kernel_threads",
                     (json_int_t)c->threads, "barriers", (json_int_t)c->barriers, "shared_requests",
                     (json_int_t)c->shared_requests, "bank_conflicts", (json_int_t)c->bank_conflicts, "global_requests",
                     (json_int_t)c->global_requests, "global_sectors", (json_int_t)c->global_sectors, "lanes",
                     (json_int_t)c->lanes);
}

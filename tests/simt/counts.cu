/*
 * counts.cu - the counters, and what is written down of a block, on accesses whose cost is known. Returns the number of
 * mistakes.
 */
#include <stdio.h>

#include "kernels/cuda/gpu.h"
#include "tests/simt/planted.h"

/* Column threadIdx.x of a tile with rows of PITCH floats: 32 words of one bank, or of 32. */
template <int PITCH> static __global__ void columns(float *out)
{
    GR_SHARED(float, tile, [32][PITCH]);
    for (int r = 0; r < 32; r++)
        tile[r][threadIdx.x] = r;
    __syncthreads();
    float sum = 0;
    for (int c = 0; c < 32; c++)
        sum += tile[threadIdx.x][c];
    out[blockIdx.x * 32 + threadIdx.x] = sum;
}

/* y[i] = x[STRIDE i] by half the lanes or all */
template <int STRIDE> static __global__ void strided(float *y, const float *x, int n)
{
    if ((int)threadIdx.x < n)
        y[threadIdx.x] = x[STRIDE * threadIdx.x];
}

static __global__ void quads(float *out, const float *x)
{
    GR_SHARED(float, tile, [128]);
    *(float4 *)&tile[4 * threadIdx.x] = *(const float4 *)(x + 4 * threadIdx.x);
    __syncthreads();
    *(float4 *)(out + 4 * threadIdx.x) = *(const float4 *)&tile[4 * (31 - threadIdx.x)];
}

/* What is written down of the second block of columns<32>: lines of each kind, and the turns of its reads. */
static int check_watch(float *y)
{
    const char *path = "watched_by_test_simt.jsonl";
    const gr__simt_scene scene = {"columns", 1, {1, 0, 0}, 0};
    char line[4096];
    int writes = 0, reads = 0, barriers = 0, stores = 0, wrong = 0;
    gr__simt_watch(path, &scene);
    GR_LAUNCH((columns<32>), 2, 32, 0, NULL, y);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        writes += strstr(line, ",\"w\",4,0,") && line[2] == 's';
        reads += strstr(line, ",\"r\",4,31,") && line[2] == 's';
        stores += strstr(line, ",\"w\",4,4,") && strstr(line, ",128,4]") && line[2] == 'g';
        barriers += line[2] == 'b';
    }
    if (f)
        fclose(f);
    remove(path);
    wrong += writes != 32 || reads != 32 || barriers != 1 || stores != 1;
    if (wrong)
        printf("watched: %d writes, %d reads, %d barriers, %d stores\n", writes, reads, barriers, stores);
    return wrong;
}

static int expect(const char *what, uint64_t is, uint64_t should_be)
{
    if (is == should_be)
        return 0;
    printf("%s: %llu, should be %llu\n", what, (unsigned long long)is, (unsigned long long)should_be);
    return 1;
}

extern "C" int check_counts(void)
{
    float *x = floats(32 * 32), *y = floats(128);
    gr__simt_counters c;
    int wrong = 0;

    gr__simt_count_begin();
    GR_LAUNCH((columns<32>), 2, 32, 0, NULL, y);
    c = gr__simt_count_end();
    wrong += expect("threads", c.threads, 64) + expect("barriers", c.barriers, 2);
    wrong += expect("requests of two blocks", c.shared_requests, 2 * 64);
    wrong += expect("conflicts of columns", c.bank_conflicts, 2 * 32 * 31);

    gr__simt_count_begin();
    GR_LAUNCH((columns<33>), 1, 32, 0, NULL, y);
    c = gr__simt_count_end();
    wrong += expect("conflicts of padded columns", c.bank_conflicts, 0);

    gr__simt_count_begin();
    GR_LAUNCH((strided<1>), 1, 32, 0, NULL, y, x, 16);
    c = gr__simt_count_end();
    wrong += expect("global requests", c.global_requests, 2) + expect("sectors of neighbours", c.global_sectors, 4);
    wrong += expect("lanes", c.lanes, 32);

    gr__simt_count_begin();
    GR_LAUNCH((strided<32>), 1, 32, 0, NULL, y, x, 32);
    c = gr__simt_count_end();
    wrong += expect("sectors of a column", c.global_sectors, 32 + 4);

    gr__simt_count_begin();
    GR_LAUNCH(quads, 1, 32, 0, NULL, y, x);
    c = gr__simt_count_end();
    wrong += expect("requests for quads", c.shared_requests + c.global_requests, 4);
    wrong += expect("sectors of quads", c.global_sectors, 32) + expect("conflicts of quads", c.bank_conflicts, 0);
    wrong += check_watch(y);
    if (gr__simt_fault())
        wrong++, puts(gr__simt_fault());
    return wrong;
}

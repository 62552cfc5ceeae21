/* pairs.c - see pairs.h. */
#include "compare/pairs.h"

#include <stdlib.h>

static int by_batch(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    return (x->batch > y->batch) - (x->batch < y->batch);
}

static int by_seed(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    return x->seed != y->seed ? (x->seed > y->seed) - (x->seed < y->seed) : by_batch(a, b);
}

static int count_batches(pair *pairs, int n)
{
    int batches = 0;
    qsort(pairs, (size_t)n, sizeof *pairs, by_batch);
    for (int i = 0; i < n; i++)
        batches += i == 0 || pairs[i].batch != pairs[i - 1].batch;
    return batches;
}

paired pairs_compare(pair *pairs, int n)
{
    paired p = {.batches = count_batches(pairs, n)};
    qsort(pairs, (size_t)n, sizeof *pairs, by_seed);
    for (int i = 0, next; i < n; i = next) {
        double sum = 0;
        for (next = i; next < n && pairs[next].seed == pairs[i].seed; next++)
            sum += pairs[next].difference;
        if (next - i == p.batches)
            sample_add(&p.differences, sum / p.batches);
        else
            p.left_out++;
    }
    return p;
}

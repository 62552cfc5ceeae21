/* split.c - parts of a set with equally many images of each class. */
#include <stdlib.h>

#include "data/dataset.h"

enum { PARTS = 3 };

/* False: recorded, saying which class is short of images and how many it has. */
static bool enough_of_each(const gr_dataset *set, const int64_t *have, int64_t want)
{
    for (int c = 0; c < set->images->classes; c++)
        if (have[c] < want)
            return gr__fail(
                set->ctx, GR_BAD_DATA,
                "not enough images for the split: class %s has %lld, %lld are wanted of each class; ask for "
                "fewer or add images",
                gr_dataset_class_name(set, c), (long long)have[c], (long long)want);
    return true;
}

static void count_classes(const gr_dataset *set, int64_t *have)
{
    for (int64_t i = 0; i < set->n; i++)
        have[gr_dataset_label(set, i)]++;
}

/*
 * Deals the samples of each class out in the set's order. A part takes its classes in turn (cat, dog, cat, dog, ...),
 * so that a batch without shuffling is a mixture too. seen[]: zeros, one for each class.
 */
static void distribute(const gr_dataset *set, const int64_t size[PARTS], int64_t *seen, int64_t *picks[PARTS])
{
    for (int64_t i = 0; i < set->n; i++) {
        int label = gr_dataset_label(set, i);
        int64_t rank = seen[label]++;
        for (int p = 0; p < PARTS; p++) {
            if (rank >= 0 && rank < size[p])
                picks[p][rank * set->images->classes + label] = i;
            rank -= size[p];
        }
    }
}

gr_split gr_split_per_class(gr_dataset *set, int64_t train, int64_t val, int64_t test)
{
    gr_split split = {0};
    if (!set || !gr_ok(set->ctx))
        return split;
    const int64_t size[PARTS] = {train, val, test};
    gr_dataset **part[PARTS] = {&split.train, &split.val, &split.test};
    int64_t want = 0;
    for (int p = 0; p < PARTS; p++) {
        if (size[p] < 0 || size[p] > INT64_MAX / 4) {
            gr__fail(set->ctx, GR_USAGE, "a part of a split cannot have %lld images per class; 0 or more",
                     (long long)size[p]);
            return split;
        }
        want += size[p];
    }
    if (want == 0) {
        gr__fail(set->ctx, GR_USAGE,
                 "a split of 0 train, 0 validation and 0 test images is nothing; ask for at least 1");
        return split;
    }
    int classes = set->images->classes;
    int64_t *have = gr__calloc(set->ctx, 2 * (size_t)classes, sizeof *have), *seen = have ? have + classes : NULL;
    if (have)
        count_classes(set, have);
    bool enough = have && enough_of_each(set, have, want);
    int64_t *picks[PARTS] = {NULL};
    for (int p = 0; p < PARTS && enough; p++)
        enough = (picks[p] = gr__host_alloc(set->ctx, size[p] * classes, sizeof *picks[p], "the samples of a split"));
    if (enough) {
        distribute(set, size, seen, picks);
        for (int p = 0; p < PARTS; p++)
            *part[p] = gr__dataset_subset(set, picks[p], size[p] * classes);
    }
    for (int p = 0; p < PARTS; p++)
        free(picks[p]);
    free(have);
    return split;
}

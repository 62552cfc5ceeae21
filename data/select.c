/* select.c - sets of some of another's samples: those that are named, or a share of each class. */
#include <stdlib.h>

#include "data/dataset.h"

int64_t gr_dataset_row(const gr_dataset *set, int64_t i)
{
    return set && i >= 0 && i < set->n ? gr__row(set, i) : -1;
}

gr_dataset *gr_dataset_select(gr_dataset *set, int64_t n, const int64_t *picks)
{
    if (!set || !gr_ok(set->ctx))
        return NULL;
    if (n < 1 || !picks) {
        gr__fail(set->ctx, GR_USAGE, "gr_dataset_select: %lld samples; ask for at least 1", (long long)n);
        return NULL;
    }
    for (int64_t i = 0; i < n; i++)
        if (picks[i] < 0 || picks[i] >= set->n) {
            gr__fail(set->ctx, GR_USAGE, "gr_dataset_select: sample %lld of a set of %lld", (long long)picks[i],
                     (long long)set->n);
            return NULL;
        }
    return gr__dataset_subset(set, picks, n);
}

/* --- shares of each class ----------------------------------------------------------------------------------------- */

enum { TEST, VAL, TRAIN, PARTS };

/* The samples of a set class by class, in its order: those of class c are list[begin[c] .. begin[c + 1] - 1]. */
typedef struct {
    int classes;
    int64_t *begin, *list;
    int64_t *size[PARTS]; /* [classes] of each part */
    int64_t total[PARTS];
    int *open; /* [classes], for dealing */
} class_lists;

static bool lists_make(gr_dataset *set, class_lists *l)
{
    const int classes = l->classes = set->images->classes;
    l->begin = gr__calloc(set->ctx, (size_t)classes + 2, sizeof *l->begin);
    l->list = gr__host_alloc(set->ctx, set->n, sizeof *l->list, "the samples of a split");
    l->open = gr__calloc(set->ctx, (size_t)classes, sizeof *l->open);
    for (int p = 0; p < PARTS; p++)
        l->size[p] = gr__calloc(set->ctx, (size_t)classes, sizeof *l->size[p]);
    if (!gr_ok(set->ctx))
        return false;
    for (int64_t i = 0; i < set->n; i++)
        l->begin[gr_dataset_label(set, i) + 2]++;
    for (int c = 0; c < classes; c++)
        l->begin[c + 2] += l->begin[c + 1];
    for (int64_t i = 0; i < set->n; i++) /* leaves begin[c + 1] at the end of class c */
        l->list[l->begin[gr_dataset_label(set, i) + 1]++] = i;
    return true;
}

static void lists_free(class_lists *l)
{
    for (int p = 0; p < PARTS; p++)
        free(l->size[p]);
    free(l->begin);
    free(l->list);
    free(l->open);
}

/* A share of n, rounded, and at least one where it is any. */
static int64_t share_of(int64_t n, double share)
{
    const int64_t rounded = (int64_t)((double)n * share + 0.5);
    return share > 0 && rounded == 0 ? 1 : rounded;
}

/* How many of each class go where. False: recorded, naming the class that is too small. */
static bool size_parts(gr_dataset *set, class_lists *l, double val, double test)
{
    for (int c = 0; c < l->classes; c++) {
        const int64_t n = l->begin[c + 1] - l->begin[c];
        l->size[TEST][c] = share_of(n, test);
        l->size[VAL][c] = share_of(n, val);
        l->size[TRAIN][c] = n - l->size[TEST][c] - l->size[VAL][c];
        if (l->size[TRAIN][c] < 1)
            return gr__fail(set->ctx, GR_BAD_DATA,
                            "class %s has %lld image%s, of which %lld would be for the test and %lld for validation: "
                            "none is left to train on; add images, remove the class, or ask for smaller parts",
                            gr_dataset_class_name(set, c), (long long)n, n == 1 ? "" : "s", (long long)l->size[TEST][c],
                            (long long)l->size[VAL][c]);
        for (int p = 0; p < PARTS; p++)
            l->total[p] += l->size[p][c];
    }
    return true;
}

/* One part: its classes in turn, as long as they last. */
static gr_dataset *deal(gr_dataset *set, const class_lists *l, int part)
{
    int64_t *picks = gr__host_alloc(set->ctx, l->total[part], sizeof *picks, "the samples of a split"), n = 0;
    int open = l->classes;
    for (int c = 0; c < open; c++)
        l->open[c] = c;
    for (int64_t rank = 0; picks && n < l->total[part]; rank++) {
        int left = 0;
        for (int i = 0; i < open; i++) {
            const int c = l->open[i];
            if (rank >= l->size[part][c])
                continue;
            int64_t first = l->begin[c];
            for (int p = 0; p < part; p++)
                first += l->size[p][c];
            picks[n++] = l->list[first + rank];
            l->open[left++] = c;
        }
        open = left;
    }
    gr_dataset *dealt = picks ? gr__dataset_subset(set, picks, n) : NULL;
    free(picks);
    return dealt;
}

gr_split gr_split_by_share(gr_dataset *set, double val, double test)
{
    gr_split split = {0};
    if (!set || !gr_ok(set->ctx))
        return split;
    if (!(val >= 0 && test >= 0 && val + test < 1)) {
        gr__fail(set->ctx, GR_USAGE,
                 "gr_split_by_share: shares of %g for validation and %g for the test; they are at least 0, and "
                 "together below 1",
                 val, test);
        return split;
    }
    class_lists l = {0};
    if (lists_make(set, &l) && size_parts(set, &l, val, test)) {
        split.train = deal(set, &l, TRAIN);
        split.val = l.total[VAL] ? deal(set, &l, VAL) : NULL;
        split.test = l.total[TEST] ? deal(set, &l, TEST) : NULL;
    }
    lists_free(&l);
    return split;
}

/* fit_ranks.c - see fit_ranks.h. */
#include "optim/training/fit_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/sha256.h"
#include "nn/module.h"
#include "optim/training/fit_record.h"

enum { COMPLAINT = 320, KEY = 96, LONGEST = 1024, OWN = 6 };

static bool together(const gr_fit_run *f)
{
    return gr_group_size(f->o->group) > 1 && gr_ok(f->ctx);
}

/* A group that has ended ends the run. */
static bool check(gr_fit_run *f, bool done)
{
    return (done && gr_ok(f->ctx)) || gr__fail(f->ctx, GR_DEVICE_FAULT, "%s", gr_group_error(f->o->group));
}

bool gr__fit_leads(const gr_fit_run *f)
{
    return gr_group_rank(f->o->group) == 0;
}

void gr__fit_ranks_stop(gr_fit_run *f)
{
    if (!together(f))
        return;
    f->result.stopped = gr_group_any(f->o->group, f->result.stopped);
    if (f->o->seconds > 0)
        gr_group_broadcast(f->o->group, &f->p.seconds, sizeof f->p.seconds);
    check(f, gr_group_ok(f->o->group));
}

bool gr__fit_ranks_all(gr_fit_run *f, bool own)
{
    if (!together(f))
        return own;
    const bool all = !gr_group_any(f->o->group, !own);
    return check(f, gr_group_ok(f->o->group)) && all;
}

bool gr__fit_ranks_share(gr_fit_run *f, int64_t *number)
{
    return !together(f) ? gr_ok(f->ctx) : check(f, gr_group_broadcast(f->o->group, number, sizeof *number));
}

bool gr__fit_ranks_first(gr_fit_run *f, char *words, size_t size)
{
    const int ranks = gr_group_size(f->o->group);
    if (!together(f))
        return gr_ok(f->ctx);
    char *all = gr__calloc(f->ctx, (size_t)ranks, size);
    const bool good = all && check(f, gr_group_gather(f->o->group, words, size, all));
    for (int i = ranks; good && i-- > 0;)
        if (all[(size_t)i * size])
            memcpy(words, all + (size_t)i * size, size);
    free(all);
    return good;
}

void gr__fit_ranks_end(gr_fit_run *f)
{
    if (gr_group_size(f->o->group) > 1 && !gr_ok(f->ctx))
        gr_group_fail(f->o->group, gr_error_text(f->ctx));
}

/* --- agreeing ----------------------------------------------------------------------------------------------------- */

/* The first weights, in short. False: recorded. */
static bool sum_of_weights(const gr_fit_run *f, char sum[GR__SHA256_TEXT])
{
    const gr_tensor *values = f->trainer.net->parameters->slab->values;
    gr_sha256 hash;
    void *host = gr__calloc(f->ctx, 1, gr__bytes(values));
    const bool good = host && gr_download(values, host);
    gr__sha256_begin(&hash);
    if (good)
        gr__sha256_add(&hash, host, gr__bytes(values));
    gr__sha256_end(&hash, sum);
    free(host);
    return good;
}

/*
 * Compares a setting with rank 0's; the first that differs is told of in complaint. False: the group has ended. Longer
 * values are compared by their beginnings.
 */
static bool compare(gr_fit_run *f, gr_setting own, char complaint[COMPLAINT])
{
    struct {
        char key[KEY], value[LONGEST];
    } mine = {"", ""}, first;
    snprintf(mine.key, sizeof mine.key, "%s", own.key);
    snprintf(mine.value, sizeof mine.value, "%s", own.value ? own.value : "");
    first = mine;
    if (!gr_group_broadcast(f->o->group, &first, sizeof first))
        return false;
    if (*complaint || (strcmp(first.key, mine.key) == 0 && strcmp(first.value, mine.value) == 0))
        return true;
    snprintf(complaint, COMPLAINT, "rank %d disagrees with rank 0 about the %s: %.64s, not %.64s",
             gr_group_rank(f->o->group), first.key, mine.value, first.value);
    return true;
}

/* As many as rank 0 has. */
static bool compare_all(gr_fit_run *f, const gr_setting *list, int n, char complaint[COMPLAINT])
{
    int count = n;
    bool good = gr_group_broadcast(f->o->group, &count, sizeof count);
    for (int i = 0; good && i < count; i++)
        good = compare(f, i < n ? list[i] : (gr_setting){"", "nothing"}, complaint);
    return good;
}

/* The first complaint of any rank, told on all. */
static bool hear(gr_fit_run *f, const char complaint[COMPLAINT])
{
    const int ranks = gr_group_size(f->o->group);
    char(*all)[COMPLAINT] = gr__calloc(f->ctx, (size_t)ranks, sizeof *all);
    bool good = all && check(f, gr_group_gather(f->o->group, complaint, COMPLAINT, all));
    for (int i = 0; good && i < ranks; i++)
        if (*all[i])
            good = gr__fail(f->ctx, GR_DEVICE_FAULT, "%s", all[i]);
    free(all);
    return good;
}

bool gr__fit_ranks_agree(gr_fit_run *f)
{
    char seed[24], weights[GR__SHA256_TEXT], complaint[COMPLAINT] = "";
    gr_fit_settings settings;
    if (!together(f))
        return gr_ok(f->ctx);
    if (!sum_of_weights(f, weights) || !gr__fit_settings_open(f, &settings))
        return false;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)gr_seed(f->ctx));
    const gr_setting own[OWN] = {{"version", gr_version()},
                                 {"device", gr_device_name(f->ctx)},
                                 {"instruction set", gr_isa_name(f->ctx)},
                                 {"precision", gr_precision_name(f->ctx)},
                                 {"seed", seed},
                                 {"first weights", weights}};
    const bool compared =
        compare_all(f, own, OWN - 1, complaint) && compare_all(f, f->o->agree, f->o->n_agree, complaint) &&
        compare_all(f, settings.list, settings.n, complaint) && compare_all(f, own + OWN - 1, 1, complaint);
    free(settings.list);
    return check(f, compared) && hear(f, complaint);
}

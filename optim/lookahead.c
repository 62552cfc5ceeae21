/* lookahead.c - see lookahead.h. The copies are laid out as the averages of ema.h. */
#include "optim/lookahead.h"

#include "optim/ema.h"

bool gr_set_lookahead(gr_optimizer *opt, const gr_lookahead *lookahead)
{
    if (!opt || !lookahead || !gr_ok(opt->ctx))
        return false;
    if (!(lookahead->decay >= 0 && lookahead->decay < 1) || lookahead->every < 0 || lookahead->updates < 0)
        return gr__fail(opt->ctx, GR_USAGE,
                        "gr_set_lookahead: every %lld updates, a decay of %g, %lld updates in all; the decay lies in "
                        "[0, 1), and the others are at least 0",
                        (long long)lookahead->every, lookahead->decay, (long long)lookahead->updates);
    if (opt->updates > 0)
        return gr__fail(opt->ctx, GR_USAGE,
                        "gr_set_lookahead: after an update; the slow weights begin before the first");
    opt->lookahead = *lookahead;
    opt->lookahead_end = lookahead->updates;
    return true;
}

static bool is_on(const gr_optimizer *opt)
{
    return opt->lookahead.every > 0;
}

bool gr__lookahead_check(const gr_optimizer *opt)
{
    return !is_on(opt) || !opt->lookahead.grows || opt->lookahead_end > 0 ||
           gr__fail(opt->ctx, GR_USAGE,
                    "look-ahead whose decay grows wants the number of updates of the run: set it, or train by gr_fit "
                    "for so many epochs, updates or samples");
}

/* A dry run pulls nothing: it need not know how far. */
bool gr__lookahead_prepare(gr_optimizer *opt)
{
    return !is_on(opt) || ((opt->ctx->planning || gr__lookahead_check(opt)) && gr__averages_make(opt, opt->slow));
}

static bool pull(gr_optimizer *opt, double decay)
{
    bool good = true;
    for (int i = 0; good && i < GR__AVERAGES; i++)
        good = !opt->slow[i] || gr_lookahead_step(opt->slow[i], gr__averaged_slab(opt, i), decay);
    return good;
}

/* A pull without decay makes zeros what the weights are, and leaves these. */
bool gr__lookahead_begin(gr_optimizer *opt)
{
    return !is_on(opt) || opt->updates > 0 || opt->pass > 0 || pull(opt, 0);
}

/* Behind the end of a run whose length was told, the decay grows no more. */
bool gr__lookahead_end(gr_optimizer *opt)
{
    const gr_lookahead *l = &opt->lookahead;
    if (!is_on(opt) || opt->updates % l->every != 0)
        return true;
    const bool grown = !l->grows || opt->updates >= opt->lookahead_end;
    const int64_t begun = opt->updates - opt->lookahead_start, all = opt->lookahead_end - opt->lookahead_start;
    const double share = grown ? 1 : (double)begun / (double)all;
    return pull(opt, l->decay * share * share * share);
}

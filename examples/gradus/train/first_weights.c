/* first_weights.c - see first_weights.h. */
#include "train/first_weights.h"

#include <stdio.h>

#include "terminal/complain.h"

static int load(gr_module *net, gr_context *ctx, const resolved *s, const char *command)
{
    const char *path = s->asked.init_weights;
    gr_import_report report;
    if (!gr_import_weights(net, path, &(gr_import_options){.keep_head = s->asked.replace_head != 0}, &report)) {
        const int code = complain_of(ctx, command);
        if (report.table)
            fputs(report.table, stderr);
        return code;
    }
    if (*report.told)
        complain(GR_OK, command, "%s: %s", path, report.told);
    return 0;
}

static void tell_frozen(const gr_module *net, const char *command)
{
    int frozen = 0;
    long long still = 0, all = 0;
    for (int i = 0; i < gr_parameter_count(net); i++) {
        const int64_t count = gr_count(gr_parameter(net, i));
        all += count;
        still += gr_parameter_frozen(net, i) ? count : 0;
        frozen += gr_parameter_frozen(net, i);
    }
    complain(GR_OK, command, "%d of %d parameters are frozen, %lld of their %lld numbers", frozen,
             gr_parameter_count(net), still, all);
}

int first_weights(gr_module *net, gr_context *ctx, const resolved *s, gr_dataset *set, const char *command)
{
    int code = s->asked.init_weights ? load(net, ctx, s, command) : 0;
    if (code == 0 && s->asked.whiten && !gr_whiten(net, s->asked.whiten, set, NULL))
        code = complain_of(ctx, command);
    if (code == 0 && s->asked.freeze)
        tell_frozen(net, command);
    return code;
}

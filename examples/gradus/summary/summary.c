/* summary.c - gradus summary: what a recipe's network is made of and what it costs, without computing anything. */
#include <jansson.h>
#include <stdio.h>

#include "commands.h"
#include "settings/check.h"
#include "sources/source.h"
#include "summary/network.h"
#include "terminal/text.h"
#include "train/row.h"

static const option summary_options[] = {
    FLAG_OPTION("json", offsetof(settings, json), "print one line of JSON"),
    {0},
};

/* --- for people --------------------------------------------------------------------------------------------------- */

static const char *shape_text(const gr_summary_row *row, char text[64])
{
    int length = 0;
    text[0] = '\0';
    for (int i = 0; i < row->ndim; i++)
        length += snprintf(text + length, 64 - (size_t)length, "%s%lld", i ? "x" : "", (long long)row->shape[i]);
    return text;
}

/* "346 M": floating-point operations. */
static const char *flops_text(double flops, char text[32])
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    int unit = 0;
    for (; flops >= 1000 && unit < 4; unit++)
        flops /= 1000;
    snprintf(text, 32, "%.*f%s", unit > 0 && flops < 100 ? 1 : 0, flops, units[unit]);
    return text;
}

static void print_row(const char *name, const char *shape, const gr_summary_row *row)
{
    char parameters[32], forward[32], backward[32], bytes[32];
    printf("%-24s %-11s %12s %8s %8s %11s\n", name, shape, thousands_text(row->parameters, parameters),
           flops_text(row->flops_forward, forward), flops_text(row->flops_backward, backward),
           bytes_text((double)row->bytes, bytes));
}

static void print_summary(const gr_context *ctx, const resolved *s, const summary *m)
{
    char shape[64], held[32], step[32], peak[32];
    int64_t input[3];
    source_shape(s, input);
    printf("%s: input %lldx%lldx%lld\n\n", s->recipe->name, (long long)input[0], (long long)input[1],
           (long long)input[2]);
    printf("%-24s %-11s %12s %8s %8s %11s\n", "layer", "output", "parameters", "forward", "backward", "kept");
    for (int i = 0; i < m->n; i++)
        print_row(m->rows[i].name, shape_text(&m->rows[i], shape), &m->rows[i]);
    print_row("total", "", &m->total);
    printf("\nforward, backward: floating-point operations per sample, a multiply-add being\n"
           "two; kept: memory per sample, between forward and backward\n");
    printf("\nTraining with %s in %s at batch size %lld takes %s at its peak:\n"
           "%s of parameters, moments and batches, %s of a step's activations,\n"
           "gradients and scratch\n",
           s->optimizer->name, gr_precision_name(ctx), (long long)s->batch, bytes_text((double)m->memory.peak, peak),
           bytes_text((double)m->memory.persistent_peak, held), bytes_text((double)m->memory.step_peak, step));
}

static void print_json(const gr_context *ctx, const resolved *s, const summary *m)
{
    json_t *o = summary_json(ctx, s, m);
    json_dumpf(o, stdout, ROW_FORMAT);
    putchar('\n');
    json_decref(o);
}

static int run_summary(int argc, char **argv)
{
    settings asked = {.seed = 1};
    const char *name;
    options_end end = options_parse(&summary_command, &asked, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    const recipe *r = settings_recipe(&asked, name, "summary");
    if (!r)
        return GR_USAGE;
    const int unread = settings_check_inputs(&asked, "summary");
    if (unread)
        return unread;
    const resolved s = settings_resolve(&asked, r);
    gr_context *ctx = resolved_open(&s, true);
    summary m = {0};
    int code = summary_make(ctx, &s, resolved_net(&s, ctx, NULL), &m) ? 0 : complain_of(ctx, "summary");
    if (code == 0)
        (asked.json ? print_json : print_summary)(ctx, &s, &m);
    gr_close(ctx);
    return code;
}

static const option_group groups[] = {
    {"The network and its training", network_options, NULL, 0}, {"Options", summary_options, NULL, 0}, {0}};

const gradus_command summary_command = {
    .name = "summary",
    .purpose = "layers, shapes, parameters, operations and memory of a network",
    .usage = "summary RECIPE [options]\nsummary --model FILE [options]",
    .operand = "RECIPE",
    .operand_name = recipe_name,
    .about =
        "Print the layers of a recipe's network: output shape, parameters, floating-point operations (a multiply-add "
        "is two) and bytes kept for the backward pass, per sample; and the peak memory of training, planned.",
    .examples = "summary cats-vs-dogs\nsummary cats-vs-dogs --batch 128 --optimizer adam --precision bf16 --json",
    .groups = groups,
    .run = run_summary,
};

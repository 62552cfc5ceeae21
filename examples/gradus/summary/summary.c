/* summary.c - gradus summary: what a recipe's network is made of and what it costs, without computing anything. */
#include <jansson.h>
#include <stdio.h>

#include "commands.h"
#include "settings/check.h"
#include "sources/source.h"
#include "terminal/text.h"
#include "train/row.h"

enum { MAX_LAYERS = 2048 };

static const option summary_options[] = {
    COUNT_OPTION("batch", "N", offsetof(settings, batch), 1, MAX_BATCH,
                 "of the planned memory (default: the recipe's)"),
    CHOICE_OPTION("optimizer", "NAME", offsetof(settings, optimizer), optimizers,
                  "of the planned memory (default: the recipe's)"),
    COUNT_OPTION("resize", "SIDE", offsetof(settings, resize), 1, 4096,
                 "pictures of SIDE x SIDE (default: the recipe's size)"),
    TEXT_OPTION("model", "FILE", offsetof(settings, model), MODEL_HELP),
    COUNT_OPTION("classes", "N", offsetof(settings, classes), 2, 65536,
                 "that the network tells apart, where the recipe leaves them to the data (default: 2)"),
    FLAG_OPTION("no-fusion", offsetof(settings, no_fusion), "build the network from single operations only"),
    CHOICE_OPTION("device", "NAME", offsetof(settings, device), device_names, DEVICE_HELP),
    CHOICE_OPTION("precision", "NAME", offsetof(settings, precision), precisions, PRECISION_HELP),
    FLAG_OPTION("json", offsetof(settings, json), "print one line of JSON"),
    {0},
};

typedef struct {
    int n;
    gr_summary_row rows[MAX_LAYERS], total;
    gr_memory memory; /* of training, planned */
} summary;

/*
 * Lays out a training run as gr_fit does - three loaders, one update - in a context that only counts. Evaluation keeps
 * no tape, so at the same batch size its step is never the larger one.
 */
static void plan_training(gr_context *ctx, const resolved *s, gr_module *net)
{
    gr_optimizer *opt = resolved_optimizer(s, ctx, net);
    gr_dataset *set = source_built_in(ctx, s, s->batch, 0);
    gr_loader_options options = {.batch = s->batch, .order = GR_IN_ORDER};
    gr_loader *train = gr_loader_open(gr_augmented(set, s->augment), &options);
    if (s->recipe->split.val > 0)
        gr_loader_open(set, &options);
    gr_loader_open(set, &options);
    gr_batch batch;
    gr_plan_begin(ctx);
    if (gr_loader_dry(train, s->batch, &batch)) {
        gr_tensor *z = gr_forward(net, batch.x);
        gr_accuracy(z, batch.y, batch.weight);
        gr_minimize(opt, gr_add_penalty(net, gr_loss(z, &batch)));
    }
    gr_plan_end(ctx);
}

static bool summarise(gr_context *ctx, const resolved *s, summary *out)
{
    gr_module *net = resolved_net(s, ctx, NULL);
    int64_t shape[3];
    source_shape(s, shape);
    gr_module_build(net, 3, shape);
    out->n = gr_summary(net, out->rows, MAX_LAYERS);
    for (int i = 0; i < out->n; i++) {
        out->total.parameters += out->rows[i].parameters;
        out->total.flops_forward += out->rows[i].flops_forward;
        out->total.flops_backward += out->rows[i].flops_backward;
        out->total.bytes += out->rows[i].bytes;
    }
    plan_training(ctx, s, net);
    out->memory = gr_memory_use(ctx);
    return gr_ok(ctx);
}

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

/* --- for machines ------------------------------------------------------------------------------------------------- */

static json_t *row_as_json(const gr_summary_row *row)
{
    json_t *shape = json_array();
    for (int i = 0; i < row->ndim; i++)
        json_array_append_new(shape, json_integer(row->shape[i]));
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I}", "name", row->name, "output", shape, "parameters",
                     (json_int_t)row->parameters, "flops_forward", (json_int_t)row->flops_forward, "flops_backward",
                     (json_int_t)row->flops_backward, "bytes", (json_int_t)row->bytes);
}

static void print_json(const gr_context *ctx, const resolved *s, const summary *m)
{
    json_t *layers = json_array();
    for (int i = 0; i < m->n; i++)
        json_array_append_new(layers, row_as_json(&m->rows[i]));
    json_t *o = json_pack(
        "{s:s, s:o, s:I, s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:s}", "recipe", s->recipe->name, "layers",
        layers, "parameters", (json_int_t)m->total.parameters, "flops_forward", (json_int_t)m->total.flops_forward,
        "flops_backward", (json_int_t)m->total.flops_backward, "bytes_per_sample", (json_int_t)m->total.bytes,
        "optimizer", s->optimizer->name, "precision", gr_precision_name(ctx), "batch", (json_int_t)s->batch,
        "persistent_bytes", (json_int_t)m->memory.persistent_peak, "step_bytes", (json_int_t)m->memory.step_peak,
        "peak_bytes", (json_int_t)m->memory.peak, "version", gr_version());
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
    int code = summarise(ctx, &s, &m) ? 0 : complain_of(ctx, "summary");
    if (code == 0)
        (asked.json ? print_json : print_summary)(ctx, &s, &m);
    gr_close(ctx);
    return code;
}

static const option_group groups[] = {{"Options", summary_options, NULL, 0}, {0}};

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

/* network.c - see network.h. */
#include "summary/network.h"

#include "sources/source.h"
#include "train/row.h"

const option network_options[] = {
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
    DEVICE_OPTION(offsetof(settings, device)),
    CHOICE_OPTION("precision", "NAME", offsetof(settings, precision), precisions, PRECISION_HELP),
    {0},
};

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

bool summary_make(gr_context *ctx, const resolved *s, gr_module *net, summary *out)
{
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

static json_t *row_as_json(const gr_summary_row *row)
{
    json_t *shape = json_array(), *inputs = json_array();
    for (int i = 0; i < row->ndim; i++)
        json_array_append_new(shape, json_integer(row->shape[i]));
    for (int i = 0; i < row->inputs; i++)
        json_array_append_new(inputs, json_integer(row->input[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I}", "name", row->name, "op", row->op, "inputs", inputs,
                     "output", shape, "parameters", (json_int_t)row->parameters, "flops_forward",
                     (json_int_t)row->flops_forward, "flops_backward", (json_int_t)row->flops_backward, "bytes",
                     (json_int_t)row->bytes);
}

json_t *summary_json(const gr_context *ctx, const resolved *s, const summary *m)
{
    json_t *layers = json_array();
    for (int i = 0; i < m->n; i++)
        json_array_append_new(layers, row_as_json(&m->rows[i]));
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:s}", "recipe", s->recipe->name,
                     "layers", layers, "parameters", (json_int_t)m->total.parameters, "flops_forward",
                     (json_int_t)m->total.flops_forward, "flops_backward", (json_int_t)m->total.flops_backward,
                     "bytes_per_sample", (json_int_t)m->total.bytes, "optimizer", s->optimizer->name, "precision",
                     gr_precision_name(ctx), "batch", (json_int_t)s->batch, "persistent_bytes",
                     (json_int_t)m->memory.persistent_peak, "step_bytes", (json_int_t)m->memory.step_peak, "peak_bytes",
                     (json_int_t)m->memory.peak, "version", gr_version());
}

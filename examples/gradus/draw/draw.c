/* draw.c - gradus draw: a network and its tape as a page of HTML. */
#include <stdio.h>

#include "commands.h"
#include "draw/times.h"
#include "draw/trained.h"
#include "gradus_draw_page.h" /* draw_page, made of this folder's page.html by cmake/one_page.cmake */
#include "settings/check.h"
#include "sources/format.h"
#include "sources/source.h"
#include "summary/network.h"
#include "terminal/output.h"
#include "terminal/page.h"

static const char command[] = "draw";

typedef struct {
    settings asked;
    const char *out, *profile, *weights;
} draw_settings;

#define AT(field) offsetof(draw_settings, field)

static const option draw_options[] = {
    TEXT_OPTION("out", "PAGE.html", AT(out), "where the page goes (default: RECIPE.html)"),
    TEXT_OPTION("profile", "DIR", AT(profile),
                "how long each layer takes, too: the folder of gradus profile RECIPE --stack --out DIR"),
    TEXT_OPTION("weights", "FILE", AT(weights),
                "trained weights, as --save-weights wrote them: their filters, what test pictures become in each "
                "layer, and the surest mistakes"),
    TEXT_OPTION("data", "PATH", AT(asked.data),
                "with --weights: where the pictures are (default: $GRADUS_DATA, else ./datasets)"),
    FLAG_OPTION("procedural", AT(asked.procedural), "with --weights: the test part of the built-in pictures instead"),
    {0},
};

/* What is drawn. */
typedef struct {
    draw_settings asks; /* with the network's size and classes as the weights tell them */
    resolved run;
    weights_notes notes; /* of --weights */
    gr_context *trained; /* that they were read in; NULL: there are none */
} session;

/* Reads what the weights say of themselves. Returns 0 or an exit code, complained of. */
static int read_weights(session *s, const recipe *r)
{
    settings *asked = &s->asks.asked;
    const char *twice = asked->model ? "model" : asked->classes ? "classes" : asked->resize ? "resize" : NULL;
    if (twice)
        return complain(GR_USAGE, command, "--%s does not go with --weights, whose file says it; leave it out", twice);
    if (asked->data && asked->procedural)
        return complain(GR_USAGE, command, "--data and --procedural exclude each other; give one of them");
    if (r->format->features)
        return complain(GR_USAGE, command, "--weights shows pictures; %s has rows of features", r->name);
    if (r->format->own && !asked->data && !asked->procedural)
        return complain(GR_USAGE, command, "which pictures? --data FOLDER has a folder of them for each class");
    s->trained = gr_open(&(gr_options){.no_fusion = asked->no_fusion});
    if (!gr_ok(s->trained))
        return complain_of(s->trained, command);
    const weights_asked mine = {.recipe = r->name};
    const int code = weights_file_read(s->trained, s->asks.weights, &mine, command, &s->notes);
    asked->resize = s->notes.resize;
    asked->augment = s->notes.augment;
    asked->classes = (int64_t)json_array_size(s->notes.classes);
    return code;
}

/* Pictures' options say nothing without weights. Returns 0 or an exit code, complained of. */
static int check(const draw_settings *d)
{
    if (!d->weights && (d->asked.data || d->asked.procedural))
        return complain(GR_USAGE, command, "--%s means nothing without --weights: no picture is looked at",
                        d->asked.data ? "data" : "procedural");
    return settings_check_inputs(&d->asked, command);
}

/* The summary, and the shape of the pictures. */
static json_t *network_data(const gr_context *ctx, const resolved *s, const summary *m)
{
    int64_t shape[3];
    source_shape(s, shape);
    json_t *data = summary_json(ctx, s, m);
    json_object_set_new(data, "input",
                        json_pack("[I, I, I]", (json_int_t)shape[0], (json_int_t)shape[1], (json_int_t)shape[2]));
    return data;
}

/* All that the page tells, in *data, a new reference. Returns 0 or an exit code, complained of. */
static int page_data(const session *s, json_t **data)
{
    gr_context *ctx = resolved_open(&s->run, true);
    summary m = {0};
    gr_module *net = s->trained ? weights_file_net(ctx, &s->notes) : resolved_net(&s->run, ctx, NULL);
    int code = summary_make(ctx, &s->run, net, &m) ? 0 : complain_of(ctx, command);
    *data = code ? NULL : network_data(ctx, &s->run, &m);
    if (code == 0 && s->asks.profile)
        code = times_add(s->asks.profile, *data, command);
    if (code == 0 && s->trained)
        code = trained_add(s->trained, &s->run, &s->notes, *data, command);
    gr_close(ctx);
    return code;
}

static int draw(session *s, const recipe *r)
{
    char path[256];
    snprintf(path, sizeof path, "%s.html", r->name);
    const char *out = s->asks.out ? s->asks.out : path;
    int code = check(&s->asks);
    if (code == 0)
        code = output_check_spares(out, (const char *const[]){s->asks.weights, s->asks.asked.model, s->asks.asked.data},
                                   3, command);
    if (code == 0)
        code = output_check(out, command);
    if (code == 0 && s->asks.weights)
        code = read_weights(s, r);
    if (code)
        return code;
    s->run = settings_resolve(&s->asks.asked, r);
    json_t *data = NULL;
    code = page_data(s, &data);
    if (code == 0)
        code = page_write(out, draw_page, data, command);
    if (code == 0)
        printf("%s\n", out);
    json_decref(data);
    return code;
}

static int run_draw(int argc, char **argv)
{
    session s = {.asks = {.asked = {.seed = 1}}};
    const char *name;
    const options_end end = options_parse(&draw_command, &s.asks, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    const recipe *r = recipe_find(name, command);
    if (!r)
        return GR_USAGE;
    const int code = draw(&s, r);
    weights_file_close(&s.notes);
    gr_close(s.trained);
    return code;
}

static const option_group groups[] = {
    {"The network and its training", network_options, NULL, AT(asked)}, {"Options", draw_options, NULL, 0}, {0}};

const gradus_command draw_command = {
    .name = "draw",
    .purpose = "a network and its tape as a page: what feeds what, shapes, bytes, operations, times, filters",
    .usage = "draw RECIPE [options]",
    .operand = "RECIPE",
    .operand_name = recipe_name,
    .about = "Write a recipe's network as a page for a browser: the operations in the order of the tape, which result "
             "goes where, output shapes, parameters, floating-point operations forward and backward and the bytes kept "
             "in between, per sample. With a profile it has times, too; with trained weights the filters, what "
             "pictures become in each layer, and the pictures that the network is wrong about. Without these nothing "
             "is computed and no pictures are needed. The page needs no network.",
    .examples = "draw resnet18-cifar\ndraw cats-vs-dogs --no-fusion --out plain.html\n"
                "draw cifar10-cnn --profile p --weights w.safetensors --out trained.html",
    .groups = groups,
    .run = run_draw,
};

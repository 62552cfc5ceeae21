/* draw.c - gradus draw: a network and its tape as a page of HTML. */
#include <stdio.h>

#include "commands.h"
#include "gradus_draw_page.h" /* draw_page, made of this folder's page.html by cmake/one_page.cmake */
#include "settings/check.h"
#include "sources/source.h"
#include "summary/network.h"
#include "terminal/page.h"

typedef struct {
    settings asked;
    const char *out;
} draw_settings;

static const option draw_options[] = {
    TEXT_OPTION("out", "PAGE.html", offsetof(draw_settings, out), "where the page goes (default: RECIPE.html)"),
    {0},
};

/* The summary, and the shape of the pictures. */
static json_t *page_data(const gr_context *ctx, const resolved *s, const summary *m)
{
    int64_t shape[3];
    source_shape(s, shape);
    json_t *data = summary_json(ctx, s, m);
    json_object_set_new(data, "input",
                        json_pack("[I, I, I]", (json_int_t)shape[0], (json_int_t)shape[1], (json_int_t)shape[2]));
    return data;
}

static int run_draw(int argc, char **argv)
{
    draw_settings d = {.asked = {.seed = 1}};
    const char *name;
    char path[256];
    options_end end = options_parse(&draw_command, &d, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    const recipe *r = recipe_find(name, "draw");
    if (!r)
        return GR_USAGE;
    const int unread = settings_check_inputs(&d.asked, "draw");
    if (unread)
        return unread;
    const resolved s = settings_resolve(&d.asked, r);
    gr_context *ctx = resolved_open(&s, true);
    summary m = {0};
    snprintf(path, sizeof path, "%s.html", r->name);
    int code = summary_make(ctx, &s, &m) ? 0 : complain_of(ctx, "draw");
    json_t *data = code ? NULL : page_data(ctx, &s, &m);
    if (code == 0)
        code = page_write(d.out ? d.out : path, draw_page, data, "draw");
    if (code == 0)
        printf("%s\n", d.out ? d.out : path);
    json_decref(data);
    gr_close(ctx);
    return code;
}

static const option_group groups[] = {
    {"The network and its training", network_options, NULL, offsetof(draw_settings, asked)},
    {"Options", draw_options, NULL, 0},
    {0}};

const gradus_command draw_command = {
    .name = "draw",
    .purpose = "a network and its tape as a page: what feeds what, shapes, bytes, operations",
    .usage = "draw RECIPE [options]",
    .operand = "RECIPE",
    .operand_name = recipe_name,
    .about = "Write a recipe's network as a page for a browser: the operations in the order of the tape, which result "
             "goes where, output shapes, parameters, floating-point operations forward and backward and the bytes kept "
             "in between, per sample. Nothing is computed and no pictures are needed; the page needs no network.",
    .examples = "draw resnet18-cifar\ndraw cats-vs-dogs --no-fusion --out plain.html",
    .groups = groups,
    .run = run_draw,
};

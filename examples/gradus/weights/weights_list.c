/* weights_list.c - gradus weights: what is in a file of weights. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "terminal/complain.h"
#include "terminal/text.h"
#include "train/row.h"

typedef struct {
    bool json;
} list_asks;

static const option options[] = {
    FLAG_OPTION("json", offsetof(list_asks, json), "print one line of JSON a tensor"),
    {0},
};

/* The notes that gradus train writes; others are not looked for. */
static const char *const notes[] = {"recipe", "resize", "augment", "classes", "outputs", "ema"};
enum { NOTES = sizeof notes / sizeof *notes };

static const char *shape_text(const gr_listed_tensor *t, char text[128])
{
    size_t used = (size_t)snprintf(text, 128, "[");
    for (int d = 0; d < t->ndim; d++)
        used += (size_t)snprintf(text + used, 128 - used, d ? ",%lld" : "%lld", (long long)t->shape[d]);
    snprintf(text + used, 128 - used, "]");
    return text;
}

static void print_tensors(const gr_listed_tensor *list, int n)
{
    double count = 0, bytes = 0;
    char text[128], size[32];
    for (int i = 0; i < n; i++) {
        print_plain(stdout, list[i].name);
        printf("%*s %s %s\n", (int)(strlen(list[i].name) < 38 ? 38 - strlen(list[i].name) : 0), "", list[i].type,
               shape_text(&list[i], text));
        count += (double)list[i].count;
        bytes += (double)list[i].bytes;
    }
    printf("%d tensor%s, %.0f numbers, %s\n", n, n == 1 ? "" : "s", count, bytes_text(bytes, size));
}

static void print_notes(gr_context *ctx, const char *path)
{
    const char *values[NOTES];
    gr_read_notes(ctx, path, NOTES, notes, values);
    for (int i = 0; gr_ok(ctx) && i < NOTES; i++) {
        if (!values[i])
            continue;
        printf("%s: ", notes[i]);
        print_plain(stdout, values[i]);
        putchar('\n');
    }
}

static bool print_json(const gr_listed_tensor *list, int n)
{
    bool good = true;
    for (int i = 0; good && i < n; i++) {
        json_t *shape = json_array();
        for (int d = 0; d < list[i].ndim; d++)
            json_array_append_new(shape, json_integer(list[i].shape[d]));
        json_t *line = json_pack("{s:s, s:s, s:o}", "name", list[i].name, "type", list[i].type, "shape", shape);
        good = line && json_dumpf(line, stdout, ROW_FORMAT) == 0 && putchar('\n') != EOF;
        json_decref(line);
    }
    return good;
}

static int run(int argc, char **argv)
{
    const char *path;
    list_asks asks = {0};
    const options_end end = options_parse(&weights_command, &asks, argc, argv, &path);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!path)
        return complain(GR_USAGE, "weights", "which file? gradus weights FILE");
    gr_context *ctx = gr_open(&(gr_options){.threads = 1});
    const gr_listed_tensor *list;
    const int n = gr_list_weights(ctx, path, &list);
    bool good = true;
    if (n >= 0 && asks.json)
        good = print_json(list, n);
    else if (n >= 0)
        print_tensors(list, n);
    if (n >= 0 && !asks.json)
        print_notes(ctx, path);
    const int code = !gr_ok(ctx) ? complain_of(ctx, "weights")
                     : !good     ? complain(GR_NO_MEMORY, "weights", "out of host memory")
                                 : 0;
    gr_close(ctx);
    return code;
}

static const option_group groups[] = {{"Options", options, NULL, 0}, {0}};

const gradus_command weights_command = {
    .name = "weights",
    .purpose = "names and shapes in a file of weights",
    .usage = "weights FILE [--json]\nweights convert IN OUT --to torch|keras|npz|gradus [options]",
    .operand = "FILE",
    .about =
        "List the tensors of a safetensors file or of NumPy's .npz, whoever wrote it, and what gradus train has noted "
        "beside them. 'gradus weights convert' writes them for another tool.",
    .examples = "weights pets.safetensors\nweights convert pets.safetensors pets-keras.safetensors --to keras",
    .groups = groups,
    .run = run,
};

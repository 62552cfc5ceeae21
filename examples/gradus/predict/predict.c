/* predict.c - gradus predict: what trained weights see in pictures of one's own. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "predict/doubles.h"
#include "predict/probabilities.h"
#include "sources/format.h"
#include "sources/turned.h"
#include "terminal/complain.h"
#include "terminal/json_values.h"
#include "terminal/text.h"
#include "train/row.h"
#include "train/weights_file.h"

enum { MOST_PICTURES = 4096, BATCH = 16 };

typedef struct {
    const char *recipe; /* of weights that name none */
    int64_t top;
    bool json;
    settings run; /* device, threads; size and augmentation from the weights */
} predict_asks;

static const option options[] = {
    TEXT_OPTION("recipe", "RECIPE", offsetof(predict_asks, recipe),
                "whose network the weights are of, where the file does not say"),
    COUNT_OPTION("top", "K", offsetof(predict_asks, top), 1, 1000, "tell the K likeliest classes (default: 1)"),
    DEVICE_OPTION(offsetof(predict_asks, run.device)),
    COUNT_OPTION("threads", "N", offsetof(predict_asks, run.threads), 1, 1024,
                 "of the device cpu (default: all processors)"),
    FLAG_OPTION("json", offsetof(predict_asks, json), "print one line of JSON a picture"),
    {0},
};

/* The pictures that were given, and which of them are in the set. */
typedef struct {
    const predict_asks *asks;
    const char *paths[MOST_PICTURES];
    bool bad[MOST_PICTURES];
    int n, n_bad;
    turned turned;
    bool no_number; /* the network's answer to one */
    weights_notes notes;
} pictures;

typedef struct {
    int class;
    double probability;
} answer;

/* --- the answer to one picture ------------------------------------------------------------------------------------ */

static int likelier_first(const void *a, const void *b)
{
    const answer *x = a, *y = b;
    return x->probability != y->probability ? (x->probability < y->probability ? 1 : -1) : x->class - y->class;
}

/* From logits to probabilities, likeliest first; list[] and p[] have room for them. Returns how many; 0: no numbers. */
static int sort_answers(const double *z, int logits, double *p, answer *list)
{
    const int n = probabilities_classes(logits);
    if (!probabilities_of(z, logits, p))
        return 0;
    for (int i = 0; i < n; i++)
        list[i] = (answer){i, p[i]};
    qsort(list, (size_t)n, sizeof *list, likelier_first);
    return n;
}

static void print_answers(const pictures *p, const char *path, const answer *list, int n)
{
    char text[32];
    print_plain(stdout, path);
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : ": ", stdout);
        print_plain(stdout, weights_file_class(&p->notes, list[i].class, text));
        printf(" %.1f %%", 100 * list[i].probability);
    }
    putchar('\n');
}

static bool print_answers_json(const pictures *p, const char *path, const answer *list, int n)
{
    char text[32];
    json_t *classes = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(classes,
                              json_pack("{s:s, s:i, s:f}", "class", weights_file_class(&p->notes, list[i].class, text),
                                        "label", list[i].class, "probability", list[i].probability));
    json_t *line = json_pack("{s:o, s:o}", "file", json_plain(path), "classes", classes);
    const bool good = line && json_dumpf(line, stdout, ROW_FORMAT) == 0 && putchar('\n') != EOF;
    json_decref(line);
    return good;
}

/* --- all pictures ------------------------------------------------------------------------------------------------- */

/* The next path that is in the set, from i on. */
static int next_good(const pictures *p, int i)
{
    while (p->bad[i])
        i++;
    return i;
}

/* Tells of a batch's rows. False: the context tells, or memory has run out. */
static bool tell_batch(pictures *p, gr_tensor *z, int64_t rows, int *at)
{
    const int logits = (int)gr_dim(z, 1);
    double *values = malloc((size_t)gr_count(z) * sizeof *values);
    answer *list = malloc((size_t)(logits + 1) * sizeof *list);
    double *p_of = malloc((size_t)(logits + 1) * sizeof *p_of);
    bool good = values && list && p_of && doubles_of(z, values);
    for (int64_t row = 0; good && row < rows; row++) {
        const int i = *at = next_good(p, *at), n = sort_answers(values + row * logits, logits, p_of, list);
        const int told = p->asks->top < n ? (int)p->asks->top : n;
        if (n == 0) {
            p->no_number = true;
            complain(GR_NUMERIC, "predict", "%s: the network's answer is no number; its weights went bad", p->paths[i]);
        } else if (p->asks->json)
            good = print_answers_json(p, p->paths[i], list, told);
        else
            print_answers(p, p->paths[i], list, told);
        (*at)++;
    }
    free(values);
    free(list);
    free(p_of);
    return good;
}

static int tell_all(gr_context *ctx, pictures *p, gr_module *net, gr_dataset *set)
{
    const int64_t n = gr_dataset_size(set);
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = n < BATCH ? n : BATCH, .order = GR_IN_ORDER});
    gr_batch batch;
    int at = 0;
    bool good = true;
    gr_record(ctx, false);
    for (int64_t left = n; good && left > 0 && gr_loader_next(loader, &batch); left -= batch.samples) {
        gr_tensor *z = gr_forward(net, batch.x);
        good = z && tell_batch(p, z, batch.samples, &at);
        gr_step_end(ctx);
    }
    if (!gr_ok(ctx))
        return complain_of(ctx, "predict");
    return good ? 0 : complain(GR_NO_MEMORY, "predict", "out of host memory, or the output cannot be written");
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static void on_skipped(void *user, const char *file, const char *reason)
{
    pictures *p = user;
    for (int i = 0; i < p->n; i++)
        p->bad[i] |= p->paths[i] == file;
    p->n_bad++;
    complain(GR_BAD_DATA, "predict", "%s: %s", file, reason);
}

static void on_turned(void *user, const char *file)
{
    turned_note(&((pictures *)user)->turned, file);
}

/* The pictures as the recipe's network sees them when it is evaluated. NULL: the context tells. */
static gr_dataset *read_pictures(gr_context *ctx, pictures *p, const resolved *s)
{
    int64_t shape[3];
    source_shape(s, shape);
    const gr_image_options o = {
        .height = (int)shape[0], .width = (int)shape[1], .skipped = on_skipped, .turned = on_turned, .user = p};
    gr_dataset *set = gr_image_files(ctx, p->n, p->paths, &o);
    turned_tell(&p->turned, stderr);
    if (s->recipe->normalise.std[0] > 0)
        gr_dataset_normalise(set, &s->recipe->normalise);
    return gr_augmented_for_evaluation(set, s->augment);
}

static int predict(gr_context *ctx, pictures *p, const char *weights)
{
    weights_notes *notes = &p->notes;
    int code = weights_file_read(ctx, weights, &(weights_asked){.recipe = p->asks->recipe}, "predict", notes);
    if (code)
        return code;
    const recipe *r = notes->recipe;
    if (r->format->features || r->format->channels != 3)
        return complain(GR_USAGE, "predict", "%s does not learn from coloured pictures", r->name);
    settings asked = p->asks->run;
    asked.resize = notes->resize;
    asked.augment = notes->augment;
    const resolved s = settings_resolve(&asked, r);
    gr_dataset *set = read_pictures(ctx, p, &s);
    gr_module *net = weights_file_net(ctx, notes);
    int64_t shape[3] = {0};
    if (set)
        gr_dataset_shape(set, shape);
    if (!set || !gr_module_build(net, 3, shape) || !gr_import_weights(net, weights, NULL, NULL))
        return complain_of(ctx, "predict");
    code = tell_all(ctx, p, net, set);
    return code ? code : p->no_number ? GR_NUMERIC : p->n_bad ? GR_BAD_DATA : 0;
}

static int run_predict(int argc, char **argv)
{
    const char *operands[MOST_PICTURES + 1];
    predict_asks asks = {.top = 1, .run = {.seed = 1}};
    const options_end end = options_parse(&predict_command, &asks, argc, argv, operands);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!operands[0] || !operands[1])
        return complain(GR_USAGE, "predict", "which weights, and which pictures? gradus predict WEIGHTS PICTURE...");
    pictures p = {.asks = &asks};
    while (p.n < MOST_PICTURES && operands[1 + p.n]) {
        p.paths[p.n] = operands[1 + p.n];
        p.n++;
    }
    gr_context *ctx = settings_open(&asks.run, false);
    const int code = gr_ok(ctx) ? predict(ctx, &p, operands[0]) : complain_of(ctx, "predict");
    weights_file_close(&p.notes);
    gr_close(ctx);
    return code;
}

static const option_group groups[] = {{"Options", options, NULL, 0}, {0}};

const gradus_command predict_command = {
    .name = "predict",
    .purpose = "what trained weights see in pictures of one's own",
    .usage = "predict WEIGHTS PICTURE... [options]",
    .operand = "WEIGHTS PICTURE",
    .operands = MOST_PICTURES + 1,
    .about =
        "Print the likeliest classes of each picture and the network's probabilities, by weights that gradus train "
        "--save-weights has written: the file says by which recipe, at which size and with which classes. Pictures "
        "are .jpg or .png of any size. A probability is the network's own opinion, not its rate of success: that "
        "is the test accuracy, on pictures like those it was trained on. A file that is no picture is complained "
        "of, the others are answered, and the exit code is 3; it is 6 where the weights went bad.",
    .examples = "predict pets.safetensors *.jpg --top 2\npredict pets.safetensors holiday.jpg --json",
    .groups = groups,
    .run = run_predict,
};

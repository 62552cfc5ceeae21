/* evaluate.c - gradus evaluate: how good trained weights are, on pictures that they have not seen. */
#include "commands.h"
#include "evaluate/answers.h"
#include "evaluate/evaluation.h"
#include "sources/format.h"
#include "terminal/complain.h"

typedef struct {
    const char *recipe; /* of weights that name none */
    views seen;
    int64_t wrong;
    settings run; /* data, device, threads; size and augmentation from the weights */
} evaluate_asks;

#define RUN(field) offsetof(evaluate_asks, run.field)

static const option options[] = {
    TEXT_OPTION("data", "PATH", RUN(data),
                "the pictures: a folder or an archive of class folders, or the recipe's data (default: $GRADUS_DATA, "
                "else ./datasets)"),
    FLAG_OPTION("procedural", RUN(procedural), "the test part of the built-in pictures instead"),
    FLAG_OPTION("flip", offsetof(evaluate_asks, seen.flip),
                "show the network each picture mirrored too, and take the mean of its probabilities"),
    COUNT_OPTION(
        "shift", "N", offsetof(evaluate_asks, seen.shift), 1, MAX_SHIFT,
        "also moved by N pixels up and to the left, and down and to the right, the edges mirrored: half of the "
        "mean, together"),
    COUNT_OPTION("wrong", "N", offsetof(evaluate_asks, wrong), 0, 1000000, "name the N surest mistakes (default: 5)"),
    TEXT_OPTION("recipe", "RECIPE", offsetof(evaluate_asks, recipe),
                "whose network the weights are of, where the file does not say"),
    DEVICE_OPTION(RUN(device)),
    COUNT_OPTION("threads", "N", RUN(threads), 1, 1024, "of the device cpu (default: all processors)"),
    FLAG_OPTION("json", RUN(json), "print one line of JSON"),
    {0},
};

/* The pictures as they are and, with --flip and --shift, mirrored and moved. */
static int ask_network(gr_context *ctx, gr_module *net, const test_pictures *t, const views *seen, answers *a)
{
    if (views_count(seen) > 1 && t->set != t->plain)
        return complain(GR_USAGE, "evaluate",
                        "--%s: this network's pictures are cut or resized by its augmentation; leave it out",
                        seen->flip ? "flip" : "shift");
    return answers_of_views(ctx, net, t->set, seen, ANSWERS_BATCH, "evaluate", a);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int tell(const evaluate_asks *asks, const weights_notes *notes, const test_pictures *t, const answers *a)
{
    scores s = {0};
    int code = answers_score(a, t, "evaluate", &s);
    const evaluation e = {notes, t, &s, &asks->seen, asks->wrong};
    if (code == 0 && !asks->run.json)
        evaluation_print(&e);
    else if (code == 0 && !evaluation_print_json(&e))
        code = complain(GR_NO_MEMORY, "evaluate", "out of host memory, or the output cannot be written");
    scores_close(&s);
    return code;
}

/* A class without a name of its own, such as "class 7", is one that a network of more answers than classes has. */
static int evaluate(gr_context *ctx, const evaluate_asks *asks, weights_notes *notes, test_pictures *t, answers *a)
{
    settings asked = asks->run;
    asked.resize = notes->resize;
    asked.augment = notes->augment;
    const resolved s = settings_resolve(&asked, notes->recipe);
    if (notes->recipe->format->own && !asked.data && !asked.procedural)
        return complain(GR_USAGE, "evaluate", "which pictures? --data FOLDER has a folder of them for each class");
    if (notes->recipe->format->features && asked.data)
        return complain(GR_USAGE, "evaluate", "%s holds weights of %s, which reads a built-in table and no --data",
                        notes->path, notes->recipe->name);
    int code = test_pictures_open(ctx, &s, notes, "evaluate", t);
    if (code)
        return code;
    gr_module *net = weights_file_loaded(ctx, notes, t->set);
    if (!net)
        return complain_of(ctx, "evaluate");
    code = ask_network(ctx, net, t, &asks->seen, a);
    return code ? code : tell(asks, notes, t, a);
}

static int run_evaluate(int argc, char **argv)
{
    evaluate_asks asks = {.wrong = 5, .run = {.seed = 1}};
    const char *weights;
    const options_end end = options_parse(&evaluate_command, &asks, argc, argv, &weights);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!weights)
        return complain(GR_USAGE, "evaluate", "which weights? gradus evaluate WEIGHTS --data FOLDER");
    if (asks.run.data && asks.run.procedural)
        return complain(GR_USAGE, "evaluate", "--data and --procedural exclude each other; give one of them");
    weights_notes notes = {0};
    test_pictures pictures = {0};
    answers a = {0};
    gr_context *ctx = settings_open(&asks.run, false);
    const weights_asked asked = {.recipe = asks.recipe};
    int code = gr_ok(ctx) ? weights_file_read(ctx, weights, &asked, "evaluate", &notes) : complain_of(ctx, "evaluate");
    if (code == 0)
        code = evaluate(ctx, &asks, &notes, &pictures, &a);
    answers_close(&a);
    test_pictures_close(&pictures);
    weights_file_close(&notes);
    gr_close(ctx);
    return code;
}

static const option_group groups[] = {{"Options", options, NULL, 0}, {0}};

const gradus_command evaluate_command = {
    .name = "evaluate",
    .purpose = "how good trained weights are, on pictures they have not seen",
    .usage = "evaluate WEIGHTS --data PATH [options]",
    .operand = "WEIGHTS",
    .about =
        "Print how many pictures the network of these weights gets right: accuracy with its standard error and what "
        "always answering the most frequent class would give, precision and recall of each class, what was taken for "
        "what, and the surest mistakes by name. Files that the network was trained on, or chosen by, are known again "
        "by their contents and left out, wherever they lie.",
    .examples =
        "evaluate flowers.safetensors --data flowers\nevaluate pets.safetensors --data holiday --flip --wrong 20",
    .groups = groups,
    .run = run_evaluate,
};

/* weights_convert.c - gradus weights convert: a file of weights for another tool. */
#include <stdio.h>

#include "commands.h"
#include "settings/choices.h"
#include "sources/source.h"
#include "terminal/complain.h"
#include "terminal/output.h"
#include "train/weights_file.h"

static const char command[] = "weights convert";

enum { TO_GRADUS = 3 };
static const char *const readers[] = {
    [GR_FOR_TORCH] = "torch", [GR_FOR_KERAS] = "keras", [GR_FOR_NUMPY] = "npz", [TO_GRADUS] = "gradus", NULL};

typedef struct {
    choice to;
    weights_asked of;
} convert_asks;

static const option options[] = {
    CHOICE_OPTION("to", "TOOL", offsetof(convert_asks, to), readers,
                  "torch (a state dict), keras (its variables), npz (numpy.load) or gradus"),
    TEXT_OPTION("recipe", "RECIPE", offsetof(convert_asks, of.recipe),
                "whose network the weights are of, where the file does not say"),
    TEXT_OPTION("model", "FILE", offsetof(convert_asks, of.model),
                "the same for a network of your own, a line a layer in this file; with --outputs"),
    COUNT_OPTION("resize", "SIDE", offsetof(convert_asks, of.resize), 1, 4096,
                 "the pictures' size that the network is for, where the file does not say (default: the recipe's)"),
    COUNT_OPTION("outputs", "N", offsetof(convert_asks, of.outputs), 1, 1000000,
                 "of the last dense layer, where the file does not say (default: the recipe's)"),
    {0},
};

/* The network of the notes with the weights of the file. Returns 0 or an exit code, complained of. */
static int load(gr_context *ctx, const weights_notes *notes, gr_module **net)
{
    const settings asked = {.resize = notes->resize};
    const resolved s = settings_resolve(&asked, notes->recipe);
    int64_t shape[3];
    gr_import_report report = {.told = ""};
    source_shape(&s, shape);
    *net = weights_file_net(ctx, notes);
    if (gr_module_build(*net, 3, shape) && gr_import_weights(*net, notes->path, NULL, &report)) {
        if (*report.told)
            complain(GR_OK, command, "%s: %s", notes->path, report.told);
        return 0;
    }
    const int code = complain_of(ctx, command);
    if (report.table)
        fputs(report.table, stderr);
    return code;
}

static int convert(gr_context *ctx, const convert_asks *asks, weights_notes *notes, const char *to)
{
    gr_module *net;
    int code = output_check_spares(to, &(const char *){notes->path}, 1, command);
    if (code == 0)
        code = output_check(to, command);
    if (code)
        return code;
    code = load(ctx, notes, &net);
    if (code)
        return code;
    const bool good = asks->to.value == TO_GRADUS ? weights_file_rewrite(net, to, notes)
                                                  : gr_export_weights(net, to, (gr_weights_reader)asks->to.value);
    return good ? 0 : complain_of(ctx, command);
}

static int run(int argc, char **argv)
{
    const char *operands[2];
    convert_asks asks = {0};
    const options_end end = options_parse(&weights_convert_command, &asks, argc, argv, operands);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!operands[0] || !operands[1] || !asks.to.given)
        return complain(GR_USAGE, command, "%s",
                        !operands[0] || !operands[1] ? "from which file to which?"
                                                     : "--to torch, keras, npz or gradus?");
    gr_context *ctx = gr_open(&(gr_options){.threads = 1});
    weights_notes notes;
    int code = weights_file_read(ctx, operands[0], &asks.of, command, &notes);
    if (code == 0)
        code = convert(ctx, &asks, &notes, operands[1]);
    weights_file_close(&notes);
    gr_close(ctx);
    return code;
}

static const option_group groups[] = {{"Options", options, NULL, 0}, {0}};

const gradus_command weights_convert_command = {
    .name = "weights convert",
    .purpose = "weights for another tool: PyTorch, Keras, NumPy",
    .usage = "weights convert IN OUT --to torch|keras|npz|gradus [options]",
    .operand = "IN OUT",
    .operands = 2,
    .about =
        "Write weights for another tool, in its names and its layout. IN is a safetensors file of gradus train, of "
        "PyTorch (a state dict) or of Keras (variables under their paths), or NumPy's .npz of such arrays; whose it "
        "is, its names tell. The network must be known, as what lies behind a flatten has another order in PyTorch: "
        "the file says whose weights it holds, or --recipe or --model does. What does not fit is shown with names and "
        "shapes of both sides.",
    .examples = "weights convert pets.safetensors pets-torch.safetensors --to torch\n"
                "weights convert resnet18.safetensors mine.safetensors --to gradus --recipe resnet18-article\n"
                "weights convert theirs.npz mine.safetensors --to gradus --model model.txt --outputs 3",
    .groups = groups,
    .run = run,
};

/*
 * fuzz_safetensors.c - files of weights: listed, their notes read, loaded and taken over from other tools by a small
 * network. A file whose length of the header ends in 0xff, as none can, gets the right one: up to the last brace.
 */
#include "fuzz.h"
#include "gradus.h"

enum { LENGTH = 8, MARK = 0xff };

static void mend_length(uint8_t *bytes, size_t size)
{
    size_t end = size;
    if (size <= LENGTH || bytes[LENGTH - 1] != MARK)
        return;
    while (end > LENGTH && bytes[end - 1] != '}')
        end--;
    for (int i = 0; i < LENGTH; i++)
        bytes[i] = (uint8_t)((uint64_t)(end - LENGTH) >> (8 * i));
}

static gr_module *network(gr_context *ctx)
{
    gr_module *net = gr_model_from_text(ctx, "m", "conv 2 3x3\nbatch_norm relu\nflatten\ndense classes\n", 3);
    must(gr_module_build(net, 3, (int64_t[]){4, 4, 1}));
    return net;
}

/* Whether an answer and the context's state say the same; the context is as new behind it. */
static bool agreed(gr_context *ctx, bool good)
{
    must(good == gr_ok(ctx));
    gr_clear_error(ctx);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const keys[] = {"recipe", "classes"};
    const char *values[2];
    const gr_listed_tensor *list;
    char path[64];
    uint8_t *copy = copy_of(bytes, size);
    mend_length(copy, size);
    memory_file(1, copy, size, path);
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .threads = 1});
    gr_module *net = network(ctx);
    gr_import_report report = {.told = ""};
    const int n = gr_list_weights(ctx, path, &list);
    agreed(ctx, n >= 0);
    agreed(ctx, gr_read_notes(ctx, path, 2, keys, values));
    const bool loaded = agreed(ctx, gr_load_weights(net, path));
    const bool taken = agreed(ctx, gr_import_weights(net, path, NULL, &report));
    must(n >= 0 || (!loaded && !taken));
    gr_close(ctx);
    free(copy);
    return 0;
}

/* words.c - what PyTorch and Keras call the same things. */
#include <string.h>

#include "nn/exchange/exchange.h"

enum { SYNONYMS = 2 }; /* Keras calls the weight of a batch normalisation gamma */

static const struct {
    char between; /* layer and tensor */
    const char *words[GR__COUNTER + 1][SYNONYMS];
} tools[] = {
    [GR__AS_TORCH] = {'.', {{"weight"}, {"bias"}, {"running_mean"}, {"running_var"}, {"num_batches_tracked"}}},
    [GR__AS_KERAS] = {'/', {{"kernel", "gamma"}, {"bias", "beta"}, {"moving_mean"}, {"moving_variance"}}},
};

const char *gr__word(gr_disk_order tool, gr_term word, bool normalisation)
{
    const char *const *words = tools[tool].words[word];
    return normalisation && words[1] ? words[1] : words[0];
}

gr_term gr__word_of(gr_disk_order tool, const char *name, size_t *length)
{
    const char *last = strrchr(name, tools[tool].between);
    *length = last ? (size_t)(last - name) : 0;
    if (!last)
        return GR__OTHER;
    const size_t end = strlen(last + 1), colon = strcspn(last + 1, ":"); /* Keras 2 has "kernel:0" */
    for (int word = 0; word <= GR__COUNTER; word++)
        for (int i = 0; i < SYNONYMS; i++) {
            const char *text = tools[tool].words[word][i];
            const bool bare = tool == GR__AS_TORCH || colon == end || strcmp(last + 1 + colon, ":0") == 0;
            if (text && bare && strlen(text) == colon && strncmp(text, last + 1, colon) == 0)
                return (gr_term)word;
        }
    return GR__OTHER;
}

bool gr__is_beside(const gr_safetensors *file, gr_disk_order tool, int i)
{
    size_t length;
    const char *name = file->tensors[i].name;
    return !strncmp(name, GR__BESIDE_WEIGHTS, sizeof GR__BESIDE_WEIGHTS - 1) ||
           (tool == GR__AS_TORCH && gr__word_of(tool, name, &length) == GR__COUNTER);
}

/* Names that are one tool's alone; both say "bias". */
static int count_names(const gr_safetensors *file, gr_disk_order tool, const char **first)
{
    int n = 0;
    for (int i = 0; i < file->n; i++) {
        size_t length;
        const char *name = file->tensors[i].name;
        if (gr__word_of(tool, name, &length) == GR__OTHER || gr__is_beside(file, GR__AS_TORCH, i))
            continue;
        if (n++ == 0)
            *first = name;
    }
    return n;
}

bool gr__tool_of(gr_context *ctx, const char *path, const gr_safetensors *file, gr_disk_order *tool)
{
    const char *torch = "", *keras = "";
    const int of_torch = count_names(file, GR__AS_TORCH, &torch), of_keras = count_names(file, GR__AS_KERAS, &keras);
    *tool = of_keras > 0 ? GR__AS_KERAS : GR__AS_TORCH;
    if (of_torch > 0 && of_keras > 0)
        return gr__fail(ctx, GR_BAD_DATA,
                        "%s: has PyTorch's names (%s) and Keras' (%s), so nothing tells how its tensors lie", path,
                        torch, keras);
    return true;
}

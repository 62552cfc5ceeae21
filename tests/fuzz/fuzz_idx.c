/*
 * fuzz_idx.c - the reader of MNIST's format. An input is three 16-bit little-endian lengths and then four files:
 * training images, training labels, test images, test labels.
 */
#include "data/data.h"
#include "fuzz.h"

static const char *const names[4] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                     "t10k-labels-idx1-ubyte"};
static char folder[64];

static void remove_folder(void)
{
    for (int i = 0; i < 4; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* A folder whose four files are links to files in memory. */
static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/gradus-fuzz-XXXXXX");
    must(mkdtemp(folder));
    atexit(remove_folder);
    for (int i = 0; i < 4; i++) {
        char path[128], target[64];
        memory_file(i, NULL, 0, target);
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        must(symlink(target, path) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!folder[0])
        make_folder();
    if (size < 6)
        return 0;
    size_t at = 6;
    for (int i = 0; i < 4; i++) {
        char path[64];
        size_t left = size - at, n = i < 3 ? (size_t)(bytes[2 * i] | bytes[2 * i + 1] << 8) : left;
        n = n < left ? n : left;
        memory_file(i, bytes + at, n, path);
        at += n;
    }
    gr_context *ctx = gr_open(&(gr_options){.threads = 1});
    gr_split split = gr_idx(ctx, folder);
    must((split.train != NULL) == gr_ok(ctx));
    for (int64_t i = 0; i < gr_dataset_size(split.train); i++)
        must(gr_dataset_label(split.train, i) < gr_dataset_classes(split.train));
    char hash[17];
    if (split.test)
        gr_dataset_hash(split.test, hash); /* reads every pixel */
    gr_close(ctx);
    return 0;
}

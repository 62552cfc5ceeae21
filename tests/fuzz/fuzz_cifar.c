/* fuzz_cifar.c - the reader of CIFAR-10's archive. */
#include "data/data.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static gr_context *ctx;
    if (!ctx)
        ctx = gr_open(&(gr_options){.threads = 1});
    char path[64];
    uint8_t *copy = copy_of(bytes, size);
    mend_tar(copy, size);
    memory_file(0, copy, size, path);
    free(copy);
    gr_split split = gr_cifar10(ctx, path);
    must((split.train != NULL) == gr_ok(ctx));
    gr_clear_error(ctx);
    if (split.train) { /* 180 MB that the context would keep */
        gr_close(ctx);
        ctx = NULL;
    }
    return 0;
}

/* fuzz_tar.c - the tar reader, plain and compressed: members and class folders. */
#include "core/core.h"
#include "fuzz_archive.h"

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
    gr_archive archive;
    if (gr__archive_open(ctx, path, &archive)) {
        check_archive(ctx, &archive);
        gr__archive_close(&archive);
    } else {
        must(!gr_ok(ctx));
    }
    gr_clear_error(ctx);
    return 0;
}

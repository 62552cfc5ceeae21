/* fuzz_zip.c - the zip reader: directory, members and class folders. */
#include "core/core.h"
#include "fuzz_archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static gr_context *ctx;
    if (!ctx)
        ctx = gr_open(&(gr_options){.threads = 1});
    uint8_t *copy = copy_of(bytes, size);
    gr_archive archive = {.path = "fuzz.zip", .bytes = copy, .size = (int64_t)size, .file_size = (int64_t)size};
    bool good = gr__zip_index(ctx, &archive);
    must(good == gr_ok(ctx));
    if (good)
        check_archive(ctx, &archive);
    gr_clear_error(ctx);
    gr__archive_close(&archive);
    free(copy);
    return 0;
}

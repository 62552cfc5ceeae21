/*
 * fuzz_npz.c - NumPy's archives as files of weights: listed and taken over by a small network. Stored members get the
 * checksums that their contents have: nobody gets past those by chance.
 */
#include <zlib.h>

#include "fuzz.h"
#include "gradus.h"

enum { LOCAL = 30, ENTRY = 46 };

static uint32_t number(const uint8_t *p, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static void mend_sums(uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + ENTRY <= size; at++) {
        uint8_t *entry = bytes + at;
        if (memcmp(entry, "PK\1\2", 4) != 0)
            continue;
        const size_t length = number(entry + 20, 4), local = number(entry + 42, 4);
        if (local > size || size - local < LOCAL)
            continue;
        const size_t begin = local + LOCAL + number(bytes + local + 26, 2) + number(bytes + local + 28, 2);
        if (begin > size || length > size - begin)
            continue;
        const uint32_t sum = (uint32_t)crc32_z(0, bytes + begin, length);
        for (int i = 0; i < 4; i++)
            entry[16 + i] = (uint8_t)(sum >> (8 * i));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const gr_listed_tensor *list;
    char path[64];
    uint8_t *copy = copy_of(bytes, size);
    mend_sums(copy, size);
    memory_file(1, copy, size, path);
    gr_context *ctx = gr_open(&(gr_options){.device = "cpu", .threads = 1});
    gr_module *net = gr_model_from_text(ctx, "m", "conv 2 3x3\nbatch_norm relu\nflatten\ndense classes\n", 3);
    gr_import_report report = {.told = ""};
    must(gr_module_build(net, 3, (int64_t[]){4, 4, 1}));
    const int n = gr_list_weights(ctx, path, &list);
    must((n >= 0) == gr_ok(ctx));
    for (int i = 0; i < n; i++)
        must(*list[i].name && list[i].count >= 0 && (uint64_t)list[i].bytes <= 1040 * size);
    gr_clear_error(ctx);
    const bool taken = gr_import_weights(net, path, NULL, &report);
    must(taken == gr_ok(ctx) && (n >= 0 || !taken));
    gr_close(ctx);
    free(copy);
    return 0;
}

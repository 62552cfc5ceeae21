/* fuzz_packed.c - packed sets, as they come and with check sums that are right, which nobody gets past by chance. */
#include "data/data.h"
#include "data/formats/packed.h"
#include "fuzz.h"

static void mend_packed(uint8_t *bytes, uint64_t size)
{
    if (size < GR__PACKED_HEADER)
        return;
    uint64_t n = gr__get_le(bytes + GR__PACKED_N_AT, 8), class_bytes = gr__get_le(bytes + GR__PACKED_CLASS_BYTES_AT, 4);
    uint64_t pixels = 1;
    for (int i = 0; i < 3; i++)
        pixels *= gr__get_le(bytes + GR__PACKED_SHAPE_AT + 4 * i, 4) & 0xffff;
    if (n < size && GR__PACKED_HEADER + class_bytes + n * GR__PACKED_IMAGE <= size) {
        uint8_t *images = bytes + GR__PACKED_HEADER + class_bytes;
        uint64_t end = GR__PACKED_HEADER + class_bytes + n * GR__PACKED_IMAGE,
                 start = (uint64_t)gr__round_up((int64_t)end, GR__PACKED_ALIGN);
        for (uint64_t i = 0; i < n && start + (i + 1) * pixels <= size; i++)
            gr__put_le(images + i * GR__PACKED_IMAGE + 16, gr__checksum(bytes + start + i * pixels, (int64_t)pixels),
                       8);
        gr__put_le(bytes + GR__PACKED_TABLES_SUM_AT,
                   gr__checksum(bytes + GR__PACKED_HEADER, (int64_t)(end - GR__PACKED_HEADER)), 8);
    }
    gr__put_le(bytes + GR__PACKED_HEADER_SUM_AT, gr__checksum(bytes, GR__PACKED_HEADER_SUM_AT), 8);
}

static void open_packed(const uint8_t *bytes, size_t size)
{
    char path[64], hash[17];
    memory_file(0, bytes, size, path);
    gr_context *ctx = gr_open(&(gr_options){.threads = 1});
    gr_dataset *set = gr_packed(ctx, path, NULL);
    must((set != NULL) == gr_ok(ctx));
    if (set) {
        gr_dataset_hash(set, hash); /* reads every pixel */
        for (int64_t i = 0; i < gr_dataset_size(set); i++)
            must(gr_dataset_label(set, i) >= 0 && gr_dataset_label(set, i) < gr_dataset_classes(set));
        gr_packed(ctx, path, &(gr_packed_options){.per_class = 1});
    }
    gr_close(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = copy_of(bytes, size);
    open_packed(copy, size);
    mend_packed(copy, size);
    open_packed(copy, size);
    free(copy);
    return 0;
}

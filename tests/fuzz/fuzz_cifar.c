/*
 * fuzz_cifar.c - the reader of CIFAR-10, told that a file holds 2 records. The first byte of an input says what
 * follows:
 *   even       an archive as it is
 *   1 mod 4    members of an archive that is made of them, 4 bytes each: which file, the labels of its records, its
 *              size
 *   3 mod 4    the same as a folder; only the last of several files of a name counts
 */
#include "data/formats/cifar10.h"
#include "fuzz.h"

enum { RECORDS = 2, PLANE = 32 * 32, RECORD = 1 + 3 * PLANE, FILES = 6, KINDS = FILES + 2, BLOCK = 512, MEMBERS = 16 };

static const char *const names[KINDS] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                         "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin",
                                         "readme.html",      "batches.meta.txt"};
static char folder[64];

/*
 * One file of the set: its kind, a size that is right but for the last byte's multiples, pixels that tell where they
 * are.
 */
typedef struct {
    int kind;
    size_t size;
    uint8_t bytes[RECORDS * RECORD + 127 * BLOCK];
} member;

static uint8_t pixel_of(int kind, int record, int channel, int i)
{
    return (uint8_t)(7 * kind + 31 * record + 101 * channel + i);
}

static void make_member(member *m, const uint8_t description[4])
{
    memset(m->bytes, 0, sizeof m->bytes);
    m->kind = description[0] % KINDS;
    m->size = (size_t)(RECORDS * RECORD + (description[3] < 128 ? description[3] * BLOCK : description[3] - 256));
    for (int r = 0; r < RECORDS; r++) {
        m->bytes[r * RECORD] = description[1 + r];
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < PLANE; i++)
                m->bytes[r * RECORD + 1 + c * PLANE + i] = pixel_of(m->kind, r, c, i);
    }
}

/* The members as a tar archive in path. */
static void put_archive(const uint8_t *bytes, size_t members, char path[64])
{
    static member m;
    static uint8_t archive[MEMBERS * (BLOCK + sizeof m.bytes) + 2 * BLOCK];
    size_t at = 0;
    for (size_t i = 0; i < members; i++) {
        make_member(&m, bytes + 4 * i);
        memset(archive + at, 0, BLOCK);
        snprintf((char *)archive + at, 100, "cifar-10-batches-bin/%s", names[m.kind]);
        snprintf((char *)archive + at + 124, 12, "%011zo", m.size);
        memcpy(archive + at + 156, "0ustar\00000", 9);
        at += BLOCK;
        memcpy(archive + at, m.bytes, m.size);
        memset(archive + at + m.size, 0, -m.size % BLOCK);
        mend_tar(archive + at - BLOCK, BLOCK);
        at += m.size + -m.size % BLOCK;
    }
    memset(archive + at, 0, 2 * BLOCK);
    memory_file(FILES, archive, at + 2 * BLOCK, path);
}

static void remove_folder(void)
{
    for (int i = 0; i < KINDS; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* The members as files of the folder, by way of links to files in memory. */
static void put_folder(const uint8_t *bytes, size_t members)
{
    static member m;
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/gradus-fuzz-XXXXXX");
        must(mkdtemp(folder));
        atexit(remove_folder);
    }
    for (int i = 0; i < FILES; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    for (size_t i = 0; i < members; i++) {
        char path[128], target[64];
        make_member(&m, bytes + 4 * i);
        if (m.kind >= FILES)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, names[m.kind]);
        memory_file(m.kind, m.bytes, m.size, target);
        unlink(path);
        must(symlink(target, path) == 0);
    }
}

/* Every label is one, and every pixel of a set that is made of members lies where the format says. */
static void check_set(gr_dataset *set, bool known, int first_file)
{
    must(gr_dataset_size(set) % RECORDS == 0);
    for (int64_t n = 0; n < gr_dataset_size(set); n++) {
        const uint8_t *pixels = gr_dataset_image(set, n);
        must(gr_dataset_label(set, n) >= 0 && gr_dataset_label(set, n) < 10);
        for (int i = 0; known && i < 3 * PLANE; i++)
            must(pixels[i] == pixel_of(first_file + (int)n / RECORDS, (int)n % RECORDS, i % 3, i / 3));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!size)
        return 0;
    const bool known = bytes[0] % 2;
    const size_t members = (size - 1) / 4 < MEMBERS ? (size - 1) / 4 : MEMBERS;
    char path[64];
    if (!known) {
        uint8_t *copy = copy_of(bytes + 1, size - 1);
        mend_tar(copy, size - 1);
        memory_file(FILES, copy, size - 1, path);
        free(copy);
    } else if (bytes[0] % 4 == 1) {
        put_archive(bytes + 1, members, path);
    } else {
        put_folder(bytes + 1, members);
        snprintf(path, sizeof path, "%s", folder);
    }
    static gr_context *ctx;
    if (!ctx)
        ctx = gr_open(&(gr_options){.threads = 1});
    gr_split split = gr__cifar10_of(ctx, path, RECORDS);
    must((split.train != NULL) == gr_ok(ctx));
    gr_clear_error(ctx);
    if (split.train) {
        check_set(split.train, known, 0);
        check_set(split.test, known, FILES - 1);
        gr_close(ctx); /* or it would keep the set */
        ctx = NULL;
    }
    return 0;
}

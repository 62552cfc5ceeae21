/* test_npz.c - NumPy's archives as weights: one broken file per rule of the zip, a model's weights there and back. */
#include "test_npz_files.h"

typedef struct {
    const char *where; /* part of the archive: local 0, local 1, entry 0, entry 1 or end */
    size_t at;
    uint32_t value;
    int bytes;
    const char *rule;
} change;

static unsigned char *part_of(zip *z, const char *where)
{
    const int which = where[1] - '0';
    return z->bytes + (*where == 'l' ? z->local[which] : *where == 'e' ? z->entry[which] : z->end);
}

static void directories(void **state)
{
    (void)state;
    npy two[2] = {array("a.npy", HEADER("<f4", "False", "(2,)"), 8), array("b.npy", HEADER("<f4", "False", "(2,)"), 8)};
    two[1].deflated = true;
    const zip good = archive_of(2, two);
    const uint32_t n = (uint32_t)two[0].n;
    const change cases[] = {
        {"z", 0, 0, 1, "does not end as a zip archive"},
        {"z", 4, 1, 2, "several volumes"},
        {"z", 6, 1, 2, "several volumes"},
        {"z", 8, 1, 2, "several volumes"},
        {"z", 20, 1, 2, "or has a comment"},
        {"z", 10, 0xffff, 2, "zip64"},
        {"z", 12, 0xffffffff, 4, "zip64"},
        {"z", 16, 0xffffffff, 4, "zip64"},
        {"z", 16, (uint32_t)good.directory + 1, 4, "not where it should be"},
        {"z", 12, (uint32_t)(good.end - good.directory) - 1, 4, "not where it should be"},
        {"z", 16, 0xfffffff0, 4, "not where it should be"},
        {"z", 8, 9 | 9 << 16, 4, "not where it should be"},
        {"z", 8, 1 | 1 << 16, 4, "directory is damaged"},
        {"e0", 0, 0, 1, "directory is damaged"},
        {"e1", 2, 0, 2, "directory is damaged"},
        {"e1", 28, 0xffff, 2, "directory is damaged"},
        {"e1", 30, 0xffff, 2, "directory is damaged"},
        {"e0", 32, 1, 2, "directory is damaged"},
        {"e0", 8, 1, 2, "of a.npy, it is encrypted"},
        {"e0", 10, 12, 2, "of a.npy, it is packed by a method"},
        {"e0", 10, 8, 2, "of a.npy, it has another name or method"},
        {"e1", 10, 0, 2, "of b.npy, its sizes are not those"},
        {"e0", 20, n - 1, 4, "of a.npy, its sizes are not those"},
        {"e0", 24, n + 1, 4, "of a.npy, its sizes are not those"},
        {"e1", 24, 0xfffffff0, 4, "of b.npy, its sizes are not those"},
        {"e0", 20, 0xffffffff, 4, "zip64"},
        {"e0", 24, 0xffffffff, 4, "zip64"},
        {"e0", 42, 0xffffffff, 4, "zip64"},
        {"e0", 42, 1, 4, "of a.npy, it is not where its directory says"},
        {"e0", 42, (uint32_t)good.directory, 4, "of a.npy, it is not where its directory says"},
        {"e0", 42, 0xfffffff0, 4, "of a.npy, it is not where its directory says"},
        {"e1", 42, 0, 4, "of b.npy, it is not where its directory says, behind"},
        {"e1", 20, 0x1000, 4, "of b.npy, it is not where its directory says"},
        {"e1", 20, 3, 4, "of b.npy, it does not unpack"},
        {"e1", 24, n - 1, 4, "of b.npy, it does not unpack"},
        {"e1", 24, n + 1, 4, "of b.npy, it does not unpack"},
        {"e0", 16, 1, 4, "of a.npy, its checksum"},
        {"e1", 16, 1, 4, "of b.npy, its checksum"},
        {"l1", 0, 0, 1, "of b.npy, it is not where its directory says"},
        {"l0", 26, 0xffff, 2, "of a.npy, it is not where its directory says"},
        {"l0", 28, 0xffff, 2, "of a.npy, it is not where its directory says"},
        {"l0", 26, 4, 2, "of a.npy, it has another name"},
        {"l0", 30, 'b', 1, "of a.npy, it has another name"},
        {"l0", 8, 8, 2, "of a.npy, it has another name or method"},
        {"l0", 28, 1, 2, "of b.npy, it is not where its directory says, behind"},
        {"l1", LOCAL + 5, 7, 1, "of b.npy, it does not unpack"},
        {"l0", LOCAL + 5 + 40, 'x', 1, "of a.npy, its checksum"},
        {"e0", ENTRY, 0, 1, "its name has characters"},
        {"e0", ENTRY, 0xe4, 1, "its name has characters"},
        {"e0", ENTRY, '\n', 1, "its name has characters"},
        {"e0", ENTRY + 4, 'x', 1, "it is no .npy file"},
        {"e0", ENTRY, '.', 1, "it has another name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zip z = good;
        put(part_of(&z, cases[i].where) + cases[i].at, cases[i].value, cases[i].bytes);
        refused(&z, "", cases[i].rule);
    }
    for (size_t size = 4; size < good.size; size++) {
        zip z = good;
        z.size = size;
        refused(&z, "", "does not end as a zip archive");
    }
}

static void names(void **state)
{
    (void)state;
    char longest[140];
    memset(longest, 'n', sizeof longest);
    strcpy(longest + 128, ".npy");
    npy a = array(longest, HEADER("<f4", "False", "(1,)"), 4);
    zip z = archive_of(1, &a);
    refused(&z, "nnnn", "longer than 127 bytes");
    a.name = ".npy";
    z = archive_of(1, &a);
    refused(&z, "of .npy", "it is no .npy file");
    a.name = "a.txt";
    z = archive_of(1, &a);
    refused(&z, "of a.txt", "it is no .npy file");
    a.name = "a.npy";
    const npy twins[2] = {a, a};
    z = archive_of(2, twins);
    refused(&z, "of a", "it is there twice");
}

/* 64 KB of zeros in 100 bytes, which say that they are 4 GB. */
static void a_bomb(void **state)
{
    (void)state;
    npy a = array("a.npy", HEADER("<f4", "False", "(100,)"), 400);
    memset(a.bytes + a.n - 400, 0, 400);
    a.deflated = true;
    zip z = archive_of(1, &a);
    put(z.bytes + z.entry[0] + 24, 1032 * 60, 4);
    refused(&z, "of a.npy", "does not unpack");
    put(z.bytes + z.entry[0] + 24, 1 << 30, 4);
    refused(&z, "of a.npy", "its sizes are not those of its method");
}

/* What gr_export_weights writes comes back to its bits, by either of the two that load. */
static void there_and_back(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.seed = 7}), *other = gr_open(&(gr_options){.seed = 8});
    gr_module *net = gr_cats_vs_dogs_net(ctx), *again = gr_cats_vs_dogs_net(other);
    const int64_t shape[3] = {6, 8, 3};
    gr_import_report report;
    assert_true(gr_module_build(net, 3, shape) && gr_module_build(again, 3, shape));
    assert_true(gr_export_weights(net, path, GR_FOR_NUMPY));
    for (int way = 0; way < 2; way++) {
        gr_tensor *last = gr_parameter(again, gr_parameter_count(again) - 2); /* dense2.weight, 128 numbers */
        float *zero = calloc((size_t)gr_count(last), sizeof *zero), *one = calloc((size_t)gr_count(last), sizeof *one);
        assert_true(gr_upload(last, zero));
        assert_true(way ? gr_load_weights(again, path) : gr_import_weights(again, path, NULL, &report));
        assert_true(gr_download(last, one) && gr_download(gr_parameter(net, gr_parameter_count(net) - 2), zero));
        assert_memory_equal(one, zero, (size_t)gr_count(last) * sizeof *zero);
        free(zero);
        free(one);
    }
    assert_non_null(strstr(report.told, "filters OIHW to KRSC"));
    assert_int_equal(gr_close(ctx), 0);
    assert_int_equal(gr_close(other), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directories),
        cmocka_unit_test(names),
        cmocka_unit_test(a_bomb),
        cmocka_unit_test(there_and_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

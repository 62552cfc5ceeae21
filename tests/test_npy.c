/* test_npy.c - the arrays in NumPy's archives: one broken file per rule, and those of every kind that is read. */
#include "test_npz_files.h"

static void headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        const char *rule;
    } cases[] = {
        /* the dictionary */
        {"", 0, "not a dictionary"},
        {"[]\n", 0, "not a dictionary"},
        {"{}\n", 0, "not a dictionary"},
        {"{\n", 0, "not a dictionary"},
        {"{'descr'}\n", 0, "not a dictionary"},
        {"{'descr': '<f4', 'fortran_order': False}\n", 0, "not a dictionary"},
        {"{'descr': '<f4', 'shape': (1,), }\n", 4, "not a dictionary"},
        {"{'fortran_order': False, 'shape': (1,), }\n", 4, "not a dictionary"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, "not a dictionary"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}\n", 4, "not a dictionary"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,), }\n", 4, "not a dictionary"},
        {"{'descr', '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, "not a dictionary"},
        {"{descr: '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, "not a dictionary"},
        {"{'d\\x65scr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, "not a dictionary"},
        {"{'descr_of_it_with_a_name_that_has_no_end': '<f4'}\n", 4, "not a dictionary"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } + {}\n", 4, "something stands behind"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4, "something stands behind"},
        {HEADER("<f4", "False", "(1,)") "\n", 4, "something stands behind"},
        /* the type */
        {HEADER(">f4", "False", "(1,)"), 4, "highest byte first"},
        {HEADER("|O", "False", "(1,)"), 4, "never loaded"},
        {HEADER("<c8", "False", "(1,)"), 8, "its type is not one of"},
        {HEADER("|b1", "False", "(1,)"), 1, "its type is not one of"},
        {HEADER("|V2", "False", "(1,)"), 2, "its type is not one of"},
        {HEADER("<U4", "False", "(1,)"), 16, "its type is not one of"},
        {HEADER("<f4 ", "False", "(1,)"), 4, "its type is not one of"},
        {HEADER("", "False", "(1,)"), 4, "its type is not one of"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", 4, "no plain numbers"},
        {"{'descr': float, 'fortran_order': False, 'shape': (1,), }\n", 4, "no plain numbers"},
        /* the order */
        {HEADER("<f4", "0", "(1,)"), 4, "not True or False"},
        {HEADER("<f4", "'False'", "(1,)"), 4, "not True or False"},
        {HEADER("<f4", "Fals", "(1,)"), 4, "not True or False"},
        /* the shape */
        {HEADER("<f4", "False", "1"), 4, "not a tuple"},
        {HEADER("<f4", "False", "(1)"), 4, "not a tuple"},
        {HEADER("<f4", "False", "[1]"), 4, "not a tuple"},
        {HEADER("<f4", "False", "(,)"), 4, "not a tuple"},
        {HEADER("<f4", "False", "(1 1)"), 4, "not a tuple"},
        {HEADER("<f4", "False", "(1,,1)"), 4, "not a tuple"},
        {HEADER("<f4", "False", "(-1,)"), 4, "not a tuple"},
        {HEADER("<f4", "False", "(1.0,)"), 4, "not a tuple"},
        {HEADER("<f4", "False", "(0x1,)"), 4, "not a tuple"},
        {HEADER("<f4", "False", "(1,1,1,1,1)"), 4, "more than 4 sizes"},
        {HEADER("<f4", "False", "(1234567890123456789,)"), 4, "not a tuple"},
        {HEADER("<f4", "False", "(999999999999999999,999999999999999999)"), 4, "too large"},
        {HEADER("<f4", "False", "(4611686018427387904,4)"), 0, "not a tuple"},
        {HEADER("|u1", "False", "(4294967296,4294967296)"), 0, "too large"},
        {HEADER("<f4", "True", "(2147483648,2147483648,2)"), 0, "too large"},
        {HEADER("<f4", "False", "(2,)"), 4, "not as long"},
        {HEADER("<f4", "False", "(1,)"), 5, "not as long"},
        {HEADER("<f8", "False", "(1,)"), 4, "not as long"},
        {HEADER("<f4", "False", "(0,)"), 4, "not as long"},
        {HEADER("<f4", "False", "()"), 0, "not as long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        npy a = array("a.npy", cases[i].header, cases[i].data);
        a.deflated = i % 2;
        const zip z = archive_of(1, &a);
        refused(&z, "of a.npy", cases[i].rule);
    }
}

/* What stands in front of the dictionary. */
static void beginnings(void **state)
{
    (void)state;
    const npy good = array("a.npy", HEADER("<f4", "False", "(1,)"), 4);
    static const struct {
        size_t at;
        int byte;
        const char *rule;
    } cases[] = {{0, 'N', "no .npy file"},
                 {5, 'y', "no .npy file"},
                 {6, 0, "of a version"},
                 {6, 4, "of a version"},
                 {7, 1, "of a version"},
                 {6, 2, "shorter than its own header"},
                 {9, 255, "shorter than its own header"},
                 {8, 1, "not a dictionary"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        npy a = good;
        a.bytes[cases[i].at] = (unsigned char)cases[i].byte;
        const zip z = archive_of(1, &a);
        refused(&z, "of a.npy", cases[i].rule);
    }
    for (size_t n = 0; n < good.n; n++) {
        npy a = good;
        a.n = n;
        const zip z = archive_of(1, &a);
        refused(&z, "of a.npy", "it");
    }
}

static void sound_files(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        gr_type type;
        int ndim;
        int64_t first;
    } cases[] = {
        {HEADER("<f4", "False", "()"), 4, GR_F32, 0, 0},
        {HEADER("<f8", "False", "(3,)"), 24, GR_F64, 1, 3},
        {HEADER("<f2", "False", "(3, 2)"), 12, GR_F16, 2, 3},
        {HEADER("<i8", "False", "(2L, 1L)"), 16, GR_I64, 2, 2},
        {HEADER("<i4", "False", "(1,2,1,1,)"), 8, GR_I32, 4, 1},
        {HEADER("|u1", "True", "(0, 5)"), 0, GR_U8, 2, 0},
        {"{\"shape\": (2,),\"fortran_order\":False,\"descr\":\"<f4\"}     \n", 8, GR_F32, 1, 2},
    };
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        npy a = array("layer.weight.npy", cases[i].header, cases[i].data);
        a.deflated = i % 2;
        read_good(ctx, 1, &a, &file);
        const gr_saved_tensor *t = gr__safetensors_find(&file, "layer.weight");
        assert_non_null(t);
        assert_int_equal(t->type, cases[i].type);
        assert_int_equal(t->ndim, cases[i].ndim);
        assert_int_equal(t->shape[0], cases[i].first);
        assert_memory_equal(t->data, a.bytes + a.n - cases[i].data, cases[i].data);
        assert_null(gr__safetensors_text(&file, "recipe"));
        gr__safetensors_free(&file);
    }
    read_good(ctx, 0, NULL, &file);
    gr__safetensors_free(&file);
    assert_int_equal(gr_close(ctx), 0);
}

/* The same array in C's order and in Fortran's: version 2.0 has a longer length. */
static void orders_and_versions(void **state)
{
    (void)state;
    npy c = array("c.npy", HEADER("|u1", "False", "(2, 3, 4)"), 24),
        f = array("f.npy", "  " HEADER("|u1", "True", "(2, 3, 4)"), 24);
    for (int i = 0, at = (int)f.n - 24; i < 4; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++)
                f.bytes[at++] = (unsigned char)((k * 3 + j) * 4 + i);
    f.bytes[6] = 2;
    put(f.bytes + 8, (uint32_t)f.n - 24 - 12, 4); /* two of the header's spaces are the length's now */
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    read_good(ctx, 2, (npy[]){c, f}, &file);
    assert_memory_equal(gr__safetensors_find(&file, "f")->data, gr__safetensors_find(&file, "c")->data, 24);
    gr__safetensors_free(&file);
    assert_int_equal(gr_close(ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers),
        cmocka_unit_test(beginnings),
        cmocka_unit_test(sound_files),
        cmocka_unit_test(orders_and_versions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* test_data_idx.c - the files of MNIST in all their spellings, plain and packed, whole and broken on purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "data/data.h"
#include "test_data_files.h"

enum { HEIGHT = 3, WIDTH = 2, PIXELS = HEIGHT * WIDTH, TRAIN = 7, TEST = 5, PATH = 2 * TEST_PATH };

static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                    "t10k-labels-idx1-ubyte"};

static char root[TEST_PATH], inside[PATH];

static int set_up(void **state)
{
    (void)state;
    make_folder(root);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(root);
    return 0;
}

static const char *in_root(const char *name)
{
    snprintf(inside, sizeof inside, "%s/%s", root, name);
    return inside;
}

/* Image i of a part has pixels base + i * PIXELS + position, label (i * 3) % classes. */
static void make_images(test_file *f, uint32_t n, unsigned base)
{
    f->size = 0;
    add_be32(f, 0x00000803);
    add_be32(f, n);
    add_be32(f, HEIGHT);
    add_be32(f, WIDTH);
    for (uint32_t i = 0; i < n * PIXELS; i++)
        add_bytes(f, &(unsigned char){(unsigned char)(base + i)}, 1);
}

static void make_labels(test_file *f, uint32_t n, uint32_t classes)
{
    f->size = 0;
    add_be32(f, 0x00000801);
    add_be32(f, n);
    for (uint32_t i = 0; i < n; i++)
        add_bytes(f, &(unsigned char){(unsigned char)(i * 3 % classes)}, 1);
}

static void make_file(test_file *f, int which, uint32_t classes)
{
    if (which % 2 == 0)
        make_images(f, which < 2 ? TRAIN : TEST, which < 2 ? 0 : 100);
    else
        make_labels(f, which < 2 ? TRAIN : TEST, classes);
}

static void put(const char *path, const test_file *f, bool packed)
{
    if (packed)
        put_gzip(path, f->bytes, f->size);
    else
        put_bytes(path, f->bytes, f->size);
}

/* The whole set below root/under, plain or packed, with a dash or a dot before idx. */
static void put_set(const char *under, bool packed, bool dotted)
{
    test_file f;
    for (int which = 0; which < 4; which++) {
        char path[PATH];
        snprintf(path, sizeof path, "%s/%s%s%s", root, under, names[which], packed ? ".gz" : "");
        if (dotted)
            *strstr(path, "-idx") = '.';
        make_file(&f, which, 10);
        put(path, &f, packed);
    }
}

static void assert_contents(gr_split split)
{
    int64_t shape[3];
    assert_null(split.val);
    assert_int_equal(gr_dataset_size(split.train), TRAIN);
    assert_int_equal(gr_dataset_size(split.test), TEST);
    assert_int_equal(gr_dataset_classes(split.train), 10); /* the largest label is 9 */
    assert_string_equal(gr_dataset_class_name(split.test, 9), "9");
    gr_dataset_shape(split.test, shape);
    assert_memory_equal(shape, ((int64_t[]){HEIGHT, WIDTH, 1}), sizeof shape);
    for (int i = 0; i < TRAIN + TEST; i++) {
        const gr_dataset *set = i < TRAIN ? split.train : split.test;
        int at = i < TRAIN ? i : i - TRAIN;
        assert_int_equal(gr_dataset_label(set, at), at * 3 % 10);
        for (int k = 0; k < PIXELS; k++)
            assert_int_equal(gr_dataset_image(set, at)[k], (i < TRAIN ? 0 : 100) + at * PIXELS + k);
    }
}

static void every_spelling(void **state)
{
    (void)state;
    char hash[17], first[17] = "";
    for (int form = 0; form < 8; form++) {
        const char *under = form & 4 ? "raw/" : "";
        if (*under)
            mkdir(in_root(under), 0777);
        put_set(under, form & 1, form & 2);
        gr_context *ctx = gr_open(NULL);
        gr_split split = gr_idx(ctx, root);
        assert_string_equal(gr_error_text(ctx), "");
        assert_contents(split);
        gr_dataset_hash(split.train, hash);
        if (form == 0)
            memcpy(first, hash, sizeof first);
        assert_string_equal(hash, first);
        assert_int_equal(gr_close(ctx), 0);
        tear_down(NULL);
        set_up(NULL);
    }
}

/* A batch of one channel reaches the device as it should. */
static void a_batch_has_one_channel(void **state)
{
    (void)state;
    put_set("", true, false);
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_split split = gr_idx(ctx, root);
    gr_loader *loader = gr_loader_open(split.test, &(gr_loader_options){.batch = TEST, .order = GR_IN_ORDER});
    gr_batch batch;
    double x[TEST * PIXELS];
    assert_true(gr_loader_next(loader, &batch));
    assert_int_equal(gr_dim(batch.x, 3), 1);
    assert_true(gr_download(batch.x, x));
    for (int i = 0; i < TEST * PIXELS; i++)
        assert_true(x[i] == (100 + i) / 255.0);
    gr_close(ctx);
}

/* Fails with code; the text names what and says also. */
static void assert_error(const char *folder, gr_code code, const char *what, const char *also)
{
    gr_context *ctx = gr_open(NULL);
    gr_split split = gr_idx(ctx, folder);
    assert_null(split.train);
    assert_null(split.test);
    if (gr_error_code(ctx) != code || !strstr(gr_error_text(ctx), what) || !strstr(gr_error_text(ctx), also))
        fail_msg("expected code %d, \"%s\" and \"%s\", not code %d: %s", code, what, also, gr_error_code(ctx),
                 gr_error_text(ctx));
    assert_int_equal(gr_close(ctx), code);
}

static void missing_files(void **state)
{
    (void)state;
    char longest[5000];
    assert_error("/nonexistent/mnist", GR_BAD_DATA, "/nonexistent/mnist/train-images-idx3-ubyte", "four files");
    assert_error("", GR_USAGE, "gr_idx", "folder");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_error(longest, GR_USAGE, "gr_idx", "characters");
    for (int which = 0; which < 4; which++) {
        put_set("", false, false);
        remove(in_root(names[which]));
        assert_error(root, GR_BAD_DATA, names[which], "is not there");
        mkdir(in_root(names[which]), 0777); /* a folder is no file */
        assert_error(root, GR_BAD_DATA, names[which], "is not there");
        remove(in_root(names[which]));
    }
}

/* Each file cut to each length, plain and packed; longer by a byte, plain. */
static void wrong_lengths(void **state)
{
    (void)state;
    test_file f;
    char path[PATH];
    for (int which = 0; which < 4; which++) {
        put_set("", false, false);
        make_file(&f, which, 10);
        for (size_t size = 0; size < f.size; size++) {
            put_bytes(in_root(names[which]), f.bytes, size);
            assert_error(root, GR_BAD_DATA, names[which], "cut short");
        }
        add_bytes(&f, "", 1);
        put(in_root(names[which]), &f, false);
        assert_error(root, GR_BAD_DATA, names[which], "bytes, its header asks for");
        remove(in_root(names[which]));
        snprintf(path, sizeof path, "%s/%s.gz", root, names[which]);
        put(path, &f, true);
        assert_error(root, GR_BAD_DATA, names[which], "behind its last element");
        f.size--;
        put(path, &f, true);
        struct stat status;
        assert_int_equal(stat(path, &status), 0);
        for (off_t size = status.st_size - 1; size > 1; size--) {
            assert_int_equal(truncate(path, size), 0);
            assert_error(root, GR_BAD_DATA, names[which], "fetch it again");
        }
        remove(path);
    }
}

static void damaged_gzip(void **state)
{
    (void)state;
    test_file f;
    put_set("", true, false);
    FILE *in = fopen(in_root("train-images-idx3-ubyte.gz"), "rb");
    f.size = fread(f.bytes, 1, sizeof f.bytes, in);
    fclose(in);
    f.bytes[f.size - 6] ^= 1; /* the check sum */
    put_bytes(inside, f.bytes, f.size);
    assert_error(root, GR_BAD_DATA, "train-images-idx3-ubyte.gz", "damaged");
}

/* Headers of other files, and of sizes that no file of these bytes can have: refused before memory is asked for. */
static void wrong_headers(void **state)
{
    (void)state;
    static const struct {
        uint32_t word[4];
        const char *says;
    } headers[] = {
        {{0x00000801, TRAIN, HEIGHT, WIDTH}, "begins with 00000801"},
        {{0x00000d03, TRAIN, HEIGHT, WIDTH}, "begins with 00000d03"},
        {{0x89504e47, TRAIN, HEIGHT, WIDTH}, "begins with 89504e47"},
        {{0x00000803, 0, HEIGHT, WIDTH}, "holds 0 images"},
        {{0x00000803, TRAIN, 0, WIDTH}, "of 0 x 2"},
        {{0x00000803, TRAIN, HEIGHT, 16385}, "of 3 x 16385"},
        {{0x00000803, 0xffffffff, HEIGHT, WIDTH}, "25769803786"},
        {{0x00000803, 0xffffffff, 16384, 16384}, "asks for 1152921504338411536"},
    };
    test_file f;
    put_set("", false, false);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        for (int packed = 0; packed < 2; packed++) {
            f.size = 0;
            for (int w = 0; w < 4; w++)
                add_be32(&f, headers[i].word[w]);
            for (int k = 0; k < TRAIN * PIXELS; k++)
                add_bytes(&f, "", 1);
            remove(in_root("train-images-idx3-ubyte.gz"));
            remove(in_root("train-images-idx3-ubyte"));
            put(packed ? in_root("train-images-idx3-ubyte.gz") : inside, &f, packed);
            const char *says = packed && i >= 6 ? "cannot unpack" : headers[i].says;
            assert_error(root, GR_BAD_DATA, "train-images-idx3-ubyte", says);
        }
}

static void files_that_do_not_belong_together(void **state)
{
    (void)state;
    test_file f;
    put_set("", false, false);
    make_labels(&f, TEST + 1, 10);
    put(in_root(names[3]), &f, false);
    assert_error(root, GR_BAD_DATA, names[3], "6 labels for the 5 images");
    put_set("", false, false);
    make_images(&f, TEST, 0);
    f.bytes[11] = WIDTH;
    f.bytes[15] = HEIGHT;
    put(in_root(names[2]), &f, false);
    assert_error(root, GR_BAD_DATA, names[2], "of 2 x 3 pixels");
}

static void labels(void **state)
{
    (void)state;
    test_file f;
    put_set("", false, false);
    make_labels(&f, TEST, 10);
    f.bytes[f.size - 1] = 61;
    put(in_root(names[3]), &f, false);
    gr_context *ctx = gr_open(NULL);
    gr_split split = gr_idx(ctx, root); /* classes are counted over both parts */
    assert_int_equal(gr_dataset_classes(split.train), 62);
    assert_string_equal(gr_dataset_class_name(split.train, 61), "61");
    gr_close(ctx);
    f.bytes[f.size - 2] = 100;
    put(in_root(names[3]), &f, false);
    assert_error(root, GR_BAD_DATA, names[3], "label number 3 is 100");
}

static void unreadable(void **state)
{
    (void)state;
    if (geteuid() == 0)
        skip(); /* nothing is unreadable to root */
    put_set("", false, false);
    assert_int_equal(chmod(in_root(names[1]), 0), 0);
    assert_error(root, GR_IO_ERROR, names[1], "Permission denied");
}

int main(void)
{
#define IDX_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        IDX_TEST(every_spelling), IDX_TEST(a_batch_has_one_channel),
        IDX_TEST(missing_files),  IDX_TEST(wrong_lengths),
        IDX_TEST(damaged_gzip),   IDX_TEST(wrong_headers),
        IDX_TEST(labels),         IDX_TEST(files_that_do_not_belong_together),
        IDX_TEST(unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

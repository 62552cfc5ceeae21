/* test_safetensors.c - one broken file per rule of the format, and a round trip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/safetensors.h"
#include "gradus.h"

static char folder[] = "/tmp/gradus-safetensors-XXXXXX";
static char path[256];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file.safetensors", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if a test left a temporary file behind */
}

/* Writes a file: 8 bytes of length, the header, data bytes of zeros. length < 0: the header's own. */
static void write_file(const char *header, long long length, size_t data)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    unsigned long long n = length < 0 ? strlen(header) : (unsigned long long)length;
    for (int i = 0; i < 8; i++)
        fputc((int)(n >> (8 * i) & 255), f);
    fputs(header, f);
    for (size_t i = 0; i < data; i++)
        fputc(0, f);
    fclose(f);
}

/* The file must be refused as bad data, and the message must name the file and the rule. */
static void refused(const char *rule)
{
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    assert_false(gr__safetensors_read(ctx, path, &file));
    assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
    assert_non_null(strstr(gr_error_text(ctx), path));
    if (!strstr(gr_error_text(ctx), rule))
        fail_msg("expected \"%s\" in: %s", rule, gr_error_text(ctx));
    assert_null(file.bytes);
    gr_close(ctx);
}

static void broken_rules(void **state)
{
    (void)state;
#define ENTRY(dtype, shape, offsets) \
    "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define TWO(first, second)                                                \
    "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":" first "}," \
    "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":" second "}}"
    static const struct {
        const char *header;
        long long length;
        size_t data;
        const char *rule;
    } cases[] = {
        {"", 4, 0, "shorter than its own header"},
        {"{}", 1ll << 40, 0, "shorter than its own header"},
        {"", 0, 0, "does not begin with '{'"},
        {" {}", -1, 0, "does not begin with '{'"},
        {"[1]", -1, 0, "does not begin with '{'"},
        {"{\"a\":", -1, 0, "no JSON object"},
        {"{\"a\":{},\"a\":{}}", -1, 0, "key twice"},
        {"{} x", -1, 0, "no JSON object"},
        {"{\"a\":3}", -1, 0, "dtype"},
        {ENTRY("F31", "[1]", "[0,4]"), -1, 4, "dtype"},
        {ENTRY("F32", "3", "[0,4]"), -1, 4, "shape is not a list"},
        {ENTRY("F32", "[1,1,1,1,1]", "[0,4]"), -1, 4, "at most 4 sizes"},
        {ENTRY("F32", "[-1]", "[0,4]"), -1, 4, "negative"},
        {ENTRY("F32", "[1.5]", "[0,4]"), -1, 4, "no whole number"},
        {ENTRY("F32", "[4611686018427387904,4]", "[0,4]"), -1, 4, "too large"},
        {ENTRY("F32", "[1]", "[0]"), -1, 4, "pair of whole numbers"},
        {ENTRY("F32", "[1]", "[0,4.0]"), -1, 4, "pair of whole numbers"},
        {ENTRY("F32", "[1]", "[0,8]"), -1, 4, "outside the file"},
        {ENTRY("F32", "[1]", "[4,0]"), -1, 4, "outside the file"},
        {ENTRY("F32", "[1]", "[-4,0]"), -1, 4, "outside the file"},
        {ENTRY("F32", "[2]", "[0,4]"), -1, 4, "do not fit the shape"},
        {ENTRY("F32", "[1]", "[0,4]"), -1, 5, "behind the last tensor"},
        {ENTRY("F32", "[1]", "[1,5]"), -1, 5, "overlap or leave a hole"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],"
         "\"data_offsets\":[1,3]}}",
         -1, 3, "overlap or leave a hole"},
        {"{}", -1, 1, "behind the last tensor"},
        /* the length */
        {"{}", 1ll << 62, 0, "shorter than its own header"},
        {"{}", INT64_MAX, 0, "shorter than its own header"},
        {"{}", 3, 0, "shorter than its own header"},
        {"{}", 1, 0, "no JSON object"},
        /* the text */
        {"\xef\xbb\xbf{}", -1, 0, "does not begin with '{'"},
        {"\"a\"", -1, 0, "does not begin with '{'"},
        {"{\"a\":{},}", -1, 0, "no JSON object"},
        {"{'a':{}}", -1, 0, "no JSON object"},
        {"{/**/}", -1, 0, "no JSON object"},
        {"{}{}", -1, 0, "no JSON object"},
        {"{\"a\":NaN}", -1, 0, "no JSON object"},
        {"{\"\xff\":{}}", -1, 0, "no JSON object"},
        {"{\"a\\u0000b\":{}}", -1, 0, "no JSON object"},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", -1, 1, "key twice"},
        /* an entry */
        {"{\"a\":[]}", -1, 0, "dtype"},
        {"{\"a\":null}", -1, 0, "dtype"},
        {"{\"a\":\"F32\"}", -1, 0, "dtype"},
        {"{\"a\":{}}", -1, 0, "dtype"},
        {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4, "dtype"},
        {"{\"a\":{\"dtype\":32,\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4, "dtype"},
        {"{\"a\":{\"dtype\":null,\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4, "dtype"},
        {ENTRY("f32", "[1]", "[0,4]"), -1, 4, "dtype"},
        {ENTRY("F32 ", "[1]", "[0,4]"), -1, 4, "dtype"},
        {ENTRY("", "[1]", "[0,4]"), -1, 4, "dtype"},
        {ENTRY("F8_E4M3", "[4]", "[0,4]"), -1, 4, "dtype"},
        {ENTRY("BOOL", "[4]", "[0,4]"), -1, 4, "dtype"},
        /* a shape */
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", -1, 4, "shape is not a list"},
        {ENTRY("F32", "{}", "[0,4]"), -1, 4, "shape is not a list"},
        {ENTRY("F32", "null", "[0,4]"), -1, 4, "shape is not a list"},
        {ENTRY("F32", "\"[1]\"", "[0,4]"), -1, 4, "shape is not a list"},
        {ENTRY("F32", "[\"1\"]", "[0,4]"), -1, 4, "no whole number"},
        {ENTRY("F32", "[[1]]", "[0,4]"), -1, 4, "no whole number"},
        {ENTRY("F32", "[null]", "[0,4]"), -1, 4, "no whole number"},
        {ENTRY("F32", "[true]", "[0,4]"), -1, 4, "no whole number"},
        {ENTRY("F32", "[1.0]", "[0,4]"), -1, 4, "no whole number"},
        {ENTRY("F32", "[1e0]", "[0,4]"), -1, 4, "no whole number"},
        {ENTRY("F32", "[-1,-1]", "[0,4]"), -1, 4, "negative"},
        {ENTRY("F32", "[9223372036854775808]", "[0,4]"), -1, 4, "no JSON object"},
        {ENTRY("F32", "[9223372036854775807]", "[0,4]"), -1, 4, "too large"},
        {ENTRY("F32", "[2147483648,2147483648,2]", "[0,0]"), -1, 0, "too large"},
        {ENTRY("U8", "[4294967296,4294967296]", "[0,0]"), -1, 0, "too large"},
        /* offsets */
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", -1, 4, "pair of whole numbers"},
        {ENTRY("F32", "[1]", "{}"), -1, 4, "pair of whole numbers"},
        {ENTRY("F32", "[1]", "4"), -1, 4, "pair of whole numbers"},
        {ENTRY("F32", "[1]", "[0,4,8]"), -1, 4, "pair of whole numbers"},
        {ENTRY("F32", "[1]", "[\"0\",\"4\"]"), -1, 4, "pair of whole numbers"},
        {ENTRY("F32", "[1]", "[false,4]"), -1, 4, "pair of whole numbers"},
        {ENTRY("F32", "[1]", "[0,-4]"), -1, 4, "outside the file"},
        {ENTRY("F32", "[1]", "[9223372036854775803,9223372036854775807]"), -1, 4, "outside the file"},
        {ENTRY("F32", "[1]", "[0,5]"), -1, 5, "do not fit the shape"},
        {ENTRY("F32", "[]", "[0,0]"), -1, 0, "do not fit the shape"},
        {ENTRY("F32", "[0]", "[0,4]"), -1, 4, "do not fit the shape"},
        {ENTRY("F64", "[1]", "[0,4]"), -1, 4, "do not fit the shape"},
        {ENTRY("F16", "[1]", "[0,4]"), -1, 4, "do not fit the shape"},
        {TWO("[0,2]", "[0,2]"), -1, 2, "overlap or leave a hole"},
        {TWO("[0,2]", "[3,5]"), -1, 5, "overlap or leave a hole"},
        {TWO("[2,4]", "[4,6]"), -1, 6, "overlap or leave a hole"},
        {TWO("[0,2]", "[2,4]"), -1, 3, "outside the file"},
        {TWO("[0,2]", "[2,4]"), -1, 5, "behind the last tensor"},
        /* the checksum */
        {"{\"__metadata__\":{\"checksum\":\"00000001\"}}", -1, 0, "checksum"},
        {"{\"__metadata__\":{\"checksum\":\"zzzzzzzz\"}}", -1, 0, "checksum"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file(cases[i].header, cases[i].length, cases[i].data);
        refused(cases[i].rule);
    }
}

/* Names of one byte too many, a header deeper than any stack, and more of it than the format allows. */
static void broken_in_size(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    char *text = malloc(DEEP + 64);
    assert_non_null(text);
    char name[129];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(text, DEEP, "{\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", name);
    write_file(text, -1, 1);
    refused("longer than 127 bytes");
    memset(text, '[', DEEP);
    memcpy(text, "{\"a\":", 5);
    text[DEEP] = '\0';
    write_file(text, -1, 0);
    refused("no JSON object");
    free(text);
    write_file("{}", 100000001, 0);
    assert_int_equal(truncate(path, 100000009), 0);
    refused("longer than 100,000,000 bytes");
}

static void sound_files(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    write_file("{\"__metadata__\":{\"by\":\"x\"},\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}    ",
               -1, 4);
    assert_true(gr__safetensors_read(ctx, path, &file));
    assert_int_equal(file.n, 1);
    assert_int_equal(file.tensors[0].ndim, 0);
    gr__safetensors_free(&file);
    write_file("{}", -1, 0);
    assert_true(gr__safetensors_read(ctx, path, &file));
    assert_int_equal(file.n, 0);
    gr__safetensors_free(&file);
    assert_int_equal(gr_close(ctx), 0);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    const char *header = ENTRY("F32", "[4]", "[0,16]");
    long whole = 8 + (long)strlen(header) + 16;
    for (long size = 0; size < whole; size++) {
        write_file(header, -1, 16);
        assert_int_equal(truncate(path, size), 0);
        refused("not a sound safetensors file");
    }
}

static void round_trip(void **state)
{
    (void)state;
    float a[6] = {1, 2, 3, 4, 5, 6};
    uint8_t b[3] = {7, 8, 9};
    gr_saved_tensor out[2] = {{.name = "w", .type = GR_F32, .ndim = 2, .shape = {2, 3}, .data = a},
                              {.name = "n", .type = GR_U8, .ndim = 1, .shape = {3}, .data = b}};
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    assert_true(gr__safetensors_write(ctx, path, 2, out));
    assert_true(gr__safetensors_read(ctx, path, &file));
    assert_int_equal(file.n, 2);
    assert_string_equal(file.tensors[0].name, "w");
    assert_int_equal(file.tensors[0].shape[1], 3);
    assert_memory_equal(file.tensors[0].data, a, sizeof a);
    assert_memory_equal(file.tensors[1].data, b, sizeof b);
    gr__safetensors_free(&file);
    assert_int_equal(gr_close(ctx), 0);
}

static void failed_write_keeps_the_old_file(void **state)
{
    (void)state;
    uint8_t one = 1;
    gr_saved_tensor out = {.name = "w", .type = GR_U8, .ndim = 1, .shape = {1}, .data = &one};
    gr_context *ctx = gr_open(NULL);
    char inside[300];
    snprintf(inside, sizeof inside, "%s/no/such/folder.safetensors", folder);
    assert_false(gr__safetensors_write(ctx, inside, 1, &out));
    assert_int_equal(gr_error_code(ctx), GR_IO_ERROR);
    assert_non_null(strstr(gr_error_text(ctx), inside));
    gr_clear_error(ctx);
    assert_true(gr__safetensors_write(ctx, path, 1, &out));
    assert_false(gr__safetensors_write(ctx, folder, 1, &out)); /* a folder cannot be replaced by a file */
    assert_int_equal(gr_error_code(ctx), GR_IO_ERROR);
    gr_clear_error(ctx);
    gr_safetensors file;
    assert_true(gr__safetensors_read(ctx, path, &file));
    gr__safetensors_free(&file);
    assert_int_equal(gr_close(ctx), 0);
}

static void missing_file(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    assert_false(gr__safetensors_read(ctx, "/no/such/file", &file));
    assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
    assert_non_null(strstr(gr_error_text(ctx), "/no/such/file"));
    gr_close(ctx);
}

/* The file is refused, or is one that carries no checksum any more. */
static void not_taken_as_checked(void)
{
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    if (gr__safetensors_read(ctx, path, &file)) {
        assert_false(file.checked);
        gr__safetensors_free(&file);
    } else {
        assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
    }
    gr_close(ctx);
}

/* A checksum sees every byte of the file that is another, and the metadata come back. */
static void every_flipped_byte_is_seen(void **state)
{
    (void)state;
    float a[3] = {1, 2, 3};
    const gr_saved_tensor out = {.name = "w", .type = GR_F32, .ndim = 1, .shape = {3}, .data = a};
    const gr_saved_text texts[] = {{"update", "7"}, {"of", "a \"run\""}};
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    assert_true(gr__safetensors_write_checked(ctx, path, 1, &out, 2, texts));
    assert_true(gr__safetensors_read(ctx, path, &file));
    assert_true(file.checked);
    assert_string_equal(gr__safetensors_text(&file, "of"), "a \"run\"");
    assert_null(gr__safetensors_text(&file, "to"));
    assert_memory_equal(gr__safetensors_find(&file, "w")->data, a, sizeof a);
    const size_t size = file.size;
    gr__safetensors_free(&file);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    for (size_t i = 0; i < size; i++) {
        fseek(f, (long)i, SEEK_SET);
        const int byte = fgetc(f);
        fseek(f, (long)i, SEEK_SET);
        fputc(byte ^ 1, f);
        fflush(f);
        not_taken_as_checked();
        fseek(f, (long)i, SEEK_SET);
        fputc(byte, f);
        fflush(f);
    }
    fclose(f);
    assert_true(gr__safetensors_read(ctx, path, &file));
    gr__safetensors_free(&file);
    assert_int_equal(gr_close(ctx), 0);
}

/* A pipe that nobody writes to, and a file whose first bytes say that it is none. */
static void nothing_is_waited_for(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_safetensors file;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(gr__safetensors_read(ctx, path, &file));
    assert_int_equal(gr_error_code(ctx), GR_IO_ERROR);
    assert_non_null(strstr(gr_error_text(ctx), "not an ordinary file"));
    gr_close(ctx);
    unlink(path);
    write_file("", 0, 0);
    assert_int_equal(truncate(path, 1ll << 42), 0); /* zeros, more than any machine's memory holds */
    refused("does not begin with '{'");
    unlink(path);
}

/* What is planted under a temporary's name is neither written through nor lost; a private file stays private. */
static void names_of_others_are_left_alone(void **state)
{
    (void)state;
    uint8_t one = 1;
    const gr_saved_tensor out = {.name = "w", .type = GR_U8, .ndim = 1, .shape = {1}, .data = &one};
    char victim[300], planted[400];
    struct stat s;
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(planted, sizeof planted, "%s.tmp.%ld-0", path, (long)getpid());
    FILE *f = fopen(victim, "w");
    fputs("dear", f);
    fclose(f);
    unlink(path);
    assert_int_equal(symlink(victim, planted), 0);
    gr_context *ctx = gr_open(NULL);
    assert_true(gr__safetensors_write(ctx, path, 1, &out));
    assert_int_equal(stat(victim, &s), 0);
    assert_int_equal(s.st_size, 4);
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(gr__safetensors_write(ctx, path, 1, &out));
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    unlink(planted);
    unlink(victim);
    assert_int_equal(gr_close(ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_rules),
        cmocka_unit_test(broken_in_size),
        cmocka_unit_test(sound_files),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(failed_write_keeps_the_old_file),
        cmocka_unit_test(missing_file),
        cmocka_unit_test(every_flipped_byte_is_seen),
        cmocka_unit_test(nothing_is_waited_for),
        cmocka_unit_test(names_of_others_are_left_alone),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

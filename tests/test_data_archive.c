/*
 * test_data_archive.c - image folders inside zip and tar archives: the same pictures as from the folder, and every rule
 * that an archive can break, with its error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/philox.h"
#include "data/data.h"
#include "test_zip_files.h"

static char root[TEST_PATH], path[2 * TEST_PATH];
static gr_context *ctx;
static zip_file zip;
static const gr_image_options options = {.height = 4, .width = 4};

static int set_up(void **state)
{
    (void)state;
    make_folder(root);
    snprintf(path, sizeof path, "%s/set.archive", root);
    ctx = gr_open(&(gr_options){.threads = 2});
    memset(&zip, 0, sizeof zip);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gr_close(ctx);
    remove_folder(root);
    return 0;
}

/* Refused with just this text behind the archive's path; then the context is usable. */
static void assert_refused(const char *why)
{
    char want[4 * TEST_PATH];
    snprintf(want, sizeof want, "archive %s is refused: %s", path, why);
    assert_null(gr_image_folder(ctx, path, &options));
    assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
    if (!strstr(gr_error_text(ctx), want))
        fail_msg("expected \"%s\", not \"%s\"", want, gr_error_text(ctx));
    gr_clear_error(ctx);
}

static void write_zip(void)
{
    put_bytes(path, zip.f.bytes, zip.f.size);
}

/* --- whole archives ---------------------------------------------------------------------------------------------- */

/* Names and contents of a set, out of order and with what is passed over among them. */
static const struct {
    const char *name;
    const unsigned char *bytes;
    size_t size;
} content[] = {
    {"PetImages/Dog/10.jpg", tiny_progressive_jpeg, sizeof tiny_progressive_jpeg},
    {"readme[1].txt", (const unsigned char *)"read me", 7},
    {"PetImages/Cat/2.jpg", tiny_jpeg, sizeof tiny_jpeg},
    {"PetImages/Cat/10.jpg", tiny_cmyk_jpeg, sizeof tiny_cmyk_jpeg},
    {"PetImages/Cat/Thumbs.db", (const unsigned char *)"thumbs", 6},
    {"PetImages/Cat/.hidden.jpg", (const unsigned char *)"", 0},
    {"__MACOSX/PetImages/Cat/._2.jpg", (const unsigned char *)"shadow", 6},
    {"PetImages/Dog/9.jpg", tiny_grey_jpeg, sizeof tiny_grey_jpeg},
};

enum { CONTENTS = sizeof content / sizeof content[0] };

static void put_folder(void)
{
    char folder[2 * TEST_PATH];
    snprintf(folder, sizeof folder, "%s/PetImages", root);
    mkdir(folder, 0777);
    for (int i = 0; i < CONTENTS; i++)
        if (strncmp(content[i].name, "PetImages/", 10) == 0)
            put_file(folder, content[i].name + 10, content[i].bytes, content[i].size);
}

static void assert_same_as_folder(void)
{
    char folder[2 * TEST_PATH], want[17], got[17];
    snprintf(folder, sizeof folder, "%s/PetImages", root);
    gr_dataset *from_folder = gr_image_folder(ctx, folder, &options), *set = gr_image_folder(ctx, path, &options);
    assert_string_equal(gr_error_text(ctx), "");
    assert_int_equal(gr_dataset_size(set), 4);
    assert_string_equal(gr_dataset_class_name(set, 1), "Dog");
    gr_dataset_hash(from_folder, want);
    gr_dataset_hash(set, got);
    assert_string_equal(got, want);
    assert_string_equal(gr_dataset_manifest(set), gr_dataset_manifest(from_folder));
    assert_int_equal(strlen(gr_dataset_manifest(set)), 64);
}

static void zip_like_folder(void **state)
{
    (void)state;
    put_folder();
    zip_add(&zip, "PetImages/", "", 0, ZIP_STORE);
    for (int i = 0; i < CONTENTS; i++)
        zip_add(&zip, content[i].name, content[i].bytes, content[i].size,
                i % 3 == 0   ? ZIP_STORE
                : i % 3 == 1 ? ZIP_64
                             : 0);
    zip_file without_end = zip;
    zip_end(&zip, 0, 0, 0, 0);
    write_zip();
    assert_same_as_folder();
    zip = without_end;
    zip_end64(&zip, 0);
    write_zip();
    assert_same_as_folder();
}

static void tar_like_folder(void **state)
{
    (void)state;
    test_file f = {.size = 0};
    put_folder();
    add_member(&f, NULL, "./", '5', "", 0);
    for (int i = 0; i < CONTENTS; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", i % 2 ? "./" : "", content[i].name);
        add_member(&f, "", "pax", 'x', "30 mtime=1234567890.123456789\n", 30);
        add_member(&f, i % 3 ? NULL : "", name, '0', content[i].bytes, content[i].size);
    }
    end_tar(&f);
    put_bytes(path, f.bytes, f.size);
    assert_same_as_folder();
    put_gzip(path, f.bytes, f.size);
    assert_same_as_folder();
}

/* --- rules for every archive ------------------------------------------------------------------------------------- */

static void refuse_name(const char *name, const char *why)
{
    memset(&zip, 0, sizeof zip);
    zip_add(&zip, name, tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_end(&zip, 0, 0, 0, 0);
    write_zip();
    assert_refused(why);
    if (strlen(name) > 100)
        return;
    test_file f = {.size = 0};
    add_member(&f, NULL, name, '0', tiny_jpeg, sizeof tiny_jpeg);
    end_tar(&f);
    put_bytes(path, f.bytes, f.size);
    assert_refused(why);
    put_gzip(path, f.bytes, f.size);
    assert_refused(why);
}

static void names(void **state)
{
    (void)state;
    static char longest[1026];
    memset(longest, 'x', sizeof longest - 1);
    refuse_name("../Cat/1.jpg", "../Cat/1.jpg would lead out of its folder");
    refuse_name("Cat/../../1.jpg", "Cat/../../1.jpg would lead out of its folder");
    refuse_name("Cat/..", "Cat/.. would lead out of its folder");
    refuse_name("/etc/1.jpg", "it holds an absolute name (/etc/1.jpg)");
    refuse_name("C:/1.jpg", "it holds an absolute name (C:/1.jpg)");
    refuse_name("Cat\\1.jpg",
                "it holds a backslash in a name (Cat\\1.jpg); unpack it and give the folder that is meant");
    refuse_name("Cat/\033[2J.jpg", "it holds a name with a control character in it (its file number 1)");
    refuse_name("", "it holds a file without a name (its file number 1)");
    refuse_name(longest, "it holds a name of more than 1023 bytes (its file number 1)");
    refuse_name("1.jpg", "it holds no images (.jpg .jpeg .png) in folders; it should hold one folder per class");
    refuse_name("Cat/1.jpg", "it has one class only (Cat); at least two class folders are needed");
}

static void twice_and_ambiguous(void **state)
{
    (void)state;
    zip_add(&zip, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_add(&zip, "./Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_end(&zip, 0, 0, 0, 0);
    write_zip();
    assert_refused("it holds Cat/1.jpg twice");
    memset(&zip, 0, sizeof zip);
    zip_add(&zip, "train/Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_add(&zip, "test/Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_end(&zip, 0, 0, 0, 0);
    write_zip();
    assert_refused(
        "its images do not lie in class folders of one folder: train/Cat/1.jpg and test/Cat/1.jpg; unpack it");
}

static void no_archives(void **state)
{
    (void)state;
    put_bytes(path, "", 0);
    assert_refused("it is empty");
    put_bytes(path, "plain text", 10);
    assert_refused("it is no .zip, .tar or .tar.gz, by its first bytes");
    put_bytes(path, "\x1f\x8b", 2);
    assert_refused("it is cut short");
}

/* --- zip --------------------------------------------------------------------------------------------------------- */

static void refuse_lie(int lie, const char *why)
{
    memset(&zip, 0, sizeof zip);
    zip_add(&zip, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, lie);
    zip_add(&zip, "Dog/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_end(&zip, 0, 0, 0, 0);
    write_zip();
    assert_refused(why);
}

static void zip_members(void **state)
{
    (void)state;
    refuse_lie(ZIP_LINK, "Cat/1.jpg is a link; pack what it leads to, with zip without -y");
    refuse_lie(ZIP_DEVICE, "Cat/1.jpg is neither a file nor a folder");
    refuse_lie(ZIP_ENCRYPTED, "Cat/1.jpg is encrypted");
    refuse_lie(ZIP_METHOD, "Cat/1.jpg is packed by method 12; stored and deflated files are read");
    refuse_lie(ZIP_TWO_SIZES, "Cat/1.jpg is stored and has two sizes");
    refuse_lie(ZIP_OTHER_NAME, "Cat/1.jpg has another name in front of its data");
    refuse_lie(ZIP_OTHER_METHOD, "Cat/1.jpg is packed in two ways at once");
    refuse_lie(ZIP_FAR, "Cat/1.jpg is not where its directory says");
    refuse_lie(ZIP_NO_HEADER, "Cat/1.jpg is not where its directory says");
    refuse_lie(ZIP_LONG, "Cat/1.jpg lies partly outside the files' part of it");
    refuse_lie(ZIP_EXTRA, "the extra field of Cat/1.jpg is damaged");
    refuse_lie(ZIP_64_SHORT, "the extra field of Cat/1.jpg is damaged");
    refuse_lie(ZIP_SIZE, "Cat/1.jpg has 2000000000 bytes; at most 1073741824 are read");
}

static void refuse_end(int files, int bytes, int offset, int volume, const char *why)
{
    memset(&zip, 0, sizeof zip);
    zip_add(&zip, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_end(&zip, files, bytes, offset, volume);
    write_zip();
    assert_refused(why);
}

static void zip_ends(void **state)
{
    (void)state;
    refuse_end(0, 0, 0, 1, "it is one of several volumes");
    refuse_end(0, 1, 0, 0, "its directory lies outside the file; it is damaged or cut short");
    refuse_end(0, 0, 1, 0, "its directory lies outside the file; it is damaged or cut short");
    refuse_end(0, 0, -1, 0, "its directory is damaged at file 1");
    refuse_end(0, -1, 0, 0, "its directory is damaged at file 1");
    refuse_end(9, 0, 0, 0, "its directory is too small for the files it counts");
    refuse_end(-1, 0, 0, 0, "its directory holds more than the files it counts");
    refuse_end(0xffff - 1, 0, 0, 0, "its zip64 end record is missing");
    zip.f.size -= 1;
    write_zip();
    assert_refused("it has no end record; it is cut short or not a zip archive");
    memset(&zip, 0, sizeof zip);
    zip_add(&zip, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_end64(&zip, 1);
    write_zip();
    assert_refused("its zip64 end record is not where it should be");
}

/* Two million empty places in a directory of holes, and one more: refused for their number, before any is looked at. */
static void zip_too_many(void **state)
{
    (void)state;
    enum { FILES = (1 << 21) + 1 };
    zip_add(&zip, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    write_zip();
    int64_t directory = (int64_t)zip.f.size, bytes = (int64_t)FILES * 46;
    zip.f.size = zip.directory.size = 0;
    zip_end64(&zip, 0);
    test_file *end = &zip.f;
    for (int i = 0; i < 8;
         i++) { /* in zip64's end record: files, bytes and place of the directory; in its locator: its place */
        end->bytes[24 + i] = end->bytes[32 + i] = (unsigned char)((uint64_t)FILES >> 8 * i);
        end->bytes[40 + i] = (unsigned char)((uint64_t)bytes >> 8 * i);
        end->bytes[48 + i] = (unsigned char)((uint64_t)directory >> 8 * i);
        end->bytes[56 + 8 + i] = (unsigned char)((uint64_t)(directory + bytes) >> 8 * i);
    }
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)(directory + bytes), SEEK_SET), 0);
    assert_int_equal(fwrite(end->bytes, 1, end->size, f), end->size);
    assert_int_equal(fclose(f), 0);
    assert_refused("it holds more than 2097152 files");
}

/* A directory that counts one local header again and again: each within its ratio, together without end. */
static void zip_overlaps(void **state)
{
    (void)state;
    zip_add(&zip, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, ZIP_STORE);
    zip_entry(&zip, "Cat/1.jpg", 0, 0, 0, sizeof tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_end(&zip, 0, 0, 0, 0);
    write_zip();
    assert_refused("two of its files lie over each other at byte 0");
}

static void bombs(void **state)
{
    (void)state;
    static unsigned char zeros[1 << 20];
    char why[256];
    zip_add(&zip, "Cat/1.jpg", zeros, sizeof zeros, 0);
    snprintf(why, sizeof why, "Cat/1.jpg would unpack from %zu bytes to %zu, more than 100 times as many",
             zip.f.size - 30 - strlen("Cat/1.jpg"), sizeof zeros);
    zip_end(&zip, 0, 0, 0, 0);
    write_zip();
    assert_refused(why);

    unsigned char header[512];
    static unsigned char archive[sizeof zeros + 2048];
    tar_header(header, NULL, "Cat/1.jpg", '0', sizeof zeros);
    memcpy(archive, header, sizeof header);
    put_gzip(path, archive, sizeof archive);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    snprintf(why, sizeof why, "it would unpack from %lld bytes to %zu or more, more than 100 times as many",
             (long long)status.st_size, 512 + sizeof zeros);
    assert_refused(why);
}

/* What is wrong with one file's bytes alone leaves that file out. */
static void zip_contents(void **state)
{
    (void)state;
    static const struct {
        int lie;
        const char *why;
    } lies[] = {{ZIP_CRC, "its check sum in the archive is wrong"},
                {ZIP_SHORT, "its packed bytes in the archive are damaged"}};
    for (int i = 0; i < 2; i++) {
        memset(&zip, 0, sizeof zip);
        zip_add(&zip, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, lies[i].lie);
        zip_add(&zip, "Cat/2.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
        zip_add(&zip, "Dog/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
        zip_end(&zip, 0, 0, 0, 0);
        write_zip();
        assert_null(gr_image_folder(ctx, path, &options));
        assert_non_null(strstr(gr_error_text(ctx), lies[i].why));
        assert_non_null(strstr(gr_error_text(ctx), "Cat/1.jpg"));
        gr_clear_error(ctx);
        gr_dataset *set = gr_image_folder(ctx, path, &(gr_image_options){.height = 4, .width = 4, .allow_bad = 1});
        assert_int_equal(gr_dataset_size(set), 2);
    }
    memset(&zip, 0, sizeof zip);
    zip_add(&zip, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    zip.directory.bytes[24] ^= 1; /* one byte fewer than there are */
    zip_add(&zip, "Dog/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_end(&zip, 0, 0, 0, 0);
    write_zip();
    assert_null(gr_image_folder(ctx, path, &options));
    assert_non_null(strstr(gr_error_text(ctx), "Cat/1.jpg: its packed bytes in the archive are damaged"));
    gr_clear_error(ctx);
}

/* --- tar --------------------------------------------------------------------------------------------------------- */

static void refuse_member(const char *name, char type, const char *bytes, const char *why)
{
    test_file f = {.size = 0};
    add_member(&f, NULL, name, type, bytes, strlen(bytes));
    end_tar(&f);
    put_bytes(path, f.bytes, f.size);
    assert_refused(why);
}

static void tar_members(void **state)
{
    (void)state;
    refuse_member("Cat/1.jpg", '2', "", "Cat/1.jpg is a link; pack what it leads to, with tar --dereference");
    refuse_member("Cat/1.jpg", '1', "", "Cat/1.jpg is a hard link; pack it with tar --hard-dereference");
    refuse_member("Cat/\033[2J.jpg", '2', "", "it holds a name with a control character in it (its file number 1)");
    refuse_member("Cat/1.jpg", '3', "", "Cat/1.jpg is neither a file nor a folder");
    refuse_member("Cat/1.jpg", 'S', "", "Cat/1.jpg is neither a file nor a folder");
    refuse_member("@LongLink", 'L', "Cat/1.jpg",
                  "a name in it has more than 100 bytes; pack it with tar --format=ustar");
    refuse_member("pax", 'x', "22 path=../Cat/10.jpg\n",
                  "a pax header in it gives a file another name, size or kind; pack it with tar --format=ustar");
    refuse_member("pax", 'g', "13 size=1000\n", "a pax header in it gives a file another name, size or kind;");
    refuse_member("pax", 'x', "99 mtime=1\n", "a pax header in it is damaged");
    refuse_member("pax", 'x', "1 m=1\n", "a pax header in it is damaged");
    refuse_member("pax", 'x', "no length\n", "a pax header in it is damaged");
}

/* Cut at every block, and with each byte of the header changed in turn: an error, never a crash. */
static void tar_damage(void **state)
{
    (void)state;
    test_file f = {.size = 0};
    add_member(&f, NULL, "Cat/1.jpg", '0', tiny_jpeg, sizeof tiny_jpeg);
    add_member(&f, NULL, "Dog/1.jpg", '0', tiny_jpeg, sizeof tiny_jpeg);
    end_tar(&f);
    for (size_t size = 512; size <= 4 * 512; size += 256) { /* one zero block is end enough */
        put_bytes(path, f.bytes, size);
        assert_refused("it is cut short");
    }
    for (int i = 0; i < 512; i++) {
        f.bytes[i] ^= 1;
        put_bytes(path, f.bytes, f.size);
        assert_null(gr_image_folder(ctx, path, &options));
        f.bytes[i] ^= 1;
        assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
        gr_clear_error(ctx);
    }
}

/* A zip with bytes changed at random: pictures, or an error that names it. */
static void mangled_zip(void **state)
{
    (void)state;
    int whole = 0, refused = 0;
    zip_add(&zip, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg, 0);
    zip_add(&zip, "Dog/1.jpg", tiny_jpeg, sizeof tiny_jpeg, ZIP_64);
    zip_end64(&zip, 0);
    for (uint32_t trial = 0; trial < 2000; trial++) {
        uint32_t bits = gr__random_bits(5, GR_RNG_PROCEDURAL, trial, 0);
        unsigned char *byte = &zip.f.bytes[bits % zip.f.size], was = *byte;
        *byte ^= (unsigned char)(1u << (bits >> 29));
        write_zip();
        *byte = was;
        gr_dataset *set = gr_image_folder(ctx, path, &(gr_image_options){.height = 4, .width = 4, .allow_bad = 1});
        whole += set != NULL;
        refused += set == NULL;
        if (!set)
            assert_non_null(strstr(gr_error_text(ctx), path));
        gr_clear_error(ctx);
    }
    assert_in_range(whole, 1, 1999);
    assert_in_range(refused, 1, 1999);
}

int main(void)
{
#define ARCHIVE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ARCHIVE_TEST(zip_like_folder), ARCHIVE_TEST(tar_like_folder),
        ARCHIVE_TEST(names),           ARCHIVE_TEST(twice_and_ambiguous),
        ARCHIVE_TEST(no_archives),     ARCHIVE_TEST(zip_members),
        ARCHIVE_TEST(zip_ends),        ARCHIVE_TEST(zip_overlaps),
        ARCHIVE_TEST(zip_too_many),    ARCHIVE_TEST(bombs),
        ARCHIVE_TEST(zip_contents),    ARCHIVE_TEST(tar_members),
        ARCHIVE_TEST(tar_damage),      ARCHIVE_TEST(mangled_zip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

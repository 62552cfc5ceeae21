/* test_energy.c - the tool's reading of the processor's energy counters, from a folder that stands in for Linux's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/gradus/train/energy.h"

static void write_number(const char *folder, const char *name, const char *value)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%s\n", value);
    fclose(f);
}

static void make_package(const char *root, const char *name, const char *count, const char *range, char path[128])
{
    snprintf(path, 128, "%s/%s", root, name);
    assert_int_equal(mkdir(path, 0700), 0);
    write_number(path, "energy_uj", count);
    write_number(path, "max_energy_range_uj", range);
}

static void drop_package(const char *path)
{
    char file[256];
    snprintf(file, sizeof file, "%s/energy_uj", path);
    unlink(file);
    snprintf(file, sizeof file, "%s/max_energy_range_uj", path);
    unlink(file);
    assert_int_equal(rmdir(path), 0);
}

static void packages_add_up_and_begin_again(void **state)
{
    (void)state;
    char root[] = "/tmp/gradus-energy-XXXXXX", one[128], two[128], part[128];
    assert_non_null(mkdtemp(root));
    make_package(root, "intel-rapl:0", "1000000", "10000000", one);
    make_package(root, "intel-rapl:1", "9000000", "10000000", two);
    make_package(root, "intel-rapl:0:0", "0", "10000000", part); /* cores of package 0: counted in it already */
    energy e = energy_open(root);
    assert_int_equal(e.n, 2);
    assert_true(energy_take(&e) == 0);
    write_number(one, "energy_uj", "3500000");
    write_number(two, "energy_uj", "500000"); /* 1.5 J further on, by way of its range */
    write_number(part, "energy_uj", "2000000");
    assert_true(energy_take(&e) == 4);
    assert_true(energy_take(&e) == 0);
    drop_package(one);
    assert_true(isnan(energy_take(&e)));
    drop_package(two);
    drop_package(part);
    assert_int_equal(rmdir(root), 0);
}

static void none_is_not_a_number(void **state)
{
    (void)state;
    energy e = energy_open("/nowhere");
    assert_int_equal(e.n, 0);
    assert_true(isnan(energy_take(&e)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packages_add_up_and_begin_again),
        cmocka_unit_test(none_is_not_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

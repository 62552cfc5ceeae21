/* test_journal.c - the lock of a sweep's folder, and what another sweep may do between two of its steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "examples/gradus/sweep/journal.h"

static char folder[] = "/tmp/gradus-journal-XXXXXX";
static char out[64], path[96];

static int set_up(void **state)
{
    (void)state;
    snprintf(out, sizeof out, "%s/o", mkdtemp(folder));
    snprintf(path, sizeof path, "%s/sweep.lock", out);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder); /* fails where a test left something behind */
}

static bool is_there(const char *name)
{
    struct stat s;
    return lstat(name, &s) == 0;
}

/* Called once, by the next call of flock, before it asks the system. */
static void (*meanwhile)(void);

int flock(int fd, int operation)
{
    void (*const now)(void) = meanwhile;
    meanwhile = NULL;
    if (now)
        now();
    return (int)syscall(SYS_flock, fd, operation);
}

static void another_goes(void)
{
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(out), 0);
}

/* Who locked the file without a name would keep nobody out. */
static void one_that_came_to_nothing_takes_its_folder_along(void **state)
{
    (void)state;
    journal j;
    meanwhile = another_goes;
    assert_int_equal(journal_lock(&j, out), 0);
    assert_true(is_there(path));
    const int other = open(path, O_RDWR);
    assert_true(other >= 0 && flock(other, LOCK_EX | LOCK_NB) != 0);
    close(other);
    journal_close(&j);
    assert_false(is_there(out)); /* nothing was written */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_came_to_nothing_takes_its_folder_along),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* test_temporary.c - files that take another's place: what a killed writer leaves goes, what others have stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gradus.h"

enum { WRITERS = 4, ROUNDS = 200, LENGTH = 5000 };

static char folder[] = "/tmp/gradus-temporary-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/w", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails where a test left a file behind */
}

/* --- what may happen in between ----------------------------------------------------------------------------------- */

/* Called once, by the next call of flock, before it asks the system. */
static void (*meanwhile)(int fd);

int flock(int fd, int operation)
{
    void (*const now)(int) = meanwhile;
    meanwhile = NULL;
    if (now)
        now(fd);
    return (int)syscall(SYS_flock, fd, operation);
}

static bool is_there(const char *name)
{
    struct stat s;
    return lstat(name, &s) == 0;
}

static void make(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void what_a_killed_process_left_is_taken_away(void **state)
{
    (void)state;
    gr_temporary t;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60); /* whatever becomes of the test */
        if (!gr_temporary_open(&t, path) || write(ready[1], "r", 1) != 1)
            _exit(1);
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    char left[128];
    snprintf(left, sizeof left, "w.tmp.%ld-0", (long)child);
    assert_true(is_there(left));
    assert_true(gr_temporary_open(&t, "w")); /* by another way to the same file */
    assert_true(is_there(left));             /* its writer lives */
    gr_temporary_drop(&t);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(gr_temporary_open(&t, path));
    assert_false(is_there(left));
    assert_true(is_there(t.name));
    close(t.fd);
    gr_temporary_drop(&t);
    close(ready[0]);
    close(ready[1]);
}

/* As root, who may write all, it is looked at with the rights of another user. */
static void what_nobody_may_write_goes_too(void **state)
{
    (void)state;
    enum { OTHER = 65534 };
    const bool root = geteuid() == 0;
    gr_temporary t;
    make("w.tmp.1-2");
    assert_int_equal(chmod("w.tmp.1-2", 0444), 0);
    if (root)
        assert_int_equal(chown(folder, OTHER, -1) | chown("w.tmp.1-2", OTHER, -1) | seteuid(OTHER), 0);
    const bool opened = gr_temporary_open(&t, "w");
    const bool gone = !is_there("w.tmp.1-2");
    if (root)
        assert_int_equal(seteuid(0) | chown(folder, 0, -1), 0);
    unlink("w.tmp.1-2");
    assert_true(opened);
    close(t.fd);
    gr_temporary_drop(&t);
    assert_true(gone);
}

static void what_others_write_stays(void **state)
{
    (void)state;
    gr_temporary one, two;
    assert_true(gr_temporary_open(&one, path));
    close(one.fd); /* the lock outlives it */
    assert_true(gr_temporary_open(&two, path));
    assert_true(is_there(one.name));
    assert_true(is_there(two.name));
    assert_string_not_equal(one.name, two.name);
    close(two.fd);
    assert_true(gr_temporary_keep(&two, path));
    assert_true(gr_temporary_keep(&one, path));
    assert_string_equal(one.name, "");
    gr_temporary_drop(&one); /* it has its place: nothing to take away */
    assert_true(is_there(path));
}

static void writer_has_ended_and_begun_anew(int fd)
{
    (void)fd;
    assert_int_equal(rename("w.tmp.1-2", "w"), 0);
    make("w.tmp.1-2");
}

static void another_one_has_taken_it_away(int fd)
{
    char name[64], file[256];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(name, file, sizeof file - 1);
    assert_true(n > 0);
    file[n] = '\0';
    assert_int_equal(unlink(file), 0);
}

static int held = -1;

static void another_one_is_about_to_take_it_away(int fd)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    held = open(name, O_RDWR);
    assert_true(held >= 0 && syscall(SYS_flock, held, LOCK_EX) == 0);
}

static void nothing_comes_between(void **state)
{
    (void)state;
    gr_temporary t;
    make("w.tmp.1-2");
    meanwhile = writer_has_ended_and_begun_anew;
    assert_true(gr_temporary_open(&t, path));
    assert_null(meanwhile);
    assert_true(is_there("w.tmp.1-2")); /* what lost its name was looked at, and this is another one */
    unlink("w.tmp.1-2");
    close(t.fd);
    gr_temporary_drop(&t);

    void (*const others[])(int) = {another_one_has_taken_it_away, another_one_is_about_to_take_it_away};
    for (int i = 0; i < 2; i++) {
        meanwhile = others[i];
        assert_true(gr_temporary_open(&t, path));
        assert_null(meanwhile);
        assert_true(is_there(t.name));
        assert_string_equal(t.name + strlen(t.name) - 2, "-1");
        close(t.fd);
        assert_true(gr_temporary_keep(&t, path));
    }
    close(held);
    assert_true(gr_temporary_open(&t, path)); /* and with it goes what that one held */
    close(t.fd);
    gr_temporary_drop(&t);
}

static void what_is_called_otherwise_stays(void **state)
{
    (void)state;
    static const char *const names[] = {"w.tmp.",     "w.tmp.1",    "w.tmp.1-", "w.tmp.-1",  "w.tmp.1-2x",
                                        "w.tmp.1x-2", "xw.tmp.1-2", "w.tm.1-2", "v.tmp.1-2", "w.tmp.1-2-3"};
    enum { N = sizeof names / sizeof *names };
    gr_temporary t;
    for (int i = 0; i < N; i++)
        make(names[i]);
    make("w.tmp.1-2");
    make("victim");
    assert_int_equal(symlink("victim", "w.tmp.1-3"), 0);
    assert_int_equal(mkfifo("w.tmp.1-4", 0600), 0);
    assert_int_equal(mkdir("w.tmp.1-5", 0700), 0);
    assert_true(gr_temporary_open(&t, path));
    close(t.fd);
    gr_temporary_drop(&t);
    assert_false(is_there("w.tmp.1-2"));
    for (int i = 0; i < N; i++) {
        assert_true(is_there(names[i]));
        unlink(names[i]);
    }
    assert_int_equal(unlink("w.tmp.1-3") | unlink("w.tmp.1-4") | rmdir("w.tmp.1-5") | unlink("victim"), 0);
}

static void where_it_cannot_be_made_or_kept(void **state)
{
    (void)state;
    gr_temporary t;
    char nowhere[128], folder_there[128];
    snprintf(nowhere, sizeof nowhere, "%s/no/w", folder);
    assert_false(gr_temporary_open(&t, nowhere));
    assert_int_equal(errno, ENOENT);
    gr_temporary_drop(&t);
    snprintf(folder_there, sizeof folder_there, "%s/d", folder);
    assert_true(gr_temporary_open(&t, folder_there));
    assert_int_equal(mkdir(folder_there, 0700), 0);
    char name[GR_TEMPORARY_NAME];
    memcpy(name, t.name, sizeof name);
    close(t.fd);
    assert_false(gr_temporary_keep(&t, folder_there));
    assert_int_equal(errno, EISDIR);
    assert_false(is_there(name));
    rmdir(folder_there);
}

/* Writes the file many times over; each time all of one letter. */
static int write_often(int letter)
{
    char text[LENGTH];
    memset(text, letter, sizeof text);
    for (int i = 0; i < ROUNDS; i++) {
        gr_temporary t;
        if (!gr_temporary_open(&t, path) || write(t.fd, text, sizeof text) != LENGTH || close(t.fd) != 0 ||
            !gr_temporary_keep(&t, path))
            return 1;
    }
    return 0;
}

static void many_write_the_same_file(void **state)
{
    (void)state;
    pid_t writers[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        if ((writers[i] = fork()) == 0)
            _exit(write_often('a' + i));
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
        assert_int_equal(status, 0); /* nobody took away what another one was writing */
    }
    char text[LENGTH + 1];
    const int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, text, sizeof text), LENGTH);
    close(fd);
    for (int i = 1; i < LENGTH; i++)
        assert_int_equal(text[i], text[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_killed_process_left_is_taken_away),
        cmocka_unit_test(what_nobody_may_write_goes_too),
        cmocka_unit_test(what_others_write_stays),
        cmocka_unit_test(what_is_called_otherwise_stays),
        cmocka_unit_test(where_it_cannot_be_made_or_kept),
        cmocka_unit_test(nothing_comes_between),
        cmocka_unit_test(many_write_the_same_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

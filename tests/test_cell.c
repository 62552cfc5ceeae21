/* test_cell.c - what a process tells that a sweep starts, and what of it there is no memory for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/gradus/sweep/cell.h"

static bool no_memory; /* for copies of texts */

char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = no_memory ? NULL : malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

static char heard[64];

static void on_told(void *user, const char *line)
{
    (void)user;
    snprintf(heard, sizeof heard, "%s", line);
}

/* Starts this program as a cell and waits for its end. */
static cell_end run(void)
{
    char name[] = "test_cell", word[] = "cell";
    cell_process process = {.told = on_told};
    assert_true(cell_start(&process, (char *[]){name, word, NULL}));
    while (cells_listen((cell_process *const[]){&process}, 1) < 0)
        continue;
    return cell_reap(&process);
}

static void what_it_tells_is_kept(void **state)
{
    (void)state;
    const cell_end end = run();
    assert_int_equal(end.code, 3);
    assert_int_equal(end.signal, 0);
    assert_false(end.lost);
    assert_string_equal(end.result, "{\"row\":2}"); /* the last line */
    assert_string_equal(end.trouble, "something\nhappened");
    assert_string_equal(heard, "happened");
    free(end.result);
}

static void what_there_is_no_memory_for_is_known_to_be_lost(void **state)
{
    (void)state;
    no_memory = true;
    const cell_end end = run();
    no_memory = false;
    assert_null(end.result);
    assert_true(end.lost); /* it is not that the cell had told nothing */
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "cell") == 0) {
        printf("{\"row\":1}\n{\"row\":2}\n");
        fprintf(stderr, "something\nhappened\n");
        return 3;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_tells_is_kept),
        cmocka_unit_test(what_there_is_no_memory_for_is_known_to_be_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

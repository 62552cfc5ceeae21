/*
 * main.c - gradus, the program: finds the command and runs it. Exit codes: 0 done; 1 some cells of a sweep failed; 2
 * usage; 3 bad data or file; 4 out of memory; 5 input or output failed; 6 numbers went bad; 7 device fault, wrong
 * result, or another rank has ended; 75 stopped by a signal, run again to go on.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "terminal/help.h"
#include "terminal/json_memory.h"
#include "terminal/lost_file.h"
#include "terminal/system.h"

static bool is_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* gradus help, or of the command in argv. */
static int help(int argc, char **argv)
{
    int words;
    if (argc == 0 || is_help(argv[0])) {
        commands_print_help(stdout);
        return 0;
    }
    const gradus_command *c = command_find(argc, argv, &words);
    if (c)
        help_print(c);
    return c ? 0 : GR_USAGE;
}

static int dispatch(int argc, char **argv)
{
    int words;
    if (argc < 2) {
        commands_print_help(stderr);
        return GR_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("gradus %s\n", gr_version());
        return 0;
    }
    if (is_help(argv[1]))
        return help(argc - 2, argv + 2);
    const gradus_command *c = command_find(argc - 1, argv + 1, &words);
    return c ? c->run(argc - words, argv + words) : GR_USAGE;
}

/* A full disk behind > results.json must not look like success. */
static int end_of_output(void)
{
    if (fflush(stdout) != 0)
        return complain_of_file("standard output", "could not be written", "");
    if (ferror(stdout)) /* earlier, and why is not known any more */
        return complain(GR_IO_ERROR, "", "standard output could not be written");
    return 0;
}

int main(int argc, char **argv)
{
    if (!hold_standard_streams())
        return GR_IO_ERROR;
    signal(SIGPIPE,
           SIG_IGN); /* a reader that is gone and a file that may not grow are errors of writing, told as such */
    signal(SIGXFSZ, SIG_IGN);
    lost_file_catch();
    json_memory_watch();
    int code = dispatch(argc, argv);
    if (json_memory_failed() && (code == 0 || code == GR_USAGE || code == GR_BAD_DATA)) /* a file half read looks bad */
        code = complain(GR_NO_MEMORY, "", "out of host memory: what was told before is not complete");
    return code ? code : end_of_output();
}

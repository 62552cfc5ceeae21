/*
 * main.c - gradus, the program: finds the command and runs it. Exit codes: 0 done; 1 some cells of a sweep failed; 2
 * usage; 3 bad data or file; 4 out of memory; 5 input or output failed; 6 numbers went bad; 7 device fault or wrong
 * result; 75 stopped by a signal, run again to go on.
 */
#include <stdio.h>
#include <string.h>

#include "terminal/tool.h"

static const struct {
    const char *name, *about;
    command_run run;
} commands[] = {
    {"train", "train one network of a published experiment", train_command},
    {"sweep", "train a whole grid: batch sizes x optimizers x seeds", sweep_command},
    {"summary", "layers, shapes, parameters, operations and memory of a recipe's network", summary_command},
    {"data", "look into data sets, check, pack and show them", data_command},
    {"bench", "every operation against the limits of this machine, across batch sizes", bench_command},
    {"cuda", "run a CUDA program without a GPU, check it, count what it asks of the memories", cuda_command},
    {"doctor", "what this machine offers and what is missing", doctor_command},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *f)
{
    fprintf(f, "Usage: gradus COMMAND [options]\n\n"
               "Training of published experiments from scratch, with the evidence.\n\nCommands\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(f, "  %-9s %s\n", commands[i].name, commands[i].about);
    fprintf(
        f,
        "  %-9s this text, or that of a command: gradus help train\n"
        "\n'gradus COMMAND --help' lists a command's options; 'gradus --version' tells the version.\n"
        "\nExit codes: 0 done, 1 some cells of a sweep failed, 2 usage, 3 bad data or file, 4 out of memory,\n"
        "5 input or output failed, 6 numbers went bad, 7 device fault or wrong result,\n75 stopped by a signal.\n\nExamples\n"
        "  gradus train cats-vs-dogs --procedural --updates 20\n"
        "  gradus sweep cats-vs-dogs --data ~/datasets --batch 16,32,64,128 --optimizer sgd,adam --seeds 5 --out "
        "runs\n",
        "help");
}

static int run_command(int argc, char **argv)
{
    const char *names[COMMANDS + 2] = {[COMMANDS] = "help"};
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[0], commands[i].name) == 0)
            return commands[i].run(argc, argv);
        names[i] = commands[i].name;
    }
    const char *near = nearest(argv[0], names);
    complain(GR_USAGE, "", "there is no command \"%s\"%s%s%s", argv[0], near ? "; did you mean " : "", near ? near : "",
             near ? "?" : "");
    fprintf(stderr, "See 'gradus help'.\n");
    return GR_USAGE;
}

static int dispatch(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word) {
        print_help(stderr);
        return GR_USAGE;
    }
    if (strcmp(word, "--version") == 0) {
        printf("gradus %s\n", gr_version());
        return 0;
    }
    bool help = strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
    if (help && argc > 2 && strcmp(argv[2], "help") != 0)
        return run_command(2, (char *[]){argv[2], "--help", NULL});
    if (help) {
        print_help(stdout);
        return 0;
    }
    return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) /* a full disk behind > results.json must not look like success */
        return code ? code : complain(GR_IO_ERROR, "", "standard output could not be written");
    return code;
}

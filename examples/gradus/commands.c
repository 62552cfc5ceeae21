/* commands.c - see commands.h. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "terminal/text.h"

const gradus_command *const commands[] = {&train_command,
                                          &sweep_command,
                                          &sweep_merge_command,
                                          &compare_command,
                                          &report_command,
                                          &reproduce_command,
                                          &landscape_command,
                                          &summary_command,
                                          &draw_command,
                                          &predict_command,
                                          &evaluate_command,
                                          &weights_command,
                                          &weights_convert_command,
                                          &data_command,
                                          &data_show_command,
                                          &find_batch_command,
                                          &bench_command,
                                          &bench_memory_command,
                                          &bench_scaling_command,
                                          &profile_command,
                                          &monitor_command,
                                          &cuda_command,
                                          &theatre_command,
                                          &puzzle_command,
                                          &doctor_command,
                                          &man_command,
                                          &completion_command,
                                          NULL};

/* Where help begins a part of its list. */
static const struct {
    const gradus_command *first;
    const char *heading;
} parts[] = {{&train_command, "Experiments"},
             {&summary_command, "Networks, their weights, and data"},
             {&find_batch_command, "Speed and memory"},
             {&cuda_command, "CUDA without a GPU"},
             {&doctor_command, "This machine and this program"}};

/* Words of a name that argv begins with; 0: it does not. */
static int matches(const char *name, int argc, char **argv)
{
    const char *blank = strchr(name, ' ');
    if (!blank)
        return strcmp(name, argv[0]) == 0;
    size_t first = (size_t)(blank - name);
    bool both = argc > 1 && strlen(argv[0]) == first && strncmp(name, argv[0], first) == 0;
    return both && strcmp(blank + 1, argv[1]) == 0 ? 2 : 0;
}

const gradus_command *command_find(int argc, char **argv, int *words)
{
    const gradus_command *found = NULL;
    const char *names[32] = {"help", "--version"};
    *words = 0;
    for (int i = 0; commands[i]; i++) {
        int n = matches(commands[i]->name, argc, argv);
        found = n > *words ? commands[i] : found;
        *words = n > *words ? n : *words;
        names[i + 2] = commands[i]->name;
    }
    if (found)
        return found;
    const char *near = nearest(argv[0], (name_list)NAMES(names));
    complain(GR_USAGE, "", "there is no command \"%s\"%s%s%s", argv[0], near ? "; did you mean " : "", near ? near : "",
             near ? "?" : "");
    fprintf(stderr, "See 'gradus help'.\n");
    return NULL;
}

static void print_purpose(FILE *f, const char *name, const char *purpose)
{
    enum { COLUMN = 19 };
    fprintf(f, "  %-*s", COLUMN - 2, name);
    print_wrapped(f, purpose, COLUMN, COLUMN);
}

void commands_print_help(FILE *f)
{
    fprintf(f, "Usage: gradus COMMAND [options]\n\n"
               "Training of published experiments from scratch, with the evidence.\n");
    for (int i = 0; commands[i]; i++) {
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            if (parts[p].first == commands[i])
                fprintf(f, "\n%s\n", parts[p].heading);
        print_purpose(f, commands[i]->name, commands[i]->purpose);
    }
    print_purpose(f, "help", "this text, or that of a command: gradus help data show");
    fprintf(f, "\n'gradus COMMAND --help' lists a command's options, 'gradus --version' tells\nthe version.\n"
               "\nExit codes: 0 done; 1 some cells of a sweep failed; 2 usage; 3 bad data or file;\n"
               "4 out of memory; 5 input or output failed; 6 numbers went bad; 7 device fault\n"
               "or wrong result; 75 stopped by a signal, run again to go on.\n\nExamples\n");
    print_command(f, "train cats-vs-dogs --procedural --updates 20", 2);
    print_command(f,
                  "sweep cats-vs-dogs --data ~/datasets --batch 16,32,64,128 --optimizer sgd,adam --seeds 5 "
                  "--out runs",
                  2);
}

/* commands.h - the commands of the program; each is described where it lives. */
#ifndef GRADUS_COMMANDS_H
#define GRADUS_COMMANDS_H

#include "terminal/options.h"

extern const gradus_command train_command, sweep_command, sweep_merge_command, find_batch_command, compare_command,
    report_command, reproduce_command, landscape_command, monitor_command, predict_command, evaluate_command,
    summary_command, draw_command, data_command, data_show_command, bench_command, bench_memory_command,
    bench_scaling_command, profile_command, cuda_command, theatre_command, puzzle_command, doctor_command, man_command,
    completion_command, weights_command, weights_convert_command;

extern const gradus_command *const commands[]; /* all of them, as help lists them; ends with NULL */

/*
 * The command that argv begins with, of one word or two ("data show"); *words: how many. NULL: there is none of that
 * name, complained of.
 */
const gradus_command *command_find(int argc, char **argv, int *words);

/* What --help says of the program. */
void commands_print_help(FILE *f);

#endif

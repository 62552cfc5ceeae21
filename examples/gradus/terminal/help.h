/* help.h - what --help says of a command, from its options. */
#ifndef GRADUS_HELP_H
#define GRADUS_HELP_H

#include "terminal/options.h"

void help_print(const gradus_command *c);

#endif

/*
 * manual.h - man pages and the shells' completion, made of the same tables as --help. --into is for the build, which
 * puts all of them where cmake --install takes them from.
 */
#ifndef GRADUS_MANUAL_H
#define GRADUS_MANUAL_H

#include <stdio.h>

#include "commands.h"

/* The page of a command, or with NULL that of the whole program, as man takes it. */
void man_print(FILE *f, const gradus_command *c);

/* What a shell reads to complete words. */
void complete_bash(FILE *f);
void complete_zsh(FILE *f);
void complete_fish(FILE *f);

/* True when the option's value is the name of a file or a folder. */
bool option_is_path(const option *o);

/* The part of a help text that fits a line: up to the first bracket, semicolon or colon. Returns its length. */
int short_help(const char *help);

#endif

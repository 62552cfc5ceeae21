/* text.h - numbers for people, and lines that fit a terminal. */
#ifndef GRADUS_TEXT_H
#define GRADUS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TERMINAL_WIDTH = 80 };

/* "1.50 GiB", "12.3 s", "4 min 10 s", "40,961,153" into text, which is returned. */
const char *bytes_text(double bytes, char text[32]);
const char *duration_text(double seconds, char text[32]);
const char *thousands_text(int64_t n, char text[32]);

/* Prints text and a line end, broken between words; the first line begins at column, the others at indent. */
void print_wrapped(FILE *f, const char *text, int column, int indent);

/* Prints a line with a number's name, its value and, in a column behind them, what it means. */
void print_defined(FILE *f, const char *name, const char *value, const char *meaning);

/*
 * Prints text that others have had a hand in, such as a file's name: what a terminal would act upon, line ends with it,
 * is written out as \x1b.
 */
void print_plain(FILE *f, const char *text);

/* Columns that such a text takes: Mac's marks upon letters none, letters of East Asia two. */
int text_columns(const char *text);

/*
 * Prints such a text in so many columns, at their left or right end: cut where it would fill them, and with a "?" for
 * each character that a terminal would act upon and each byte that is no UTF-8.
 */
void print_in_columns(FILE *f, const char *text, int columns, bool right);

/*
 * Prints a command with its words, such as "sweep R --out O", behind indent blanks and "gradus "; where it is too long
 * its lines end in a backslash, before an option or a word, as a shell takes them.
 */
void print_command(FILE *f, const char *words, int indent);

#endif

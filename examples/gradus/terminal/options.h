/*
 * options.h - command lines as tables: an option is a line with its name, type, default and help; the parser, --help,
 * the man pages, the shells' completion, the command line of a sweep's cell and the settings a sweep compares when it
 * is continued all read the same lines.
 */
#ifndef GRADUS_OPTIONS_H
#define GRADUS_OPTIONS_H

#include <jansson.h>

#include "terminal/complain.h"
#include "terminal/names.h"

/* A number that may be 0, and a place in a list of names. */
typedef struct {
    bool given;
    double value;
} amount;
typedef struct {
    bool given;
    int value;
} choice;

typedef enum {
    OPTION_FLAG,     /* bool */
    OPTION_TEXT,     /* const char *, anything but empty */
    OPTION_CHOICE,   /* choice, one of the names */
    OPTION_COUNT,    /* int64_t, a whole number from low to high; or a word: -1 - its place among the names */
    OPTION_POSITIVE, /* double, finite and above 0 */
    OPTION_AMOUNT,   /* amount, finite and at least 0: for settings where 0 is a choice of its own */
    OPTION_BYTES     /* int64_t, at least 1: 1500000, 512M, 1.5G (of 1024) */
} option_type;

/* A setting of any type; one that was not given is zero. */
typedef union {
    bool flag;
    const char *text;
    choice choice;
    int64_t count;
    double positive;
    amount amount;
} option_value;

typedef struct {
    const char *name;    /* without the dashes */
    const char *metavar; /* "N"; NULL for a flag */
    option_type type;
    size_t offset;     /* of the value in its struct */
    const char *help;  /* with the default in words */
    int64_t low, high; /* of a count */
    name_list names;   /* of a choice; of a count: words in place of a number, {NULL, 0}: none */
    const char *parts; /* of a choice: how to say what names with colons might mean, "cuda:1"; NULL: nothing */
} option;

/* Lines of a table; at: offset of the value. */
/* clang-format off */
#define FLAG_OPTION(name, at, help) {name, NULL, OPTION_FLAG, at, help, 0, 0, {NULL, 0}, NULL}
#define TEXT_OPTION(name, metavar, at, help) {name, metavar, OPTION_TEXT, at, help, 0, 0, {NULL, 0}, NULL}
#define CHOICE_OPTION(name, metavar, at, names, help) \
    {name, metavar, OPTION_CHOICE, at, help, 0, 0, NAMES(names), NULL}
#define COUNT_OPTION(name, metavar, at, low, high, help) \
    {name, metavar, OPTION_COUNT, at, help, low, high, {NULL, 0}, NULL}
#define COUNT_OR_OPTION(name, metavar, at, low, high, words, help) \
    {name, metavar, OPTION_COUNT, at, help, low, high, NAMES(words), NULL}
#define POSITIVE_OPTION(name, metavar, at, help) {name, metavar, OPTION_POSITIVE, at, help, 0, 0, {NULL, 0}, NULL}
#define AMOUNT_OPTION(name, metavar, at, help) {name, metavar, OPTION_AMOUNT, at, help, 0, 0, {NULL, 0}, NULL}
#define BYTES_OPTION(name, at, help) {name, "BYTES", OPTION_BYTES, at, help, 0, 0, {NULL, 0}, NULL}
/* clang-format on */

/* Options that stand together in --help. A list of groups ends with one whose title is NULL. */
typedef struct {
    const char *title;
    const option *options;       /* ends with one whose name is NULL */
    const option *(*made)(void); /* in place of options: makes them of another table, once */
    size_t base;                 /* of the struct that offset counts in, within the command's */
} option_group;

typedef struct {
    const char *name;                   /* "train", "data show" */
    const char *purpose;                /* a line for the list of commands */
    const char *usage;                  /* lines of usage, each without "gradus " */
    const char *about;                  /* what it does */
    const char *operand;                /* what stands without dashes: "RECIPE"; NULL: nothing may */
    int operands;                       /* how many of them there may be; 0: one */
    const char *(*operand_name)(int i); /* what such a one may be, by number; NULL behind the last. NULL: not known */
    const char *examples;               /* lines */
    const option_group *groups;
    int (*run)(int argc, char **argv); /* argv[0]: the last word of the name; returns the exit code */
} gradus_command;

typedef enum {
    OPTIONS_GOOD,
    OPTIONS_HELPED, /* --help was printed: end with 0 */
    OPTIONS_REFUSED /* end with 2 */
} options_end;

/*
 * Reads argv[1..] into the command's struct at values. operand[0..]: what stands without dashes, NULL behind the last
 * where there is room (for as many as there may be).
 */
options_end options_parse(const gradus_command *c, void *values, int argc, char **argv, const char **operand);

/* Reads text as a value of an option into the struct it lies in. False: it is none, complained of in c's name. */
bool option_set(const gradus_command *c, const option *o, void *values, const char *text);

/* Reads text as a value of the option of that name, unless it has one: what somebody else chose for it. */
void option_default(const option *options, void *values, const char *name, const char *text);

/* The options of a group. */
const option *options_of(const option_group *group);

/* The setting as a number: a flag 0 or 1, a choice its place. Not of text. */
amount option_number(const option *o, const void *values);

/* Takes a setting back: as if it had not been given. */
void option_forget(const option *o, void *values);

/* Appends "--name value" of every setting given in values to argv[*argc..]; texts are allocated. False: no memory. */
bool options_unparse(const option *options, const void *values, char **argv, int *argc, int max);

/* Puts every setting of values into object under the option's name: null where it was not given. */
void options_json(const option *options, const void *values, json_t *object);

#endif

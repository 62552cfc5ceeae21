/*
 * options.h - command lines as tables: an option is a line with its name, type, default and help; the parser, --help,
 * the command line of a sweep's cell and the settings a sweep compares when it is continued all read the same lines.
 */
#ifndef GRADUS_OPTIONS_H
#define GRADUS_OPTIONS_H

#include <jansson.h>

#include "terminal/tool.h"

typedef enum {
    OPTION_FLAG,     /* bool */
    OPTION_TEXT,     /* const char *, anything but empty */
    OPTION_CHOICE,   /* const char *, one of choices */
    OPTION_COUNT,    /* int64_t, a whole number from low to high */
    OPTION_POSITIVE, /* double, finite and above 0 */
    OPTION_AMOUNT,   /* amount, finite and at least 0: for settings where 0 is a choice of its own */
    OPTION_BYTES     /* int64_t, at least 1: 1500000, 512M, 1.5G (of 1024) */
} option_type;

typedef struct {
    bool given;
    double value;
} amount;

/* A setting that was not given stays zero. */
typedef struct {
    const char *name;    /* without the dashes */
    const char *metavar; /* "N"; NULL for a flag */
    option_type type;
    size_t offset;              /* of the value in the group's struct */
    const char *help;           /* with the default in words */
    int64_t low, high;          /* of a count */
    const char *const *choices; /* of a choice; ends with NULL */
} option;

/* Options that stand together in --help. A list of groups ends with one whose title is NULL. */
typedef struct {
    const char *title;
    const option *options; /* ends with one whose name is NULL */
    void *values;          /* the struct that offset points into */
} option_group;

typedef struct {
    const char *name;     /* "train" */
    const char *usage;    /* lines of usage, each without "gradus " */
    const char *about;    /* what it does */
    const char *operand;  /* what stands without dashes: "RECIPE"; NULL: nothing may */
    int operands;         /* how many of them there may be; 0: one */
    const char *examples; /* lines */
} command_text;

typedef enum {
    OPTIONS_GOOD,
    OPTIONS_HELPED /* --help was printed: end with 0 */,
    OPTIONS_REFUSED /* end with 2 */
} options_end;

/*
 * Reads argv[1..] into the groups' values. operand[0..]: what stands without dashes, NULL behind the last where there
 * is room (for as many as there may be).
 */
options_end options_parse(const command_text *command, const option_group *groups, int argc, char **argv,
                          const char **operand);

/* A whole number from low to high that is all of text. */
bool parse_count(const char *text, int64_t low, int64_t high, int64_t *value);

/* Appends "--name value" of every setting given in values to argv[*argc..]; texts are allocated. False: no memory. */
bool options_unparse(const option *options, const void *values, char **argv, int *argc, int max);

/* Puts every setting of values into object under the option's name: null where it was not given. */
void options_json(const option *options, const void *values, json_t *object);

/* What --filter takes, and what it says of it. */
extern const char *const filter_names[];
#define FILTER_HELP                                                                                                       \
    "which files of an image folder are taken: decodable, none (all, and one that does not decode is an error), nonzero " \
    "(not empty), or keras-jfif (JFIF near their beginning, as Keras' example) (default: decodable)"

/* What --augment says of itself. */
#define AUGMENT_HELP                                                                                                         \
    "what training sees of the pictures: words with commas between them, in the order in which they happen: flip "           \
    "(=alternate, =always), translate=4, rotate=15, shear=10, scale=0.9..1.1, resize=250, crop=200 (@center, @ROW:COLUMN), " \
    "cutout=16, fill=zero|edge|reflect, filter=nearest|bilinear|bicubic|bicubic-resize, double (the set twice: as it is, "   \
    "and augmented); or published, the recipe's article's own, or none (default: the recipe's)"

/* What --device takes, and what it says of it. */
extern const char *const device_names[];
#define DEVICE_HELP \
    "cpu, cuda (a GPU), simt (the CUDA kernels on a CPU, slow) or ref (plain loops in double, slow) (default: cpu)"
extern const char *const precision_names[];
#define PRECISION_HELP                                                                                        \
    "fp32, fp16 or bf16 (mixed: halves are stored, floats summed; fp16 with a loss scale), on cuda and simt " \
    "tf32 (floats, rounded to tf32 as tensor cores multiply them) or, on ref, fp64 (default: fp32, on ref fp64)"

#endif

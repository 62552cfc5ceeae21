/* choices.h - the names behind options that take one of several, and what such an option says of itself. */
#ifndef GRADUS_CHOICES_H
#define GRADUS_CHOICES_H

#include "gradus.h"

/* In the order of their enumerations; all end with NULL. */
extern const char *const filter_names[];      /* of gr_filter */
extern const char *const lr_schedule_names[]; /* of gr_schedule_kind */
extern const char *const lr_rule_names[];     /* of gr_lr_rule */
extern const char *const last_batch_names[];  /* of gr_last_batch */

/* Of which samples batch normalisation takes its statistics. */
typedef enum { BATCH_NORM_LOCAL = 0, BATCH_NORM_SYNCHRONISED } batch_norm;
extern const char *const batch_norm_names[];

/* Where the pictures are kept. */
typedef enum { PRELOAD_RAM = 0, PRELOAD_NONE, PRELOAD_DEVICE } preload;
extern const char *const preload_names[];

extern const char *const device_names[]; /* as gr_open takes them; the first is the usual one */

typedef struct {
    const char *name;
    gr_precision precision;
} precision_choice;
extern const precision_choice precisions[];

#define FILTER_HELP                                                                                               \
    "which files of an image folder are taken: decodable, none (all, and one that does not decode is an error), " \
    "nonzero (not empty), or keras-jfif (JFIF near their beginning, as Keras' example) (default: decodable)"

#define AUGMENT_HELP                                                                                       \
    "what training sees of the pictures: words with commas between them, in the order in which they "      \
    "happen: flip (=alternate, =always), translate=4, shift=1:-2, rotate=15, shear=10, scale=0.9..1.1, "   \
    "resize=250, crop=200 (@center, @ROW:COLUMN), cutout=16, fill=zero|edge|reflect, "                     \
    "filter=nearest|bilinear|bicubic|bicubic-resize, double (the set twice: as it is, and augmented); or " \
    "published, the recipe's article's own, or none (default: the recipe's)"

#define MODEL_HELP \
    "the network, a line a layer in this file: 'conv 32 3x3 relu', 'pool 2', 'dense classes' (default: the recipe's)"

#define DEVICE_HELP \
    "cpu, cuda (a GPU), simt (the CUDA kernels on a CPU, slow) or ref (plain loops in double, slow) (default: cpu)"

#define DEVICE_PARTS                                                                                               \
    "which GPUs, and in which order: CUDA_VISIBLE_DEVICES=0,1 in the environment; several of them: 'gradus train " \
    "RECIPE --device cuda --ranks 2'"

#define DEVICE_OPTION(at)                                                                         \
    {                                                                                             \
        "device", "NAME", OPTION_CHOICE, at, DEVICE_HELP, 0, 0, NAMES(device_names), DEVICE_PARTS \
    }

#define PRECISION_HELP                                                                                           \
    "fp32, fp16 or bf16 (mixed: halves are stored, floats summed; fp16 with a loss scale), on cuda and simt "    \
    "tf32 (floats, rounded to tf32 as tensor cores multiply them), on a cpu with AMX bf16x3 or bf16x6 (floats, " \
    "multiplied by three or six products of bf16) or, on ref, fp64 (default: fp32, on ref fp64)"

#endif

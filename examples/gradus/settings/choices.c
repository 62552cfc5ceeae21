/* choices.c - see choices.h. */
#include "settings/choices.h"

const char *const filter_names[] = {[GR_FILTER_DECODABLE] = "decodable",
                                    [GR_FILTER_NONE] = "none",
                                    [GR_FILTER_NONZERO] = "nonzero",
                                    [GR_FILTER_KERAS_JFIF] = "keras-jfif",
                                    NULL};
const char *const lr_schedule_names[] = {
    [GR_CONSTANT] = "constant", [GR_COSINE] = "cosine",         [GR_STEPS] = "steps",
    [GR_LINEAR] = "linear",     [GR_TRIANGULAR] = "triangular", NULL};
const char *const lr_rule_names[] = {[GR_LR_NONE] = "none", [GR_LR_LINEAR] = "linear", [GR_LR_SQRT] = "sqrt", NULL};
const char *const last_batch_names[] = {
    [GR_KEEP] = "keep", [GR_DROP] = "drop", [GR_PAD] = "pad", [GR_WRAP] = "wrap", NULL};
const char *const batch_norm_names[] = {[BATCH_NORM_LOCAL] = "local", [BATCH_NORM_SYNCHRONISED] = "synchronised", NULL};
const char *const preload_names[] = {[PRELOAD_RAM] = "ram", [PRELOAD_NONE] = "none", [PRELOAD_DEVICE] = "device", NULL};
const char *const device_names[] = {"cpu", "cuda", "simt", "ref", NULL};
const precision_choice precisions[] = {{"fp32", GR_PRECISION_FP32},     {"fp64", GR_PRECISION_FP64},
                                       {"fp16", GR_PRECISION_FP16},     {"bf16", GR_PRECISION_BF16},
                                       {"tf32", GR_PRECISION_TF32},     {"bf16x3", GR_PRECISION_BF16X3},
                                       {"bf16x6", GR_PRECISION_BF16X6}, {NULL, GR_PRECISION_DEFAULT}};

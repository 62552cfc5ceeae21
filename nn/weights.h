/*
 * weights.h - a model's values on their way to a file and back: parameters, then running statistics, each under its
 * name and in the order that files have.
 */
#ifndef GRADUS_WEIGHTS_H
#define GRADUS_WEIGHTS_H

#include "core/safetensors.h"
#include "nn/module.h"

/* What stands in a file beside a model's values, and is nobody's mistake, has a name that begins so. */
#define GR__BESIDE_WEIGHTS "checkpoint/"

/* Whether a model has been built, and a path given, for what. False: recorded, unless there is no model. */
bool gr__weights_ready(const gr_module *net, const char *path, const char *what);

int gr__weights_count(const gr_module *net);

/* Value i of them: how it lies, and where. */
const gr_parameter_plan *gr__stored_plan(const gr_module *net, int i);
gr_tensor *gr__stored_value(const gr_module *net, int i);

/* Its elements in a file's order, as f32 unless type is its own, for the caller to free. NULL: recorded. */
void *gr__weights_bring(const gr_parameter_plan *plan, const gr_tensor *t, gr_disk_order order, gr_type type);

/* A file's tensor (f64, f32, f16 or bf16, of the right shape) into t. False: recorded. */
bool gr__weights_put(const gr_parameter_plan *plan, gr_disk_order order, const gr_saved_tensor *saved, gr_tensor *t);

/*
 * All values brought to the host: f32, or as they are where exact. saved has room for gr__weights_count of them; their
 * data are for the caller to free, of those that there are. False: recorded.
 */
bool gr__weights_store(const gr_module *net, bool exact, gr_saved_tensor *saved);

/*
 * Reads a file of weights, safetensors or NumPy's .npz: its first bytes tell which. As gr__safetensors_read; an .npz
 * has no texts. In exchange/.
 */
bool gr__weights_read(gr_context *ctx, const char *path, gr_safetensors *file);

/* Whether the file holds the values of this model. False: recorded, with the name of what does not fit. */
bool gr__weights_check(const gr_module *net, const char *path, const gr_safetensors *file);

/* Values from a file that has been checked. False: recorded. */
bool gr__weights_load(gr_module *net, const gr_safetensors *file);

#endif

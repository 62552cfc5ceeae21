/* mixed.c - mixed precision as the engine sees it: one table, which gr_open hands to every context. */
#include "amp/mixed.h"

const gr_mixed_precision gr__mixed_precision = {
    .compute_type = gr__policy_compute,
    .input_type = gr__policy_input,
    .output_type = gr__policy_output,
    .cast_inputs = gr__cast_inputs,
    .invalidate_half = gr__half_invalidate,
    .change_input = gr__half_change,
    .refresh_halves = gr__half_refresh,
    .release_half = gr__half_release,
    .add_halves = gr__half_add,
    .widens = gr__policy_widens,
    .run_widened = gr__run_widened,
    .open_scaler = gr__scaler_open,
};

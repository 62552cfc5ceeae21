/* fuzz_model.c - texts of models: read, built for small pictures and told, in a context that only plans. */
#include "fuzz.h"
#include "gradus.h"

enum { ROWS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = calloc(1, size + 1);
    must(text);
    if (size)
        memcpy(text, bytes, size);
    gr_context *ctx = gr_open(&(gr_options){.threads = 1, .plan_only = true});
    gr_module *net = gr_model_from_text(ctx, "m.txt", text, 3);
    must((net != NULL) == gr_ok(ctx));
    if (net && gr_module_build(net, 3, (int64_t[]){12, 12, 3})) {
        gr_summary_row rows[ROWS];
        const int n = gr_summary(net, rows, ROWS);
        must((n >= 0) == gr_ok(ctx) && n <= ROWS);
        must(strcmp(gr_model_text(net), text) == 0);
    }
    gr_close(ctx);
    free(text);
    return 0;
}

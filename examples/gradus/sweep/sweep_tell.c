/* sweep_tell.c - what a sweep says at its end: tables, the picture. */
#include <stdio.h>
#include <string.h>

#include "sweep/outcome.h"
#include "sweep/sweep.h"
#include "terminal/output.h"
#include "terminal/plot.h"
#include "terminal/system.h"

static int write_file(const sweep *w, const char *name, const outcome *t)
{
    char path[2048];
    output out;
    snprintf(path, sizeof path, "%s/%s", w->asked.out, name);
    int code = output_open(&out, path, "sweep");
    if (code)
        return code;
    if (strcmp(name, "results.csv") == 0)
        cells_write_csv(&w->grid, &w->journal, out.file);
    else if (strcmp(name, "summary.csv") == 0)
        outcome_write_csv(t, out.file);
    else
        outcome_print(t, out.file);
    return output_commit(&out, "sweep");
}

/* The three tables. Returns 0 or GR_IO_ERROR, complained of. */
static int write_files(const sweep *w, const outcome *t)
{
    int code = write_file(w, "results.csv", t);
    if (code == 0)
        code = write_file(w, "summary.csv", t);
    return code ? code : write_file(w, "table.txt", t);
}

static bool fill(const sweep *w, outcome *t)
{
    const settings shared = settings_shared(&w->asked.shared, w->recipe);
    *t = (outcome){.recipe = w->recipe,
                   .data = w->data,
                   .test_samples = w->estimate.test,
                   .by_epochs = shared.epochs > 0,
                   .budget = shared.budget,
                   .batch_schedule = shared.batch_schedule};
    return outcome_fill(t, &w->grid, &w->journal);
}

void sweep_redraw(sweep *w)
{
    static const double EVERY = 60; /* seconds: drawing takes two of them, and no cell runs meanwhile */
    outcome t;
    const double now = now_seconds();
    const bool first = w->drawn == 0;
    if (!first && now - w->drawn < EVERY)
        return;
    w->drawn = now;
    if (first || w->finished == 0 || !fill(w, &t))
        return;
    if (write_files(w, &t) == 0)
        plot_sweep_quietly(w->asked.out);
    outcome_free(&t);
}

int sweep_tell(const sweep *w)
{
    outcome t;
    if (!fill(w, &t))
        return complain(GR_NO_MEMORY, "sweep", "out of host memory for the table");
    const int code = write_files(w, &t);
    if (w->asked.json)
        outcome_print_json(&t, stdout);
    else if (!w->silent)
        outcome_print(&t, stdout);
    int done = 0, bad = 0, failed = 0;
    for (int i = 0; i < t.n; i++) {
        done += t.lines[i].done;
        bad += t.lines[i].went_bad;
        failed += t.lines[i].failed;
    }
    outcome_free(&t);
    if (code)
        return code;
    if (done)
        plot_sweep(w->asked.out);
    if (bad)
        complain(GR_OK, "sweep",
                 "the numbers of %d cell%s went bad: such rows stay, are in no mean and are not run again; what may "
                 "help, in another --out: a smaller --lr, --warm-up, --clip-norm",
                 bad, bad == 1 ? "" : "s");
    if (failed)
        complain(GR_OK, "sweep", "%d cell%s failed; %s/results.jsonl tells why, the same command tries again", failed,
                 failed == 1 ? "" : "s", w->asked.out);
    return failed ? TOOL_CELLS_FAILED : 0;
}

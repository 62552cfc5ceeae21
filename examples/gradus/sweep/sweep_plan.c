/* sweep_plan.c - what a sweep does before its first cell: reads the data, opens its folder, tells what is to come. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "sources/source.h"
#include "sweep/published.h"
#include "sweep/sweep.h"
#include "terminal/checksum.h"
#include "terminal/json_values.h"
#include "terminal/memory.h"
#include "terminal/system.h"
#include "terminal/text.h"

/* What cells side by side have to share. ctx has read the data. */
static void look_at_machine(sweep *w, const gr_context *ctx, const source *data, const resolved *s)
{
    if (w->asked.jobs < 2)
        return;
    const int64_t share = gr_thread_count(ctx) / w->asked.jobs;
    gr_context *cells = resolved_open(s, true);
    w->on_gpu = strcmp(gr_device_name(cells), "cuda") == 0;
    gr_close(cells);
    w->classes = gr_dataset_classes(data->split.train);
    w->data_bytes = memory_resident() > 0 ? memory_resident() : 0;
    if (!w->asked.shared.threads)
        w->asked.shared.threads = share > 0 ? share : 1;
}

int sweep_look_at_data(sweep *w)
{
    const cell first = grid_cell(&w->grid, 0);
    const resolved s = grid_resolve(&w->asked.shared, w->recipe, &first);
    double begin = now_seconds();
    gr_context *ctx = gr_open(&(gr_options){.threads = (int)s.asked.threads});
    source data;
    int code = source_open(ctx, &s, "sweep", &data);
    if (code == 0 && !data.split.test)
        code = complain(GR_USAGE, "sweep",
                        "a sweep is about test accuracy, and there are no test pictures; give a --test-share above 0, "
                        "or a folder test beside train");
    for (int i = 0; code == 0 && i < w->grid.n_batches; i++)
        code = source_check_batch(&data, w->grid.batches[i], s.last_batch, "sweep");
    for (int i = 0; code == 0 && i < s.n_stages; i++)
        code = source_check_batch(&data, s.stages[i].batch, s.last_batch, "sweep");
    look_at_machine(w, ctx, &data, &s);
    w->data = data.name;
    memcpy(w->data_hash, data.hash, sizeof data.hash);
    w->estimate = (estimate){.recipe = w->recipe,
                             .settings = &w->asked.shared,
                             .train = gr_dataset_size(data.split.train),
                             .val = gr_dataset_size(data.split.val),
                             .test = gr_dataset_size(data.split.test),
                             .read_seconds = now_seconds() - begin};
    gr_close(ctx);
    return code;
}

/* What a file holds, in short; null where there is none. */
static json_t *contents(const char *path)
{
    char bytes[4096], text[9];
    uint32_t sum = 0;
    ssize_t n = 0;
    int f;
    if (!path || !is_readable_file(path))
        return json_null();
    do
        f = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (f < 0 && errno == EINTR);
    if (f < 0)
        end_for_want_of(path, "cannot be opened");
    while ((n = read(f, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR))
        sum = n > 0 ? checksum_add(sum, bytes, (size_t)n) : sum;
    close(f);
    if (n < 0)
        end_for_want_of(path, "cannot be read");
    snprintf(text, sizeof text, "%08x", (unsigned)sum);
    return json_string(text);
}

/* What all cells of a folder must share: --epochs 5 and nothing are the same where 5 is the recipe's choice. */
static json_t *identity(const sweep *w)
{
    const settings shared = settings_shared(&w->asked.shared, w->recipe);
    json_t *o = json_object();
    json_object_set_new(o, "recipe", json_string(w->recipe->name));
    json_object_set_new(o, "data", json_plain(w->data));
    json_object_set_new(o, "data_hash", json_string(w->data_hash));
    json_object_set_new(o, "test_samples", json_integer(w->estimate.test));
    json_object_set_new(o, "version", json_string(gr_version()));
    json_object_set_new(o, "initial weights", contents(shared.init_weights));
    json_object_set_new(o, "model text", contents(shared.model));
    options_json(settings_batches, &shared, o);
    options_json(settings_protocol, &shared, o);
    for (int i = 0; i < w->axes.n; i++) { /* values of a list may be added, as batch sizes may */
        json_object_set_new(o, w->axes.list[i].option->name, json_string("varies"));
        if (strcmp(w->axes.list[i].option->name, "model") == 0)
            json_object_set_new(o, "model text", json_string("varies"));
    }
    options_json(parameter_options(), shared.parameters, o); /* as given: each optimizer has its own usual numbers */
    return o;
}

/* For pictures: how the optimizers look in them, and what keeps published values out of them. */
static json_t *notes(const sweep *w, const json_t *identity)
{
    json_t *looks = json_object();
    for (const optimizer *o = optimizers; o->name; o++)
        json_object_set_new(looks, o->name, json_pack("{s:s, s:s}", "label", o->label, "colour", o->colour));
    return json_pack("{s:o, s:o}", "optimizers", looks, DEPARTURES_NOTE, published_departures(identity, w->recipe));
}

/* Whether a file is one of several models that are asked for. */
static bool is_in_list(const axes *a, const char *model)
{
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < a->list[i].n && strcmp(a->list[i].option->name, "model") == 0; k++)
            if (strcmp(a->list[i].words[k], model) == 0)
                return true;
    return false;
}

void sweep_model_text(const sweep *w, const char *model, char text[9])
{
    json_t *sum = model && is_in_list(&w->axes, model) ? contents(model) : NULL;
    snprintf(text, 9, "%s", sum && json_string_value(sum) ? json_string_value(sum) : "");
    json_decref(sum);
}

/* Rows of a model in a list whose file held another text then. Returns 0 or GR_USAGE, complained of. */
static int check_models(const sweep *w)
{
    char now[9];
    size_t i;
    json_t *row;
    json_array_foreach(w->journal.rows, i, row)
    {
        const char *model = text_at(row, "model"), *was = text_at(row, MODEL_TEXT);
        sweep_model_text(w, model, now);
        if (*was && *now && strcmp(was, now) != 0)
            return complain(GR_USAGE, "sweep",
                            "%s holds runs of %s as it was before it was changed; give the file of now another name, "
                            "or choose another --out",
                            w->asked.out, model);
    }
    return 0;
}

int sweep_open_journal(sweep *w)
{
    json_t *o = identity(w), *n = notes(w, o);
    int code = journal_open(&w->journal, o, n);
    json_decref(o);
    json_decref(n);
    return code ? code : check_models(w);
}

int sweep_peek_at_journal(sweep *w)
{
    char path[3072], rows[3072];
    snprintf(path, sizeof path, "%s/sweep.json", w->asked.out);
    snprintf(rows, sizeof rows, "%s/results.jsonl", w->asked.out);
    w->journal = (journal){.folder = w->asked.out, .lock = -1, .file = -1, .rows = json_array()};
    if (!is_readable_file(path))
        return 0;
    json_t *o = identity(w);
    int code = journal_compare(&w->journal, o);
    if (code == 0 && mode_of(rows)) { /* a sweep that was killed before its first row may not have made it yet */
        json_decref(w->journal.rows);
        code = journal_read(&w->journal, w->asked.out, o);
    }
    json_decref(o);
    if (code == 0)
        code = check_models(w);
    if (code) {
        json_decref(w->journal.rows);
        w->journal.rows = NULL;
    }
    return code;
}

double sweep_expected_left(const sweep *w)
{
    double sum = 0;
    for (int i = 0; i < grid_count(&w->grid); i++) {
        cell c = grid_cell(&w->grid, i);
        if (sweep_has_cell(w, i) && journal_lacks(&w->journal, &c))
            sum += w->expected[i];
    }
    if (w->asked.jobs > 1)
        sum /= (double)w->asked.jobs;
    /* if the cells so far took longer than was expected of them, so will the others */
    return w->expected_done > 0 ? sum * w->actual_done / w->expected_done : sum;
}

bool sweep_expect(sweep *w)
{
    const bool probed = estimate_probe(&w->estimate, &w->grid, &w->journal);
    for (int i = 0; i < grid_count(&w->grid); i++) {
        cell c = grid_cell(&w->grid, i);
        w->expected[i] = estimate_cell(&w->estimate, &w->grid, &w->journal, &c);
    }
    return probed;
}

void sweep_print_plan(sweep *w)
{
    const grid *g = &w->grid;
    int count = grid_count(g);
    char time[32];
    char variants[32] = "";
    if (w->axes.n)
        snprintf(variants, sizeof variants, "%d variants x ", axes_count(&w->axes));
    fprintf(stderr, "%s on ", w->recipe->name);
    print_plain(stderr, w->data);
    fprintf(stderr, ": %d cell%s = %d batch size%s x %d optimizer%s x %s%d seed%s, %d to run\n", count,
            count == 1 ? "" : "s", g->n_batches, g->n_batches == 1 ? "" : "s", g->optimizers.n,
            g->optimizers.n == 1 ? "" : "s", variants, g->n_seeds, g->n_seeds == 1 ? "" : "s", w->cells);
    if (w->cells == 0)
        return;
    const bool probed = sweep_expect(w);
    const double left = sweep_expected_left(w);
    if (isfinite(left))
        fprintf(stderr, "expected time: about %s, judged by %s\n", duration_text(left, time),
                probed ? "a few updates tried out" : "the cells that are done");
    else
        fprintf(stderr, "expected time: not known, not every batch size could be tried out\n");
}

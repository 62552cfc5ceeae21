/* sweep_auto.c - the batch size that --batch auto stands for in a sweep: found once, and kept in its folder. */
#include "find_batch/auto_batch.h"
#include "sweep/sweep.h"
#include "terminal/json_memory.h"
#include "terminal/output.h"
#include "terminal/system.h"

/* What was found when the sweep began, 0: nothing was, into *batch. Returns 0 or an exit code, complained of. */
static int recall(const char *path, int64_t *batch)
{
    json_fault why;
    json_t *o = json_read(path, &why);
    const int64_t found = json_integer_value(json_object_get(o, "batch"));
    *batch = found > 0 && found <= MAX_BATCH ? found : 0;
    if (!o && why.code != GR_BAD_DATA)
        return complain(why.code, "sweep", "%s: %s", path, why.text);
    json_decref(o);
    return 0;
}

static int remember(const char *path, int64_t batch)
{
    output out;
    int code = output_open(&out, path, "sweep");
    if (code)
        return code;
    fprintf(out.file, "{\"batch\": %lld}\n", (long long)batch);
    return output_commit(&out, "sweep");
}

/* The least of what each optimizer is advised. */
static int find_least(const sweep *w, int64_t *batch)
{
    *batch = MAX_BATCH;
    int code = 0;
    for (int i = 0; code == 0 && i < w->grid.optimizers.n; i++) {
        const cell c = {.optimizer = w->grid.optimizers.list[i], .batch = BATCH_AUTO, .seed = 1};
        const settings s = grid_settings(&w->asked.shared, &c);
        int64_t found;
        code = auto_batch(&s, w->recipe, "sweep", &found);
        if (code == 0 && found < *batch)
            *batch = found;
    }
    return code;
}

static const char *path_in(const sweep *w, char path[2048])
{
    snprintf(path, 2048, "%s/auto-batch.json", w->asked.out);
    return path;
}

int sweep_recall_batch(sweep *w)
{
    char path[2048];
    int64_t batch = 0;
    const int code = w->grid.auto_batch ? recall(path_in(w, path), &batch) : 0;
    if (code)
        return code;
    if (w->grid.auto_batch && batch == 0)
        return complain(GR_USAGE, "sweep",
                        "--batch auto: not found yet; leave --dry-run out, or ask 'gradus find-batch'");
    return batch ? grid_add_batch(&w->grid, batch) : 0;
}

int sweep_find_batch(sweep *w)
{
    grid *g = &w->grid;
    if (!g->auto_batch)
        return 0;
    if (w->shards > 1)
        return complain(GR_USAGE, "sweep",
                        "--shard and --batch auto exclude each other: machines would find different "
                        "sizes; ask 'gradus find-batch' once");
    char path[2048];
    path_in(w, path);
    int64_t batch;
    int code = recall(path, &batch);
    if (code == 0 && batch == 0) {
        code = find_least(w, &batch);
        if (code == 0)
            code = remember(path, batch);
    }
    return code ? code : grid_add_batch(g, batch);
}

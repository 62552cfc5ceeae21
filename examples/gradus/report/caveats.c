/* caveats.c - what a report's figures cannot say, in sentences; see words.h. */
#include "report/words.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "terminal/json_values.h"
#include "terminal/text.h"

static void say(json_t *list, const char *words, ...) __attribute__((format(printf, 2, 3)));

static void say(json_t *list, const char *words, ...)
{
    char text[1024];
    va_list args;
    va_start(args, words);
    vsnprintf(text, sizeof text, words, args);
    va_end(args);
    json_array_append_new(list, json_string(text));
}

/* The least and the most of what the cells that are done have. */
typedef struct {
    int64_t updates[2], batch[2];
    int runs[2], cells;
    double error[2];
} extent;

static extent extent_of(const outcome *t)
{
    extent e = {.error = {1, 0}};
    for (int i = 0; i < t->n; i++) {
        const outcome_line *line = &t->lines[i];
        if (line->done == 0)
            continue;
        for (int k = 0; k < 2; k++) {
            const bool first = e.cells == 0;
            if (first || (k ? line->updates > e.updates[k] : line->updates < e.updates[k])) {
                e.updates[k] = line->updates;
                e.batch[k] = line->batch;
            }
            if (first || (k ? line->done > e.runs[k] : line->done < e.runs[k]))
                e.runs[k] = line->done;
        }
        e.error[0] = fmin(e.error[0], line->set_error);
        e.error[1] = fmax(e.error[1], line->set_error);
        e.cells++;
    }
    return e;
}

static void say_updates(json_t *list, const extent *e)
{
    char least[32], most[32], small[32], large[32];
    thousands_text(e->updates[0], least);
    thousands_text(e->updates[1], most);
    if (e->updates[0] == e->updates[1])
        say(list, "Every cell made %s updates: a larger batch saw more samples for that.", least);
    else
        say(list,
            "Updates per cell: from %s at batch size %s to %s at %s. A larger batch also made fewer updates, so what "
            "looks like an effect of the batch size is in part one of the number of updates.",
            most, thousands_text(e->batch[1], small), least, thousands_text(e->batch[0], large));
}

static void say_budget(json_t *list, const char *budget)
{
    const char *seconds = strstr(budget, "seconds=");
    if (seconds)
        say(list,
            "Every run had %s s of training, evaluation left out: how many updates that makes depends on the machine "
            "and the moment, and no run can be repeated to its bits.",
            seconds + strlen("seconds="));
    else if (*budget)
        say(list, "Every run ended by --budget %s.", budget);
}

static void say_schedule(json_t *list, const char *schedule)
{
    if (*schedule)
        say(list, "The batch size changes by epoch (--batch-schedule %s); figures have the first one.", schedule);
}

static void say_seeds(json_t *list, const extent *e)
{
    if (e->runs[1] == 1)
        say(list, "One seed: no interval. A second run of the same cell would land elsewhere.");
    else if (e->runs[1] < FEWEST_RUNS)
        say(list, "%d seeds: no interval is drawn. From two runs it reaches 12.7 standard errors to either side.",
            e->runs[1]);
    else if (e->runs[0] == e->runs[1])
        say(list, "%d seeds per cell; bars are 95 %% intervals of the mean (Student's t).", e->runs[0]);
    else
        say(list,
            "%d to %d seeds per cell; bars are 95 %% intervals of the mean (Student's t), and none is drawn below %d "
            "seeds.",
            e->runs[0], e->runs[1], FEWEST_RUNS);
}

static void say_error(json_t *list, const outcome *t, const extent *e)
{
    char samples[32], least[32], most[32];
    snprintf(least, sizeof least, "%.1f", 100 * e->error[0]);
    snprintf(most, sizeof most, "%.1f", 100 * e->error[1]);
    if (t->test_samples > 0)
        say(list,
            "The test set has %s samples: by its size alone an accuracy has a standard error of %s%s%s points. "
            "Intervals over seeds do not hold that error, which all runs share.",
            thousands_text(t->test_samples, samples), least, strcmp(least, most) ? " to " : "",
            strcmp(least, most) ? most : "");
}

static void say_constant(json_t *list, const runs *r)
{
    int done = 0, constant = 0;
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++) {
        const json_t *row = runs_row(r, i);
        done += row != NULL;
        constant += row && runs_is_constant(row);
    }
    if (constant)
        say(list,
            "%d of %d runs gave every test sample the same answer: part of the means, drawn as crossed squares and "
            "flagged in the table.",
            constant, done);
}

static void say_troubles(json_t *list, const outcome *t)
{
    int missing = 0, memory = 0, bad = 0, late = 0, failed = 0;
    for (int i = 0; i < t->n; i++) {
        const outcome_line *line = &t->lines[i];
        missing += line->runs == 0;
        memory += line->out_of_memory;
        bad += line->went_bad;
        late += line->timed_out;
        failed += line->failed;
    }
    if (memory + bad + late + failed)
        say(list,
            "Not in the means: runs that ran out of memory (%d), whose numbers went bad (%d), that took too long "
            "(%d) or failed (%d).",
            memory, bad, late, failed);
    if (missing)
        say(list, "%d cell%s of the grid ha%s no run yet.", missing, missing == 1 ? "" : "s",
            missing == 1 ? "s" : "ve");
}

json_t *accuracy_caveats(const runs *r, const outcome *t)
{
    json_t *list = json_array();
    const extent e = extent_of(t);
    if (strcmp(t->data, "procedural") == 0)
        say(list, "Built-in pictures drawn by formula, not the real data: these accuracies say nothing about it.");
    if (e.cells > 0) {
        say_updates(list, &e);
        say_budget(list, text_at(r->identity, "budget"));
        say_schedule(list, text_at(r->identity, "batch-schedule"));
        say_seeds(list, &e);
        say_error(list, t, &e);
    }
    say_constant(list, r);
    say_troubles(list, t);
    return list;
}

/* The different values of a key, "A, B", into text. Returns how many. */
static int values_of(const runs *r, const char *key, char *text, size_t size)
{
    json_t *seen = json_object();
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++) {
        const char *value = text_at(json_array_get(r->journal.rows, i), key);
        const size_t length = strlen(text);
        if (*value && !json_object_get(seen, value)) {
            json_object_set_new(seen, value, json_true());
            snprintf(text + length, size - length, "%s%s", length ? ", " : "", value);
        }
    }
    const int n = (int)json_object_size(seen);
    json_decref(seen);
    return n;
}

static bool any_has(const runs *r, const char *key)
{
    bool has = false;
    for (size_t i = 0; i < json_array_size(r->journal.rows); i++)
        has = has || json_is_number(json_object_get(json_array_get(r->journal.rows, i), key));
    return has;
}

json_t *machine_caveats(const runs *r)
{
    char text[900];
    json_t *list = json_array();
    if (values_of(r, "processor", text, sizeof text) > 1)
        say(list, "Runs of different machines: %s. Their times cannot be compared with each other.", text);
    else if (*text)
        say(list, "Timed on %s.", text);
    const int n = runs_side_by_side(r);
    if (n)
        say(list, "%d run%s had others at work beside %s (--jobs): such times are not those of a run alone.", n,
            n == 1 ? "" : "s", n == 1 ? "it" : "them");
    say(list, "samples/s: of the training set, over the time of training, evaluation left out; memory: the peak of all "
              "tensors.");
    if (any_has(r, "cores_busy"))
        say(list, "Cores busy: processor time of the run by the time on the clock. Resident: the most that it had in "
                  "memory at once, pictures and program with it.");
    if (any_has(r, "model_gflops"))
        say(list, "Network: operations of its forward and backward passes by formula, a second of training. Operands: "
                  "bytes of every tensor that a kernel needs or makes, once a kernel; caches hold some.");
    if (any_has(r, "mfu"))
        say(list, "Model-FLOPs utilisation: the network's operations by what the processor reached with all operands "
                  "in registers, measured before the run.");
    return list;
}

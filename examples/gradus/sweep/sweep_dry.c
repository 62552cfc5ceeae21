/* sweep_dry.c - gradus sweep --dry-run: the cells and what became of them so far; nothing is run, nothing written. */
#include <string.h>

#include "sweep/cell_state.h"
#include "sweep/sweep.h"
#include "terminal/json_values.h"
#include "terminal/text.h"

/* What became of a cell, in a word. A row that failed or was stopped is of a cell that will run again. */
static const char *state_of(const json_t *row)
{
    static const struct {
        const char *state, *word;
    } words[] = {{"done", "DONE"},     {"out of memory", "OOM"},   {"numbers went bad", "DIVERGED"},
                 {"failed", "FAILED"}, {"stopped", "INTERRUPTED"}, {"timed out", "TIMED_OUT"},
                 {NULL, "QUEUED"}};
    int i = 0;
    while (words[i].state && strcmp(words[i].state, text_at(row, "state")) != 0)
        i++;
    return words[i].word;
}

static bool is_among(const json_t *cells, const cell *c)
{
    char words[CELL_WORDS];
    const json_t *one;
    size_t i;
    sweep_cell_words(c, words, sizeof words);
    json_array_foreach(cells, i, one)
    {
        if (strcmp(json_string_value(one), words) == 0)
            return true;
    }
    return false;
}

/* The same of a cell that is to run: at work in this moment, or stopped in its middle, or not. */
static const char *state_of_missing(const sweep *w, const status_seen *seen, const cell *c)
{
    char folder[CELL_STATE_PATH];
    if (is_among(seen->at_work, c))
        return seen->lives ? "RUNNING" : "INTERRUPTED";
    cell_state_folder(w->asked.out, c, folder);
    if (cell_state_is_there(folder))
        return "INTERRUPTED";
    const json_t *row = journal_find(&w->journal, c);
    return state_of(strcmp(text_at(row, "state"), "timed out") == 0 ? NULL : row); /* it has a longer limit now */
}

/* A line for each cell. Returns how many there are. */
static int print_cells(const sweep *w, const status_seen *seen)
{
    int cells = 0;
    char variant[VARIANT_NAME];
    printf("optimizer    batch  seed  state\n");
    for (int i = 0; i < grid_count(&w->grid); i++) {
        const cell c = grid_cell(&w->grid, i);
        if (!sweep_has_cell(w, i))
            continue;
        cell_variant(&c, variant);
        printf("%-10s %7lld %5lld  %s%s%s\n", c.optimizer->name, (long long)c.batch, (long long)c.seed,
               journal_lacks(&w->journal, &c) ? state_of_missing(w, seen, &c) : state_of(journal_find(&w->journal, &c)),
               *variant ? "  " : "", variant);
        cells++;
    }
    return cells;
}

int sweep_dry_run(sweep *w)
{
    int code = sweep_recall_batch(w);
    if (code == 0)
        code = sweep_look_at_data(w);
    if (code == 0)
        code = sweep_peek_at_journal(w);
    if (code)
        return code;
    char time[32];
    const status_seen seen = status_read(w->asked.out);
    w->journal.time_limit = w->asked.time_limit;
    const int cells = print_cells(w, &seen);
    printf("%d cell%s, %d to run\n", cells, cells == 1 ? "" : "s", sweep_count_missing(w));
    if (seen.lives && seen.silent > LONGEST_SILENCE)
        printf("the sweep at work (%s) has given no sign of life for %s\n", seen.who, duration_text(seen.silent, time));
    json_decref(seen.at_work);
    json_decref(w->journal.rows);
    return 0;
}

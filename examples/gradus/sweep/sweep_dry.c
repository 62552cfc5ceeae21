/* sweep_dry.c - gradus sweep --dry-run: the cells and what became of them so far; nothing is run, nothing written. */
#include <string.h>

#include "sweep/sweep.h"
#include "terminal/json_values.h"

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

int sweep_dry_run(sweep *w)
{
    int code = sweep_recall_batch(w);
    if (code == 0)
        code = sweep_look_at_data(w);
    if (code == 0)
        code = sweep_peek_at_journal(w);
    if (code)
        return code;
    int to_run = 0, cells = 0;
    char variant[VARIANT_NAME], at[sizeof w->current], words[sizeof w->current];
    const char *last = status_read(w->asked.out, at, sizeof at);
    w->journal.time_limit = w->asked.time_limit;
    printf("optimizer    batch  seed  state\n");
    for (int i = 0; i < grid_count(&w->grid); i++) {
        const cell c = grid_cell(&w->grid, i);
        if (!sweep_has_cell(w, i))
            continue;
        const bool lacks = journal_lacks(&w->journal, &c),
                   begun = lacks && *last && strcmp(sweep_cell_words(&c, words, sizeof words), at) == 0;
        cell_variant(&c, variant);
        printf("%-10s %7lld %5lld  %s%s%s\n", c.optimizer->name, (long long)c.batch, (long long)c.seed,
               begun ? last : state_of(journal_find(&w->journal, &c)), *variant ? "  " : "", variant);
        to_run += lacks;
        cells++;
    }
    printf("%d cell%s, %d to run\n", cells, cells == 1 ? "" : "s", to_run);
    json_decref(w->journal.rows);
    return 0;
}

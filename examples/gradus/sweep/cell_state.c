/* cell_state.c - see cell_state.h. */
#include "sweep/cell_state.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "terminal/checksum.h"

static const char state_name[] = "checkpoint-";

void cell_state_folder(const char *out, const cell *c, char folder[CELL_STATE_PATH])
{
    char variant[VARIANT_NAME], sum[16] = "";
    cell_variant(c, variant);
    if (*variant)
        snprintf(sum, sizeof sum, "-%08x", (unsigned)checksum_add(0, variant, strlen(variant)));
    snprintf(folder, CELL_STATE_PATH, "%s/cells/%s-batch-%lld-seed-%lld%s", out, c->optimizer->name,
             (long long)c->batch, (long long)c->seed, sum);
}

void cell_state_keep(settings *s, const char *folder, const char *every)
{
    s->checkpoint = folder;
    s->checkpoint_every = every;
    s->no_epoch_checkpoints = true; /* a cell may be over in less time than writing them would take */
    s->keep = 1;
    s->resume = true;
}

/* The next checkpoint in a folder; NULL: there is none. */
static const char *next_state(DIR *d)
{
    struct dirent *e;
    while ((e = readdir(d)))
        if (strncmp(e->d_name, state_name, sizeof state_name - 1) == 0)
            return e->d_name;
    return NULL;
}

bool cell_state_is_there(const char *folder)
{
    DIR *d = opendir(folder);
    const bool there = d && next_state(d);
    if (d)
        closedir(d);
    return there;
}

void cell_state_drop(const char *folder)
{
    char path[CELL_STATE_PATH + 256];
    DIR *d = opendir(folder);
    if (!d)
        return;
    for (const char *name; (name = next_state(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        unlink(path);
    }
    closedir(d);
    rmdir(folder);
}

void cell_states_tidy(const char *out)
{
    char path[CELL_STATE_PATH];
    snprintf(path, sizeof path, "%s/cells", out);
    rmdir(path);
}

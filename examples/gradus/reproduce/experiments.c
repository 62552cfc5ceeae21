/* experiments.c - see experiment.h: all experiments, by number and by name. */
#include <string.h>

#include "reproduce/experiment.h"
#include "terminal/complain.h"
#include "terminal/names.h"

static const experiment *const parts[] = {experiments_lheureux, experiments_others};

const experiment *experiment_at(int i)
{
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        for (const experiment *e = parts[k]; e->name; e++)
            if (i-- == 0)
                return e;
    return NULL;
}

const char *experiment_name(int i)
{
    const experiment *e = experiment_at(i);
    return e ? e->name : NULL;
}

const experiment *experiment_find(const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST + 1] = {NULL};
    for (int i = 0; i < MOST && (names[i] = experiment_name(i)) != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return experiment_at(i);
    const char *near = nearest(name, (name_list)NAMES(names));
    complain(GR_USAGE, "reproduce", "there is no experiment \"%s\"; %s%s%s", name, near ? "did you mean " : "",
             near ? near : "'gradus reproduce' lists them", near ? "?" : "");
    return NULL;
}

/* walk.c - see walk.h. */
#include "landscape/walk.h"

#include <stdlib.h>
#include <string.h>

#include "sources/format.h"
#include "terminal/complain.h"
#include "terminal/output.h"
#include "terminal/progress.h"
#include "terminal/system.h"
#include "terminal/text.h"

enum { ESTIMATE_UPDATES = 64, MOST_PLACES = 10000000 }; /* a random plane of the most steps has 4 million */

const char *const statistics_names[] = {"interpolated", "estimated", NULL};

/* --- before ------------------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* What the files say of themselves, which must be the same. Returns 0 or an exit code, complained of. */
static int read_notes(landscape *l)
{
    const weights_notes *first = &l->notes[0];
    const weights_asked asked = {.recipe = l->asks->recipe};
    for (int i = 0; l->files[i]; i++) {
        weights_notes *n = &l->notes[i];
        const int code = weights_file_read(l->ctx, l->files[i], &asked, LANDSCAPE, n);
        if (code)
            return code;
        if (n->recipe != first->recipe || n->resize != first->resize || !same_text(n->model, first->model) ||
            !same_text(n->augment, first->augment))
            return complain(GR_USAGE, LANDSCAPE,
                            "%s and %s are of different recipes, networks, sizes or augmentations: there is no line "
                            "between them",
                            l->files[0], l->files[i]);
    }
    return 0;
}

/* So many samples of a part, evenly spread, as evaluation sees them. NULL: there is none, or the context tells. */
static gr_dataset *part_of(const landscape *l, gr_dataset *part)
{
    const int64_t all = gr_dataset_size(part), most = l->asks->samples;
    int64_t *picks = most > 0 && most < all ? calloc((size_t)most, sizeof *picks) : NULL;
    for (int64_t i = 0; picks && i < most; i++)
        picks[i] = i * all / most;
    if (picks)
        part = gr_dataset_select(part, most, picks);
    free(picks);
    const char *plan = l->notes[0].augment ? l->notes[0].augment : l->run.recipe->augment;
    return part && plan ? gr_augmented_for_evaluation(part, plan) : part;
}

static int open_data(landscape *l)
{
    settings asked = l->asks->run;
    const recipe *r = l->notes[0].recipe;
    asked.resize = l->notes[0].resize;
    asked.augment = "none"; /* training samples are looked at as evaluation sees them */
    if (r->format->own && !asked.data && !asked.procedural)
        return complain(GR_USAGE, LANDSCAPE, "which pictures? --data FOLDER has a folder of them for each class");
    l->run = settings_resolve(&asked, r);
    const int code = source_open(l->ctx, &l->run, LANDSCAPE, &l->data);
    if (code)
        return code;
    l->train = part_of(l, l->data.split.train);
    l->test = part_of(l, l->data.split.test);
    return gr_ok(l->ctx) ? 0 : complain_of(l->ctx, LANDSCAPE);
}

/* The terms of all places. Returns 0 or an exit code, complained of. */
static int open_places(landscape *l)
{
    int64_t shape[3];
    bool good = true;
    gr_dataset_shape(l->train, shape);
    l->net = weights_file_net(l->ctx, &l->notes[0]);
    if (!gr_module_build(l->net, 3, shape))
        return complain_of(l->ctx, LANDSCAPE);
    l->still = gr_sgd(l->ctx, l->net, &(gr_sgd_options){.lr = 1e-30}); /* below any weight's last digit */
    places_open(&l->places, l->net);
    for (int i = 0; good && l->files[i]; i++)
        good = gr_load_weights(l->net, l->files[i]) && places_take(&l->places);
    for (int i = 0; good && l->surface.kind == RANDOM_PLANE && i < 2; i++)
        good = places_draw(&l->places, 2 * (uint64_t)l->asks->directions + (uint64_t)i);
    if (!gr_ok(l->ctx))
        return complain_of(l->ctx, LANDSCAPE);
    return good ? 0 : complain(GR_NO_MEMORY, LANDSCAPE, "out of host memory for the weights");
}

/* Returns 0 or an exit code, complained of. */
static int open_surface(landscape *l)
{
    static const struct {
        int steps;
        double reach;
    } usual[] = {[LINE] = {8, 1}, [PLANE] = {4, 0.5}, [RANDOM_PLANE] = {5, 1}};
    const surface_kind kind = !l->files[1] ? RANDOM_PLANE : !l->files[2] ? LINE : PLANE;
    const int steps = l->asks->steps ? (int)l->asks->steps : usual[kind].steps;
    const double reach = l->asks->reach > 0 ? l->asks->reach : usual[kind].reach;
    const double n = surface_places(kind, steps, reach);
    if (n > MOST_PLACES)
        return complain(GR_USAGE, LANDSCAPE,
                        "%d steps from A to B and %g such ways beyond are %.3g places; at most %d are looked at: give "
                        "a smaller --steps or --reach",
                        steps, reach, n, MOST_PLACES);
    l->surface = (surface){.weights = l->files, .recipe = l->notes[0].recipe->name};
    return surface_open(&l->surface, kind, steps, reach)
               ? 0
               : complain(GR_NO_MEMORY, LANDSCAPE, "out of host memory for the grid");
}

/* --- the walk ----------------------------------------------------------------------------------------------------- */

/* Batch normalisation's statistics of the training samples at this place: no weight moves by updates of no rate. */
static void estimate(landscape *l)
{
    gr_fit(
        l->net, l->still, (gr_split){.train = l->train},
        &(gr_fit_options){.batch = l->run.batch < gr_dataset_size(l->train) ? l->run.batch : gr_dataset_size(l->train),
                          .updates = ESTIMATE_UPDATES,
                          .label_smoothing = l->run.asked.label_smoothing.value});
}

/* Looks at one place. False: the context tells, or no memory. */
static bool look(landscape *l, surface_point *p)
{
    double factors[MOST_TERMS];
    const gr_evaluate_options o = {.batch = l->run.batch, .label_smoothing = l->run.asked.label_smoothing.value};
    surface_factors(&l->surface, p, factors);
    if (!places_go(&l->places, factors))
        return false;
    if (l->asks->statistics.value == 1)
        estimate(l);
    p->train = gr_evaluate_with(l->net, l->train, &o);
    if (l->test)
        p->test = gr_evaluate_with(l->net, l->test, &o);
    return gr_ok(l->ctx);
}

static int look_everywhere(landscape *l)
{
    progress bar = progress_open();
    const double begin = now_seconds();
    for (int i = 0; i < l->surface.n; i++) {
        char left[48], right[64] = "", time[32];
        snprintf(left, sizeof left, "place %d of %d", i + 1, l->surface.n);
        if (i > 0)
            snprintf(right, sizeof right, "%s left",
                     duration_text((now_seconds() - begin) / i * (l->surface.n - i), time));
        progress_bar(&bar, left, (double)i / l->surface.n, right);
        if (look(l, &l->surface.points[i]))
            continue;
        progress_clear(&bar);
        return !gr_ok(l->ctx) ? complain_of(l->ctx, LANDSCAPE)
                              : complain(GR_NO_MEMORY, LANDSCAPE, "out of host memory for the weights of a place");
    }
    progress_clear(&bar);
    return 0;
}

int walk(landscape *l)
{
    int code = gr_ok(l->ctx) ? read_notes(l) : complain_of(l->ctx, LANDSCAPE);
    if (code == 0)
        code = open_data(l);
    if (code == 0)
        code = open_surface(l);
    if (code == 0)
        code = folder_make(l->asks->out, LANDSCAPE);
    if (code == 0)
        code = open_places(l);
    return code ? code : look_everywhere(l);
}

void walk_close(landscape *l)
{
    surface_close(&l->surface);
    places_close(&l->places);
    source_close(&l->data);
    for (int i = 0; i < MOST_TERMS; i++)
        weights_file_close(&l->notes[i]);
    gr_close(l->ctx);
}

/* trained.c - see trained.h. */
#include "draw/trained.h"

#include "draw/filters.h"
#include "draw/gallery.h"
#include "draw/maps.h"
#include "evaluate/answers.h"
#include "terminal/complain.h"
#include "terminal/json_values.h"

enum { PICTURES = 3 /* whose maps are shown */, WRONG = 24 };

typedef struct {
    gr_context *ctx;
    const weights_notes *notes;
    const char *command;
    test_pictures pictures;
    gr_module *net;
    answers answers;
    scores scores;
} session;

static int no_memory(const session *s)
{
    return gr_ok(s->ctx) ? complain(GR_NO_MEMORY, s->command, "out of host memory for the page")
                         : complain_of(s->ctx, s->command);
}

/* Answers to all test pictures. Returns 0 or an exit code, complained of. */
static int ask(session *s, const resolved *run)
{
    int code = test_pictures_open(s->ctx, run, s->notes, s->command, &s->pictures);
    if (code)
        return code;
    s->net = weights_file_loaded(s->ctx, s->notes, s->pictures.set);
    if (!s->net)
        return complain_of(s->ctx, s->command);
    code = answers_of_views(s->ctx, s->net, s->pictures.set, &(views){0}, ANSWERS_BATCH, s->command, &s->answers);
    return code ? code : answers_score(&s->answers, &s->pictures, s->command, &s->scores);
}

/* Pictures from the beginning, the middle and the end of the set, where different classes are. */
static int examples(const session *s, mistake list[PICTURES])
{
    const int64_t n = s->scores.n, found = n < PICTURES ? n : PICTURES;
    for (int64_t i = 0; i < found; i++) {
        const int64_t sample = (2 * i + 1) * n / (2 * found);
        const double *p = s->answers.p + sample * s->answers.classes;
        const int said = scores_answer(p, s->answers.classes);
        list[i] = (mistake){sample, test_pictures_label(&s->pictures, sample), said, p[said]};
    }
    return (int)found;
}

/* Returns 0 or an exit code, complained of. */
static int show(const session *s, json_t *data)
{
    const test_pictures *t = &s->pictures;
    json_t *layers = json_object_get(data, "layers");
    const int64_t wrong = s->scores.n_mistakes < WRONG ? s->scores.n_mistakes : WRONG;
    mistake list[PICTURES];
    int64_t samples[PICTURES];
    const int n = examples(s, list);
    for (int i = 0; i < n; i++)
        samples[i] = list[i].sample;
    json_t *test = json_pack("{s:I, s:I, s:o}", "n", (json_int_t)s->scores.n, "right", (json_int_t)s->scores.right,
                             "data", json_plain(t->data));
    const bool good =
        json_object_set_new(data, "weights", json_plain(s->notes->path)) == 0 &&
        json_object_set_new(data, "test", test) == 0 &&
        json_object_set_new(data, "pictures", gallery_json(s->ctx, t, s->notes, list, n)) == 0 &&
        json_object_set_new(data, "wrong", gallery_json(s->ctx, t, s->notes, s->scores.mistakes, wrong)) == 0 &&
        filters_add(s->net, layers) && maps_add(s->ctx, s->net, gr_dataset_select(t->set, n, samples), layers);
    return good ? 0 : no_memory(s);
}

int trained_add(gr_context *ctx, const resolved *run, const weights_notes *notes, json_t *data, const char *command)
{
    session s = {.ctx = ctx, .notes = notes, .command = command};
    int code = ask(&s, run);
    if (code == 0)
        code = show(&s, data);
    scores_close(&s.scores);
    answers_close(&s.answers);
    test_pictures_close(&s.pictures);
    return code;
}

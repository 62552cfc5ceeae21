/*
 * augment_parse.c - the language of plans: words with commas between them, "flip,translate=4,rotate=15,fill=edge".
 *
 *   flip                  mirrored left to right, every other time by chance; flip=alternate: by chance in the first
 *                         epoch, then in turn (Jordan 2024, arXiv:2404.00498); flip=always
 *   translate=N           moved by up to N whole pixels each way
 *   shift=ROWS:COLUMNS    moved by so many whole pixels down and to the right
 *   rotate=D   shear=D    turned, or slanted sideways, by up to D degrees either way; A..B: from A to B
 *   scale=A..B            enlarged by a factor of A to B around the middle; scale=A: by A
 *   resize=N              to N x N pixels; resize=HxW
 *   crop=N                N x N pixels of it, anywhere; crop=HxW; crop=N@center; crop=N@ROW:COLUMN
 *   cutout=N              a square of N x N pixels anywhere becomes 0 after normalisation
 *   fill=zero|edge|reflect      what lies outside the picture
 *   filter=nearest|bilinear|bicubic|bicubic-resize      how it is read between its pixels
 *   double                the set twice: as it is, and augmented
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/augmentation/augment.h"
#include "data/augmentation/plan_values.h"

enum { WORD = 64 };

/* A word of a plan, cut at its "=". */
typedef struct {
    char text[WORD], name[WORD];
    const char *value; /* NULL: none */
} plan_word;

typedef struct {
    gr__plan *plan;
    char *reason;
    unsigned given; /* words that may come once, a bit each */
} parser;

typedef struct {
    const char *name, *takes; /* takes NULL: no value */
    bool may_be_bare, once;
    bool (*read)(parser *p, const plan_word *w);
} plan_rule;

static bool refuse(parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(parser *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(p->reason, GR__PLAN_REASON, format, list);
    va_end(list);
    return false;
}

static gr__step *add_step(parser *p, gr__step_kind kind)
{
    if (p->plan->n == GR__PLAN_STEPS) {
        refuse(p, "more than %d steps; leave some out", GR__PLAN_STEPS);
        return NULL;
    }
    gr__step *step = &p->plan->steps[p->plan->n++];
    *step = (gr__step){.kind = kind};
    return step;
}

/* A..B, or A alone: from -A to A where both_ways, else just A. */
static bool read_range(parser *p, const plan_word *w, gr__step *step, bool both_ways, double least, double most)
{
    const char *text = w->value;
    bool good = gr__plan_real(&text, &step->high);
    step->low = both_ways ? -step->high : step->high;
    if (good && !strncmp(text, "..", 2)) {
        text += 2;
        step->low = step->high;
        good = gr__plan_real(&text, &step->high);
    }
    if (!good || *text)
        return refuse(p, "\"%s\": wanted is a number, or two as A..B, such as %s=%s", w->text, w->name,
                      both_ways ? "15" : "0.9..1.1");
    if (step->low > step->high)
        return refuse(p, "\"%s\" runs backwards; write the smaller number first", w->text);
    if (step->low < least || step->high > most)
        return refuse(p, "\"%s\" goes too far; %s lies between %g and %g", w->text, w->name, least, most);
    return true;
}

static bool read_flip(parser *p, const plan_word *w)
{
    static const char *const modes[] = {"random", "alternate", "always", NULL}; /* in the order of gr__flip_mode */
    const int mode = w->value ? gr__plan_choice(w->value, modes) : GR__FLIP_RANDOM;
    if (mode < 0)
        return refuse(p, "\"%s\": flip is random, alternate or always", w->text);
    gr__step *step = add_step(p, GR__FLIP);
    if (step)
        step->flip = (gr__flip_mode)mode;
    return step;
}

static bool read_translate(parser *p, const plan_word *w)
{
    int64_t pixels;
    const char *text = w->value;
    if (!gr__plan_side(&text, &pixels) || *text)
        return refuse(p, "\"%s\": wanted is a number of whole pixels from 1 to %d, such as translate=4", w->text,
                      GR__PLAN_SIDE);
    gr__step *step = add_step(p, GR__TRANSLATE);
    if (step)
        step->high = (double)pixels;
    return step;
}

static bool read_shift(parser *p, const plan_word *w)
{
    gr__step *step = add_step(p, GR__SHIFT);
    if (step && !gr__plan_offset(w->value, step->at))
        return refuse(p, "\"%s\": wanted are whole pixels down and to the right, ROWS:COLUMNS, such as shift=1:-2",
                      w->text);
    return step;
}

static bool read_rotate(parser *p, const plan_word *w)
{
    gr__step *step = add_step(p, GR__ROTATE);
    return step && read_range(p, w, step, true, -360, 360);
}

static bool read_shear(parser *p, const plan_word *w)
{
    gr__step *step = add_step(p, GR__SHEAR);
    return step && read_range(p, w, step, true, -80, 80);
}

static bool read_scale(parser *p, const plan_word *w)
{
    gr__step *step = add_step(p, GR__SCALE);
    return step && read_range(p, w, step, false, 0.1, 10);
}

static bool read_resize(parser *p, const plan_word *w)
{
    gr__step *step = add_step(p, GR__RESIZE);
    const char *text = w->value;
    if (step && (!gr__plan_sides(&text, step->size) || *text))
        return refuse(p, "\"%s\": wanted is a side from 1 to %d or HxW, such as resize=250 or resize=240x320", w->text,
                      GR__PLAN_SIDE);
    return step;
}

static bool read_crop(parser *p, const plan_word *w)
{
    gr__step *step = add_step(p, GR__CROP);
    const char *text = w->value;
    if (!step)
        return false;
    step->at[0] = step->at[1] = GR__ANYWHERE_INSIDE;
    if (!gr__plan_sides(&text, step->size) || (*text && (*text != '@' || !gr__plan_place(text + 1, step))))
        return refuse(p,
                      "\"%s\": wanted is a side from 1 to %d or HxW, then nothing, @center or @ROW:COLUMN, such as "
                      "crop=200@0:0",
                      w->text, GR__PLAN_SIDE);
    return true;
}

static bool read_cutout(parser *p, const plan_word *w)
{
    const char *text = w->value;
    if (!gr__plan_side(&text, &p->plan->cutout) || *text)
        return refuse(p, "\"%s\": wanted is the side of a square in pixels, from 1 to %d, such as cutout=16", w->text,
                      GR__PLAN_SIDE);
    return true;
}

static bool read_fill(parser *p, const plan_word *w)
{
    static const char *const fills[] = {"zero", "edge", "reflect", NULL}; /* in the order of gr_fill */
    const int fill = gr__plan_choice(w->value, fills);
    if (fill < 0)
        return refuse(p, "\"%s\": fill is zero, edge or reflect", w->text);
    p->plan->fill = (gr_fill)fill;
    return true;
}

static bool read_filter(parser *p, const plan_word *w)
{
    /* in the order of gr_resampling */
    static const char *const filters[] = {"nearest", "bilinear", "bicubic", "bicubic-resize", NULL};
    const int filter = gr__plan_choice(w->value, filters);
    if (filter < 0)
        return refuse(p, "\"%s\": filter is nearest, bilinear, bicubic or bicubic-resize", w->text);
    p->plan->filter = (gr_resampling)filter;
    return true;
}

static bool read_double(parser *p, const plan_word *w)
{
    (void)w;
    return p->plan->doubled = true;
}

static const plan_rule rules[] = {
    {"flip", "alternate", true, false, read_flip},    {"translate", "4", false, false, read_translate},
    {"shift", "1:-2", false, false, read_shift},      {"rotate", "15", false, false, read_rotate},
    {"shear", "10", false, false, read_shear},        {"scale", "0.9..1.1", false, false, read_scale},
    {"resize", "250", false, false, read_resize},     {"crop", "200", false, false, read_crop},
    {"cutout", "16", false, true, read_cutout},       {"fill", "edge", false, true, read_fill},
    {"filter", "bilinear", false, true, read_filter}, {"double", NULL, true, true, read_double},
};

enum { RULES = sizeof rules / sizeof *rules };

static bool read_word(parser *p, const plan_word *w)
{
    for (int i = 0; i < RULES; i++) {
        const plan_rule *rule = &rules[i];
        if (strcmp(rule->name, w->name))
            continue;
        if (w->value && !rule->takes)
            return refuse(p, "\"%s\": %s stands alone; leave out what follows it", w->text, w->name);
        if (!w->value && !rule->may_be_bare)
            return refuse(p, "\"%s\" needs a value, such as %s=%s", w->text, w->name, rule->takes);
        if (rule->once && p->given >> i & 1)
            return refuse(p, "\"%s\": %s is there already; leave one of them out", w->text, w->name);
        p->given |= 1u << i;
        return rule->read(p, w);
    }
    if (!strcmp(w->name, "none"))
        return refuse(p, "\"none\" beside other steps; leave it out, or them");
    if (strpbrk(w->text, " \t"))
        return refuse(p, "\"%s\" has a space in it; write a plan without any, such as flip,crop=200", w->text);
    return refuse(p,
                  "\"%s\" is no step; there are flip, translate=N, shift=ROWS:COLUMNS, rotate=DEGREES, shear=DEGREES, "
                  "scale=A..B, resize=SIDE, crop=SIDE, cutout=SIDE, fill=MODE, filter=NAME and double",
                  w->text);
}

/* Cuts the next word off *text. */
static bool next_word(parser *p, const char **text, plan_word *w)
{
    const size_t length = strcspn(*text, ",");
    if (length == 0)
        return refuse(p, "a step is empty: a comma too many");
    if (length >= WORD)
        return refuse(p, "\"%.20s...\" is no step: too long", *text);
    memcpy(w->text, *text, length);
    w->text[length] = '\0';
    const size_t name = strcspn(w->text, "=");
    memcpy(w->name, w->text, name);
    w->name[name] = '\0';
    w->value = w->text[name] ? w->text + name + 1 : NULL;
    *text += length;
    return true;
}

bool gr__plan_parse(const char *text, gr__plan *plan, char reason[GR__PLAN_REASON])
{
    parser p = {.plan = plan, .reason = reason};
    *plan = (gr__plan){.filter = GR_BILINEAR};
    *reason = '\0';
    if (!*text || !strcmp(text, "none"))
        return true;
    for (;; text++) {
        plan_word w;
        if (!next_word(&p, &text, &w) || !read_word(&p, &w))
            return false;
        if (!*text)
            return true;
    }
}

/* verdict.c - see verdict.h. */
#include "train/verdict.h"

#include <stdarg.h>
#include <stdio.h>

/* Below these shares of the time nothing is worth a user's while. */
static const double worth_a_word = 0.1, worth_less_evaluation = 0.3;

typedef struct {
    char *text;
    size_t size, at;
    int cures;
} writer;

static void say(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->at, w->size - w->at, format, args);
    va_end(args);
    w->at = n < 0 || w->at + (size_t)n >= w->size ? w->size - 1 : w->at + (size_t)n;
}

/* ": " before the first cure of a complaint, " or " before the others. */
static void or (writer * w)
{
    say(w, w->cures++ ? " or " : ": ");
}

/* What waiting is for, and what shortens it. */
static void blame_waiting(writer *w, double share, const gr_time_use *t, const verdict_facts *f)
{
    const bool storage = f->late && t->reading > 0.5 * t->making;
    const double whole = t->wait + t->copy + t->compute + t->evaluate;
    const double busy = f->workers ? t->making / (f->workers * whole) : 1; /* of the workers' time */
    say(w, "%.0f %% of the time waiting for %s", 100 * share,
        storage   ? "files to be read"
        : f->late ? "decoding"
                  : "batches to be gathered");
    if (storage) {
        or (w);
        say(w, "faster storage");
    }
    if (f->workers && busy < 0.8) { /* they could have been ready: what they had made was not enough for long */
        or (w);
        say(w, "--prefetch %d", 2 * f->prefetch);
    } else if (f->workers ? f->workers < f->cpus || storage : f->apart) {
        or (w);
        say(w, "--workers %d", f->workers >= f->cpus ? 2 * f->workers : f->cpus);
    }
    if (f->late) {
        or (w);
        say(w, "--preload ram");
    } else if (f->apart && !f->on_device) {
        or (w);
        say(w, "--preload device");
    }
}

static void blame_copying(writer *w, double share, const verdict_facts *f)
{
    say(w, "%.0f %% of the time copying batches", 100 * share);
    if (f->apart && !f->on_device) {
        or (w);
        say(w, "--preload device");
    }
}

const char *verdict(const gr_time_use *t, const verdict_facts *facts, char *text, size_t size)
{
    writer w = {text, size, 0, 0};
    const double whole = t->wait + t->copy + t->compute + t->evaluate;
    text[0] = '\0';
    if (!(whole > 0))
        return text;
    const char *between = "";
    if (t->wait >= worth_a_word * whole) {
        blame_waiting(&w, t->wait / whole, t, facts);
        between = "; ";
    }
    w.cures = 0;
    if (t->copy >= worth_a_word * whole) {
        say(&w, "%s", between);
        blame_copying(&w, t->copy / whole, facts);
        between = "; ";
    }
    w.cures = 0;
    if (t->evaluate >= worth_less_evaluation * whole) {
        say(&w, "%s%.0f %% of the time evaluating", between, 100 * t->evaluate / whole);
        or (&w);
        say(&w, "--no-evaluation");
    }
    if (!w.at)
        say(&w, "%.0f %% of the time computing", 100 * (t->compute + t->evaluate) / whole);
    return text;
}

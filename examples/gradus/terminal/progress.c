/* progress.c - see progress.h. */
#include "terminal/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "terminal/system.h"
#include "terminal/text.h"

static const double redraw_after = 0.1, plain_line_after = 15; /* seconds */

static int terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

progress progress_open(void)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    progress p = {.width = terminal_width(), .last_draw = now_seconds()};
    p.terminal = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
    p.watch_every = p.terminal ? redraw_after : plain_line_after;
    p.colour = p.terminal && !(no_color && *no_color);
    return p;
}

void progress_clear(progress *p)
{
    if (p->line_open)
        fputs("\r\033[K", stderr);
    p->line_open = false;
}

void progress_bar(progress *p, const char *left, double share, const char *right)
{
    enum { WIDEST = 30, NARROWEST = 8 };
    double now = now_seconds();
    if (!p->terminal || (now - p->last_draw < redraw_after && share < 1))
        return;
    p->last_draw = now;
    int room = p->width - 1 - (int)strlen(left) - (int)strlen(right) - 4; /* brackets and two blanks */
    int bar = room > WIDEST ? WIDEST : room, full = (int)(share * bar);
    progress_clear(p);
    if (bar < NARROWEST) {
        fprintf(stderr, "%.*s", p->width - 1, right);
    } else {
        fprintf(stderr, "%s [%s", left, p->colour ? "\033[36m" : "");
        for (int i = 0; i < bar; i++)
            fputc(i < full ? '=' : i == full ? '>' : ' ', stderr);
        fprintf(stderr, "%s] %s", p->colour ? "\033[0m" : "", right);
    }
    p->line_open = true;
    fflush(stderr);
}

void progress_line(progress *p, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    progress_clear(p);
    print_plain(stderr, text);
    fputc('\n', stderr);
}

bool progress_due(progress *p, double seconds)
{
    double now = now_seconds();
    if (now - p->last_draw < seconds)
        return false;
    p->last_draw = now;
    return true;
}

/* --- of a training run -------------------------------------------------------------------------------------------- */

static void epoch_line(progress *p, const gr_progress *r)
{
    char time[32], of[32] = "", part[64] = "", val[64] = "", test[64] = "", scale[64] = "";
    if (r->epochs > 0)
        snprintf(of, sizeof of, "/%lld", (long long)r->epochs);
    if (r->batch_in_epoch < r->batches)
        snprintf(part, sizeof part, " (%lld of %lld batches)", (long long)r->batch_in_epoch, (long long)r->batches);
    if (r->val.samples > 0)
        snprintf(val, sizeof val, ", validation %.1f %%", 100 * r->val.accuracy);
    if (r->test.samples > 0)
        snprintf(test, sizeof test, ", test %.1f %%", 100 * r->test.accuracy);
    if (r->loss_scale != 1)
        snprintf(scale, sizeof scale, ", loss scale %g, %lld skipped", r->loss_scale, (long long)r->skipped);
    progress_line(p, "epoch %lld%s%s: loss %.4f, accuracy %.1f %%%s%s%s, %s (%.0f samples/s)", (long long)r->epoch, of,
                  part, r->loss, 100 * r->accuracy, val, test, scale, duration_text(r->seconds, time),
                  r->seconds > 0 ? (double)r->samples / r->seconds : 0);
}

void progress_fit(progress *p, const gr_progress *r)
{
    if (r->epoch_end) {
        epoch_line(p, r);
        p->last_draw = now_seconds();
        return;
    }
    const double share = fmin(1, r->updates > 0 ? (double)r->update / (double)r->updates
                                 : p->limit > 0 ? r->seconds / p->limit
                                                : 0);
    const double rate = (double)r->samples / r->seconds;
    char of[32] = "", left[64], right[128], time[32];
    duration_text(share > 0 ? r->seconds * (1 / share - 1) : 0, time);
    if (r->updates > 0)
        snprintf(of, sizeof of, "%s%lld", p->terminal ? "/" : " of ", (long long)r->updates);
    if (p->terminal) {
        snprintf(left, sizeof left, "%lld%s", (long long)r->update, of);
        snprintf(right, sizeof right, "epoch %lld  loss %.4f  %.0f samples/s  %s left", (long long)r->epoch, r->loss,
                 rate, time);
        progress_bar(p, left, share, right);
    } else if (progress_due(p, plain_line_after)) {
        progress_line(p, "update %lld%s: loss %.4f, %.0f samples/s, %s left", (long long)r->update, of, r->loss, rate,
                      time);
    }
}

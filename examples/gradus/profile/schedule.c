/* schedule.c - see schedule.h. */
#include "profile/schedule.h"

#include <string.h>

#include "terminal/complain.h"
#include "terminal/values.h"

enum { MOST = 100000 };

static const char shape[] = "a schedule is wait=N,warmup=N,active=N,repeat=N";

/* "active=3" into its field; named: a bit for each that had its turn. */
static int read_word(const char *word, schedule *s, unsigned *named, const char *command)
{
    const struct {
        const char *name;
        int64_t *field, low;
    } fields[] = {
        {"wait", &s->wait, 0}, {"warmup", &s->warmup, 0}, {"active", &s->active, 1}, {"repeat", &s->repeat, 1}};
    const size_t name = strcspn(word, "=");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strlen(fields[i].name) != name || strncmp(fields[i].name, word, name) != 0)
            continue;
        if (*named >> i & 1)
            return complain(GR_USAGE, command, "--schedule: %s is named twice", fields[i].name);
        *named |= 1u << i;
        if (word[name] == '=' && parse_count(word + name + 1, fields[i].low, MOST, fields[i].field))
            return 0;
        return complain(GR_USAGE, command, "--schedule: \"%s\" is not %s=N with N from %d to %d", word, fields[i].name,
                        (int)fields[i].low, MOST);
    }
    return complain(GR_USAGE, command, "--schedule: \"%s\" is not known; %s", word, shape);
}

int schedule_read(const char *text, schedule *s, const char *command)
{
    char word[32];
    unsigned named = 0;
    *s = (schedule){.wait = 1, .warmup = 1, .active = 3, .repeat = 1};
    while (text && next_entry(&text, word)) {
        const int code =
            *word ? read_word(word, s, &named, command) : complain(GR_USAGE, command, "--schedule: %s", shape);
        if (code)
            return code;
    }
    if (s->wait + s->warmup == 0)
        return complain(GR_USAGE, command,
                        "--schedule: the first update of a run is not like the others; wait or warmup must be at least "
                        "1");
    return 0;
}

static int64_t cycle(const schedule *s)
{
    return s->wait + s->warmup + s->active;
}

int64_t schedule_updates(const schedule *s)
{
    return cycle(s) * s->repeat;
}

phase schedule_phase(const schedule *s, int64_t update)
{
    const int64_t at = update % cycle(s);
    return at < s->wait ? PHASE_WAIT : at < s->wait + s->warmup ? PHASE_WARM_UP : PHASE_ACTIVE;
}

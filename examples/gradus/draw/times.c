/* times.c - see times.h. */
#include "draw/times.h"

#include <string.h>

#include "profile/profile.h"
#include "terminal/complain.h"
#include "terminal/json_values.h"

/* Whether the profile is of the run that is drawn. Returns 0 or an exit code, complained of. */
static int check(const char *folder, const json_t *of, const json_t *data, const char *command)
{
    static const char *const same[] = {"recipe", "optimizer", "precision"};
    bool fits = number_at(of, "batch") == number_at(data, "batch");
    for (int i = 0; i < 3; i++)
        fits = fits && strcmp(text_at(of, same[i]), text_at(data, same[i])) == 0;
    if (!fits)
        return complain(GR_USAGE, command,
                        "--profile %s: it is one of %s --batch %.0f --optimizer %s --precision %s; draw the same",
                        folder, text_at(of, "recipe"), number_at(of, "batch"), text_at(of, "optimizer"),
                        text_at(of, "precision"));
    if (!json_is_array(json_object_get(of, "modules")))
        return complain(GR_USAGE, command, "--profile %s: it does not tell layers apart; gradus profile --stack does",
                        folder);
    return 0;
}

/* The times of the layer of that name, made where there are none yet. NULL: there is no such layer, or no memory. */
static json_t *times_of(json_t *layers, const char *name)
{
    size_t i;
    json_t *layer;
    json_array_foreach(layers, i, layer)
    {
        if (strcmp(text_at(layer, "name"), name) != 0)
            continue;
        if (!json_object_get(layer, "times"))
            json_object_set_new(layer, "times", json_object());
        return json_object_get(layer, "times");
    }
    return NULL;
}

static int incomplete(const char *folder, const char *command)
{
    return complain(GR_BAD_DATA, command, "%s/profile.json is damaged: a number is missing; profile again", folder);
}

/* Adds up what layers take, in ms. "(none)", outside of layers, is the loss', the optimizer's and the data's. */
static int add_lines(const char *folder, const json_t *of, json_t *layers, const char *command, double *sum)
{
    size_t i;
    const json_t *l;
    json_array_foreach(json_object_get(of, "modules"), i, l)
    {
        const char *name = text_at(l, "op");
        if (strcmp(name, "(none)") == 0)
            continue;
        json_t *times = times_of(layers, name);
        if (!times)
            return complain(GR_USAGE, command,
                            "--profile %s: it has times of a layer %s, which the network drawn has not; --model, "
                            "--resize and --no-fusion must be as they were",
                            folder, name);
        if (json_object_set_new(times, text_at(l, "pass"), json_real(number_at(l, "ms"))) != 0)
            return incomplete(folder, command);
        *sum += number_at(l, "ms");
    }
    return 0;
}

int times_add(const char *folder, json_t *data, const char *command)
{
    json_t *from = NULL;
    double sum = 0;
    int code = profile_read(folder, command, &from);
    if (code == 0)
        code = check(folder, from, data, command);
    if (code == 0)
        code = add_lines(folder, from, json_object_get(data, "layers"), command, &sum);
    json_t *of = json_pack("{s:f, s:f, s:s, s:s, s:f, s:f}", "ms", number_at(from, "ms"), "updates",
                           number_at(from, "updates"), "device", text_at(from, "device"), "isa", text_at(from, "isa"),
                           "threads", number_at(from, "threads"), "layers", sum);
    if (json_object_set_new(data, "profile", of) != 0 && code == 0)
        code = incomplete(folder, command);
    json_decref(from);
    return code;
}

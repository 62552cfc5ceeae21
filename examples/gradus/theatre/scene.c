/* scene.c - see scene.h. */
#include "theatre/scene.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal/system.h"

enum { PATH_ROOM = 4096, SOURCE_MOST = 256 * 1024 };

/* --- sources ------------------------------------------------------------------------------------------------------ */

/* The text of a file of moderate size, or NULL; *unread: it is there and could not be read. */
static json_t *text_of(const char *path, bool *unread)
{
    static char
        text[SOURCE_MOST + 2]; /* so that there is always room, and a page never lacks a source for want of it */
    struct stat s;
    const size_t n = read_beginning(path, text, sizeof text);
    *unread = n <= SOURCE_MOST && access(path, R_OK) == 0 && stat(path, &s) == 0 && S_ISREG(s.st_mode) &&
              n != (size_t)s.st_size;
    return n > 0 && n <= SOURCE_MOST ? json_stringn(text, n) : NULL;
}

/* Paths in the text as seen from here. */
static void shorten_paths(char *text)
{
    char here[PATH_ROOM];
    if (!getcwd(here, sizeof here - 1))
        return;
    strcat(here, "/");
    const size_t n = strlen(here);
    for (char *at = text; (at = strstr(at, here));)
        memmove(at, at + n, strlen(at + n) + 1);
}

/*
 * One name for a file, whichever way it was named: as seen from here. Gradus' own are named from their root, which is
 * above the build.
 */
static void name_file(char file[PATH_ROOM])
{
    char found[PATH_ROOM], whole[PATH_MAX];
    snprintf(found, sizeof found, "%s", file);
    if (*file != '/' && access(file, R_OK))
        find_companion(".", file, found, sizeof found);
    if (realpath(found, whole))
        snprintf(file, PATH_ROOM, "%s", whole);
    shorten_paths(file);
}

/* "FILE:LINE" in its parts; the file's text is put among the sources. Returns the line, 0: it names none. */
static int take_place(json_t *data, const char *place, char file[PATH_ROOM])
{
    json_t *sources = json_object_get(data, "sources");
    snprintf(file, PATH_ROOM, "%s", place);
    char *colon = strrchr(file, ':');
    const int line = colon ? atoi(colon + 1) : 0;
    if (!line)
        return 0;
    *colon = '\0';
    name_file(file);
    bool unread = false;
    json_t *text = json_object_get(sources, file) ? NULL : text_of(file, &unread);
    if (text)
        json_object_set_new(sources, file, text);
    if (unread)
        json_object_set_new(data, "unread", json_string(file));
    return line;
}

static void add_site(json_t *data, const char *place)
{
    char file[PATH_ROOM];
    const int line = take_place(data, place, file);
    json_array_append_new(json_object_get(data, "sites"), json_pack("[s, i]", file, line));
}

/* [NAME, ...]; a name that ends with "... at FILE:LINE" lets the page say which variable that is. */
static void add_object(json_t *data, json_t *object)
{
    char file[PATH_ROOM];
    const char *name = json_string_value(json_array_get(object, 0)), *at = strstr(name, " at ");
    const int line = at ? take_place(data, at + 4, file) : 0;
    if (line)
        json_array_set_new(object, 0, json_sprintf("%.*s at %s:%d", (int)(at - name), name, file, line));
    json_array_append(json_object_get(data, "objects"), object);
}

/* --- lines of the recording --------------------------------------------------------------------------------------- */

static void add_end(json_t *data, json_t *end)
{
    char fault[PATH_ROOM];
    const char *text = json_string_value(json_object_get(end, "fault"));
    snprintf(fault, sizeof fault, "%s", text ? text : "");
    shorten_paths(fault);
    if (text)
        json_object_set_new(end, "fault", json_string(fault));
    json_object_set(data, "end", end);
}

/* One line goes where it belongs. What is cut off, where the program died, is no JSON and nowhere. */
static void take_line(json_t *data, json_t *launches, json_t *line)
{
    json_t *value;
    if (json_is_array(line))
        json_array_append(json_object_get(data, "events"), line);
    else if ((value = json_object_get(line, "launch")))
        json_array_append(launches, value);
    else if ((value = json_object_get(line, "site")))
        add_site(data, json_string_value(json_array_get(value, 1)));
    else if ((value = json_object_get(line, "object"))) {
        json_array_remove(value, 0);
        add_object(data, value);
    } else if ((value = json_object_get(line, "scene")))
        json_object_set(data, "scene", value);
    else if ((value = json_object_get(line, "end")))
        add_end(data, value);
}

/* Where nothing was watched there is no file. Returns 0 or an exit code, complained of. */
static int read_lines(const char *path, json_t *data, json_t *launches)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    if (!f)
        return errno == ENOENT ? 0 : complain_of_file(path, "cannot be read", "theatre");
    while (getline(&text, &room, f) > 0) {
        json_t *line = json_loads(text, 0, NULL);
        if (line)
            take_line(data, launches, line);
        json_decref(line);
    }
    const int code = feof(f) ? 0 : complain_of_file(path, "cannot be read", "theatre"); /* or no memory for a line */
    free(text);
    fclose(f);
    return code;
}

/* --- why there is no such block ----------------------------------------------------------------------------------- */

static const char *kernel_of(const json_t *launch)
{
    return json_string_value(json_object_get(launch, "kernel"));
}

/* The kernels that were launched, each once: "a, b<3>". */
static void list_kernels(const json_t *launches, char *text, size_t room)
{
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const char *name = kernel_of(json_array_get(launches, i));
        bool before = false;
        for (size_t j = 0; j < i; j++)
            before |= !strcmp(name, kernel_of(json_array_get(launches, j)));
        const size_t used = strlen(text);
        if (!before)
            snprintf(text + used, room - used, "%s%s", used ? ", " : "", name);
    }
}

/* Whether the emulator takes the name for that kernel: k also names k<3> and space::k. */
static bool is_kernel(const char *name, const char *kernel)
{
    const char *begin = kernel + (*kernel == '('), *end = begin + strcspn(begin, "<)");
    const size_t n = strlen(name);
    return !strcmp(name, kernel) || ((size_t)(end - begin) >= n && !strncmp(end - n, name, n) &&
                                     (end - n == begin || end[-(ptrdiff_t)n - 1] == ':'));
}

static bool in_grid(const json_t *launch, const unsigned block[3])
{
    const json_t *grid = json_object_get(launch, "grid");
    for (size_t i = 0; i < 3; i++)
        if (block[i] >= (unsigned)json_integer_value(json_array_get(grid, i)))
            return false;
    return true;
}

static int explain(const scene_wish *wish, const json_t *launches)
{
    char kernels[1024];
    const json_t *launch = NULL;
    int64_t times = 0;
    const int64_t wanted = wish->launch ? wish->launch : 1;
    const unsigned *b = wish->block;
    list_kernels(launches, kernels, sizeof kernels);
    if (!*kernels)
        return complain(GR_USAGE, "theatre",
                        "the program launched no kernel that is watched: kernel<<<blocks, threads>>>(...) launches "
                        "one; a program that was compiled before must be by gradus-simt --check, a gradus with every "
                        "access checked (cmake --preset check)");
    for (size_t i = 0; i < json_array_size(launches) && times < wanted; i++)
        if (!wish->kernel || is_kernel(wish->kernel, kernel_of(json_array_get(launches, i))))
            launch = json_array_get(launches, i), times++;
    if (!launch)
        return complain(GR_USAGE, "theatre", "no kernel \"%s\" was launched; there were: %s", wish->kernel, kernels);
    if (times < wanted)
        return complain(GR_USAGE, "theatre", "%s was launched %lld %s, not %lld", kernel_of(launch), (long long)times,
                        times == 1 ? "time" : "times", (long long)wanted);
    if (!in_grid(launch, b)) {
        const json_t *g = json_object_get(launch, "grid");
        return complain(GR_USAGE, "theatre", "block (%u,%u,%u) is not in the grid (%d,%d,%d) of %s", b[0], b[1], b[2],
                        (int)json_integer_value(json_array_get(g, 0)), (int)json_integer_value(json_array_get(g, 1)),
                        (int)json_integer_value(json_array_get(g, 2)), kernel_of(launch));
    }
    return complain(GR_DEVICE_FAULT, "theatre",
                    "block (%u,%u,%u) of %s did not begin: a block before it went wrong, or the program ended", b[0],
                    b[1], b[2], kernel_of(launch));
}

int scene_read(const char *path, const scene_wish *wish, json_t **data)
{
    json_t *launches = json_array();
    *data = json_pack("{s:n, s:[], s:n, s:[], s:[], s:{}}", "scene", "events", "end", "sites", "objects", "sources");
    int code = read_lines(path, *data, launches);
    const char *unread = json_string_value(json_object_get(*data, "unread"));
    if (code == 0 && unread)
        code = complain(GR_IO_ERROR, "theatre", "%s cannot be read", unread);
    if (code == 0 && !json_is_object(json_object_get(*data, "scene")))
        code = explain(wish, launches);
    json_decref(launches);
    return code;
}

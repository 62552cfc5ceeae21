/* survey.c - see survey.h. */
#include "sources/survey.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "sources/format.h"
#include "terminal/complain.h"
#include "terminal/system.h"
#include "terminal/text.h"

/* Things of one kind that are passed over, and the first of them. */
typedef struct {
    long n;
    char first[PATH_SIZE];
} passed;

typedef struct {
    passed beside, within, others, torn;
} survey;

static void note(passed *p, const char *path)
{
    if (p->n++ == 0)
        snprintf(p->first, sizeof p->first, "%s", path);
}

static void tell(const passed *p, const char *one, const char *many, const char *why)
{
    if (p->n == 0)
        return;
    fprintf(stderr, "left out %ld %s, such as ", p->n, p->n == 1 ? one : many);
    print_plain(stderr, p->first);
    fprintf(stderr, ": %s\n", why);
}

static bool is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0 || strcasecmp(dot, ".png") == 0);
}

/*
 * Entries of a folder in the order of their names, hidden ones and macOS' shadows left out, to be freed one by one.
 * -1: unreadable.
 */
static int entries(const char *folder, struct dirent ***list)
{
    int n = scandir(folder, list, NULL, alphasort), kept = 0;
    for (int i = 0; i < n; i++) {
        if ((*list)[i]->d_name[0] == '.' || strcmp((*list)[i]->d_name, "__MACOSX") == 0)
            free((*list)[i]);
        else
            (*list)[kept++] = (*list)[i];
    }
    return n < 0 ? n : kept;
}

static void look_into(const char *class_folder, survey *s)
{
    struct dirent **list;
    const int n = entries(class_folder, &list);
    for (int i = 0; i < n; i++) {
        char path[PATH_SIZE];
        if (snprintf(path, sizeof path, "%s/%s", class_folder, list[i]->d_name) < (int)sizeof path) {
            if (is_folder(path))
                note(&s->within, path);
            else if (!is_picture(path))
                note(&s->others, path);
        }
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

/* Class folders that only a person who looks closely can tell apart. */
static void tell_twins(struct dirent **classes, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (strcasecmp(classes[i]->d_name, classes[j]->d_name) == 0) {
                fprintf(stderr, "the class folders ");
                print_plain(stderr, classes[i]->d_name);
                fprintf(stderr, " and ");
                print_plain(stderr, classes[j]->d_name);
                fprintf(stderr, " differ in letter case alone: they are two classes; merge them if they are one\n");
            }
}

void survey_tell(const char *folder)
{
    struct dirent **list;
    survey s = {0};
    if (is_quiet())
        return;
    int n = entries(folder, &list), classes = 0;
    for (int i = 0; i < n; i++) {
        char path[PATH_SIZE];
        const bool fits = snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name) < (int)sizeof path;
        if (fits && is_folder(path)) {
            look_into(path, &s);
            list[classes++] = list[i];
            continue;
        }
        if (fits)
            note(access(path, F_OK) == 0 ? &s.beside : &s.torn, path);
        free(list[i]);
    }
    tell_twins(list, classes);
    for (int i = 0; i < classes; i++)
        free(list[i]);
    if (n >= 0)
        free(list);
    tell(&s.beside, "file", "files", "a picture belongs into the folder of its class");
    tell(&s.torn, "symbolic link", "symbolic links",
         "nothing is found at its other end, which may have been a class; mend or remove it");
    tell(&s.within, "folder", "folders", "pictures are taken from the class folders alone, not from folders in them");
    tell(&s.others, "file", "files", "pictures are .jpg, .jpeg and .png");
}

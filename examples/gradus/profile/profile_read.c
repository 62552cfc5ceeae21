/* profile_read.c - a profile as it was written. */
#include <stdio.h>

#include "profile/profile.h"
#include "terminal/complain.h"
#include "terminal/json_memory.h"

int profile_read(const char *folder, const char *command, json_t **of)
{
    char path[3072];
    json_fault why;
    snprintf(path, sizeof path, "%s/profile.json", folder);
    *of = json_read(path, &why);
    if (!*of)
        return complain(why.code, command, "%s is no profile: %s; gradus profile RECIPE --out %s makes one", path,
                        why.text, folder);
    if (!json_is_array(json_object_get(*of, "operations")))
        return complain(GR_BAD_DATA, command, "%s is no profile: it has no list \"operations\"", path);
    return 0;
}

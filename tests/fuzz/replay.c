/* replay.c - feeds a fuzz target every file of a folder, in the order of names: replay FOLDER. Any compiler will do. */
#include <dirent.h>

#include "fuzz.h"

static void feed(const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *in = fopen(path, "rb");
    must(in);
    size_t size = fread(bytes, 1, sizeof bytes, in);
    must(!ferror(in) && feof(in));
    fclose(in);
    LLVMFuzzerTestOneInput(bytes, size);
}

/* Returns how many files there were. */
static int feed_folder(const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort), fed = 0;
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            feed(path);
            fed++;
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return fed;
}

int main(int argc, char **argv)
{
    int fed = argc == 2 ? feed_folder(argv[1]) : 0;
    printf("%d inputs\n", fed);
    return fed > 0 ? 0 : 1;
}

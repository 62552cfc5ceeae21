/* cifar10.c - CIFAR-10 as it is published for programs in C: a folder of binary files, or the archive of it. */
#include <stdio.h>

#include "sources/format.h"
#include "sources/source.h"
#include "terminal/system.h"

static bool is_cifar10(const char *path)
{
    return has_file(path, "data_batch_1.bin") || (ends_in(path, "cifar-10-binary.tar.gz") && is_readable_file(path));
}

static bool find(const recipe *r, const char *root, char *path, size_t size)
{
    (void)r;
    snprintf(path, size, "%s/cifar-10-batches-bin", root);
    if (is_folder(path))
        return true;
    snprintf(path, size, "%s/cifar-10-binary.tar.gz", root);
    if (is_readable_file(path))
        return true;
    snprintf(path, size, "%s", root);
    return has_file(root, "data_batch_1.bin") || (ends_in(root, ".tar.gz") && is_readable_file(root));
}

static int open_cifar10(gr_context *ctx, const resolved *s, const char *path, const char *command, source *data)
{
    (void)s;
    (void)command;
    data->split = gr_cifar10(ctx, path);
    return 0;
}

const format cifar10_format = {.name = "CIFAR-10's files",
                               .channels = 3,
                               .wanted = "cifar-10-batches-bin or cifar-10-binary.tar.gz",
                               .find = find,
                               .cure = cure_by_fetching,
                               .open = open_cifar10,
                               .is = is_cifar10,
                               .read = gr_cifar10};

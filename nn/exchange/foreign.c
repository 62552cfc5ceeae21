/* foreign.c - files of weights that other tools write by default and that are not read: what they are, and the cure. */
#include <string.h>

#include "nn/exchange/exchange.h"

/* Whether bytes begin a zip archive whose first member's name ends so. */
static bool zip_begins(const char *bytes, size_t n, const char *end)
{
    enum { LOCAL_HEADER = 30 };
    if (n < LOCAL_HEADER || memcmp(bytes, "PK\3\4", 4) != 0)
        return false;
    const size_t length = (unsigned char)bytes[26] | (size_t)(unsigned char)bytes[27] << 8, tail = strlen(end);
    return length >= tail && LOCAL_HEADER + length <= n && memcmp(bytes + LOCAL_HEADER + length - tail, end, tail) == 0;
}

const char *gr__foreign_weights(const char *bytes, size_t n)
{
    static const char pickled[] = "\x80\2\x8a\x0a\x6c\xfc\x9c\x46", hdf5[] = "\x89HDF\r\n\x1a\n";
    if (zip_begins(bytes, n, "data.pkl") || (n >= 8 && memcmp(bytes, pickled, 8) == 0))
        return "a pickle of PyTorch, which is never read, as that runs what is in it; in Python: "
               "safetensors.torch.save_file(net.state_dict(), FILE)";
    if (zip_begins(bytes, n, "metadata.json") || (n >= 8 && memcmp(bytes, hdf5, 8) == 0))
        return "a file of Keras' own, or HDF5, which is not read; in Python: "
               "safetensors.numpy.save_file({w.path: w.numpy() for w in model.weights}, FILE)";
    return NULL;
}

/* coverage.cc - see coverage.h. */
#include "tests/ptx/interpreter/coverage.h"

#include <cstdio>

#include "tests/ptx/interpreter/settings.h"

namespace ptx
{
static std::string digits_of(const program &p, uint64_t *times)
{
    std::string digits;
    *times = 0;
    for (size_t k = 0; k < p.code.size(); k += 4) {
        unsigned digit = 0;
        for (size_t j = k; j < k + 4; j++) {
            digit = 2 * digit + (j < p.code.size() && p.code[j].times);
            *times += j < p.code.size() ? p.code[j].times : 0;
        }
        digits += "0123456789abcdef"[digit];
    }
    return digits;
}

/* The file of the kernel's own line: "conv2d.cu". */
static std::string source_of(const program &p)
{
    const std::string path = p.home->file(p.origins.empty() ? 0 : p.origins[0].from->file);
    return path.substr(path.rfind('/') + 1);
}

void append_coverage(const std::string &file, const std::vector<covered> &kernels)
{
    FILE *out = fopen(file.c_str(), "a");
    if (!out) {
        perror(file.c_str());
        return;
    }
    for (const covered &k : kernels) {
        uint64_t times = 0;
        const std::string ran = k.code ? digits_of(*k.code, &times) : "";
        fprintf(out,
                "{\"kernel\": \"%s\", \"source\": \"%s\", \"arch\": %u, \"launches\": %llu, \"instructions\": %zu, "
                "\"ran\": \"%s\", \"times\": %llu}\n",
                k.name.c_str(), k.code ? source_of(*k.code).c_str() : "?", asked().arch,
                k.code ? (unsigned long long)k.code->launches : 0, k.code ? k.code->code.size() : 0, ran.c_str(),
                (unsigned long long)times);
    }
    fclose(out);
}
} // namespace ptx

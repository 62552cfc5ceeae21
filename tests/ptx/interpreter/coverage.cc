/* coverage.cc - see coverage.h. */
#include "tests/ptx/interpreter/coverage.h"

#include <sys/file.h>

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

/* "conv2d.cu" */
static std::string file_of(const program &p, size_t number)
{
    const std::string path = p.home->file(number < p.origins.size() ? p.origins[number].from->file : 0);
    return path.substr(path.rfind('/') + 1);
}

/* The source's lines behind the instructions, one after the other, with how many of them: "3*gemm.cuh:31 ". */
static std::string lines_of(const program &p)
{
    std::string lines;
    for (size_t first = 0, next; first < p.origins.size(); first = next) {
        const statement &s = *p.origins[first].from;
        for (next = first + 1; next < p.origins.size(); next++)
            if (p.origins[next].from->file != s.file || p.origins[next].from->line != s.line)
                break;
        lines += std::to_string(next - first) + "*" + file_of(p, first) + ":" + std::to_string(s.line) + " ";
    }
    return lines;
}

void append_coverage(const std::string &file, const std::vector<covered> &kernels)
{
    FILE *out = fopen(file.c_str(), "a");
    if (!out) {
        perror(file.c_str());
        return;
    }
    flock(fileno(out), LOCK_EX); /* several programs may end at a time; closing the file lets go */
    for (const covered &k : kernels) {
        uint64_t times = 0;
        const std::string ran = k.code ? digits_of(*k.code, &times) : "";
        fprintf(out,
                "{\"kernel\": \"%s\", \"source\": \"%s\", \"arch\": %u, \"launches\": %llu, \"instructions\": %zu, "
                "\"ran\": \"%s\", \"times\": %llu, \"lines\": \"%s\"}\n",
                k.name.c_str(), k.code ? file_of(*k.code, 0).c_str() : "?", asked().arch,
                k.code ? (unsigned long long)k.code->launches : 0, k.code ? k.code->code.size() : 0, ran.c_str(),
                (unsigned long long)times, k.code ? lines_of(*k.code).c_str() : "");
    }
    fclose(out);
}
} // namespace ptx

/* coverage.cc - see coverage.h. */
#include "tests/ptx/interpreter/coverage.h"

#include <sys/file.h>

#include <algorithm>
#include <cstdio>

#include "tests/ptx/interpreter/settings.h"

namespace ptx
{
static std::string digits_of(const std::vector<bool> &bits)
{
    std::string digits;
    for (size_t k = 0; k < bits.size(); k += 4) {
        unsigned digit = 0;
        for (size_t j = k; j < k + 4; j++)
            digit = 2 * digit + (j < bits.size() && bits[j]);
        digits += "0123456789abcdef"[digit];
    }
    return digits;
}

static std::vector<bool> ran(const program &p)
{
    std::vector<bool> bits;
    for (const instruction &i : p.code)
        bits.push_back(i.times);
    return bits;
}

static uint64_t times(const program &p)
{
    uint64_t sum = 0;
    for (const instruction &i : p.code)
        sum += i.times;
    return sum;
}

static bool is_long_division(const statement &s)
{
    return (s.words[0] == "div" || s.words[0] == "rem") && (s.has("s64") || s.has("u64"));
}

/*
 * Divisions of 64 bits that nvcc has put behind a branch: it is taken where both numbers fit into 32 bits, and leads to
 * a shorter division. All between that branch and the one that leads back.
 */
static std::vector<bool> long_divisions(const program &p)
{
    const size_t none = p.origins.size();
    std::vector<bool> bits(none);
    size_t begin = none; /* behind the last branch that not all take */
    bool divides = false;
    for (size_t k = 0; k < p.origins.size(); k++) {
        const statement &s = *p.origins[k].from;
        if (is_long_division(s) && begin != none) {
            divides = true;
            std::fill(bits.begin() + (ptrdiff_t)begin, bits.begin() + (ptrdiff_t)k, true);
        }
        bits[k] = divides;
        if (s.words[0] == "bra") {
            divides = false;
            begin = s.guard.empty() ? none : k + 1;
        }
    }
    return bits;
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
        if (!k.code) {
            fprintf(out, "{\"kernel\": \"%s\", \"arch\": %u, \"launches\": 0}\n", k.name.c_str(), asked().arch);
            continue;
        }
        const program &p = *k.code;
        fprintf(out,
                "{\"kernel\": \"%s\", \"source\": \"%s\", \"arch\": %u, \"launches\": %llu, \"instructions\": %zu, "
                "\"ran\": \"%s\", \"long_divisions\": \"%s\", \"times\": %llu, \"lines\": \"%s\"}\n",
                k.name.c_str(), file_of(p, 0).c_str(), asked().arch, (unsigned long long)p.launches, p.code.size(),
                digits_of(ran(p)).c_str(), digits_of(long_divisions(p)).c_str(), (unsigned long long)times(p),
                lines_of(p).c_str());
    }
    fclose(out);
}
} // namespace ptx

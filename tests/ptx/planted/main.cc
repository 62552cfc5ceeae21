/*
 * main.cc - runs every planted slip and its correct twin in several orders: the slip must be found in each of them,
 * with the words that it names, and the twin must give its result without a word.
 *
 *   test_ptx FOLDER            all of FOLDER's *.slips; a line for each that is not as it should be
 *   test_ptx FOLDER NAME       what is said of one, in each order
 *
 * A file has a heading and slips:
 *
 *   slip NAME
 *   launch BLOCKS THREADS [BYTES]      bytes of dynamic shared memory
 *   wrong BLOCKS THREADS [BYTES]       of the slip's launch, if it is another one
 *   limit THREADS                      the kernel's .maxntid
 *   found WORDS [ | WORDS]             what the fault says, by the order; "result": none, but a wrong result
 *   out I = V                          element I of the result
 *
 * and then instructions; a line that ends in "// right" is the twin's alone, in "// wrong" the slip's. They find %r0
 * the thread, %r1 = 4 %r0, %r2 the block, %rd0 out, %rd1 in, %rd2 the thread's element of in, %rd3 the thread's element
 * of out, which has one for each thread of the grid. in has 256 elements: 0, 1, 2, ...; map tells TMA of them as 8 rows
 * of 64 halves, to be brought as one tile that is swizzled within 128 bytes; box as [2][2][2][64] halves, likewise, but
 * of the third dimension every second.
 */
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/ptx/interpreter/launch.h"
#include "tests/ptx/interpreter/regions.h"
#include "tests/ptx/interpreter/settings.h"
#include "tests/ptx/interpreter/tensor_map.h"

struct shape {
    unsigned blocks = 1, threads = 32, bytes = 0;
};

struct slip {
    std::string file, name, found, right, wrong;
    shape launch, wrong_launch;
    unsigned limit = 0, element = 0;
    float value = 0;
};

enum { IN = 256 };

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool ends_in(const std::string &s, const char *end)
{
    const size_t n = strlen(end);
    return s.size() >= n && !s.compare(s.size() - n, n, end);
}

static void read_line(slip *s, const std::string &line)
{
    std::istringstream in(line);
    std::string key, equals;
    in >> key;
    if (key == "launch") {
        in >> s->launch.blocks >> s->launch.threads >> s->launch.bytes;
        s->wrong_launch = s->launch;
    } else if (key == "wrong") {
        in >> s->wrong_launch.blocks >> s->wrong_launch.threads >> s->wrong_launch.bytes;
    } else if (key == "limit") {
        in >> s->limit;
    } else if (key == "found") {
        s->found = line.substr(strlen("found "));
    } else if (key == "out") {
        in >> s->element >> equals >> s->value;
    } else {
        if (!ends_in(line, "// wrong"))
            s->right += line + "\n";
        if (!ends_in(line, "// right"))
            s->wrong += line + "\n";
    }
}

static std::vector<slip> read_all(const char *folder)
{
    std::vector<slip> all;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".slips")
            continue;
        std::ifstream file(entry.path());
        std::string line;
        bool heading = true;
        while (std::getline(file, line)) {
            if (line.rfind("slip ", 0) == 0) {
                heading = false;
                all.emplace_back();
                all.back().file = entry.path().filename();
                all.back().name = line.substr(strlen("slip "));
            } else if (!heading) {
                read_line(&all.back(), line);
            }
        }
    }
    return all;
}

/* --- running ------------------------------------------------------------------------------------------------------ */

static std::string text_of(const slip &s, const std::string &body)
{
    const std::string limit = s.limit ? ".maxntid " + std::to_string(s.limit) + ", 1, 1\n" : "";
    return ".version 9.0\n.target sm_80\n.address_size 64\n"
           ".visible .entry slip(.param .u64 out, .param .u64 in, .param .align 64 .b8 map[128], "
           ".param .align 64 .b8 box[128])\n" +
           limit +
           "{\n"
           ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<72>;\n.reg .b64 %rd<8>;\n"
           ".shared .align 16 .b8 tile[1024];\n"
           "ld.param.u64 %rd0, [out];\nld.param.u64 %rd1, [in];\n"
           "mov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\nmov.u32 %r2, %ctaid.x;\n"
           "mul.wide.u32 %rd2, %r0, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
           "mov.u32 %r3, %ntid.x;\nmad.lo.s32 %r3, %r3, %r2, %r0;\n"
           "mul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd3, %rd0, %rd3;\n" +
           body + "ret;\n}\n";
}

/* Memory of the device that ends at a page, as the bounds do. */
static float *floats(size_t count)
{
    float *p = (float *)mmap(nullptr, 4096 * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ptx::region_add(p, count * sizeof *p);
    return p;
}

static void drop(float *p)
{
    ptx::region_remove(p);
    munmap(p, 4096 * 8);
}

struct arguments {
    float *out, *in;
    alignas(64) ptx::tensor_map map, box;
};

/* What is said of it: a fault, "result" or "right". */
static std::string outcome(const slip &s, bool right)
{
    const shape &n = right ? s.launch : s.wrong_launch;
    float *out = floats((size_t)n.blocks * n.threads), *in = floats(IN);
    for (int i = 0; i < IN; i++)
        in[i] = (float)i;
    std::string words;
    try {
        ptx::module m(text_of(s, right ? s.right : s.wrong));
        const std::unique_ptr<ptx::program> p(ptx::decode(&m, "slip"));
        ptx::launch l;
        const arguments given = {
            out,
            in,
            {ptx::TENSOR_MAP, (uint64_t)in, {64, 8, 1, 1}, {2, 128, 0, 0}, {64, 8, 1, 1}, {1, 1, 1, 1}, 2, 3, {}},
            {ptx::TENSOR_MAP, (uint64_t)in, {64, 2, 2, 2}, {2, 128, 256, 512}, {64, 2, 2, 2}, {1, 2, 1, 1}, 4, 3, {}}};
        l.grid.x = n.blocks;
        l.block.x = n.threads;
        l.dynamic_shared = n.bytes;
        l.parameters = (const char *)&given;
        ptx::run(p.get(), l);
        words = out[s.element] == s.value ? "right" : "result: " + std::to_string(out[s.element]);
    } catch (const std::exception &e) {
        words = e.what();
    }
    drop(out);
    drop(in);
    return words;
}

static bool says(const std::string &words, const std::string &found)
{
    const size_t bar = found.find(" | ");
    if (words.find(found.substr(0, bar)) != std::string::npos)
        return true;
    return bar != std::string::npos && words.find(found.substr(bar + 3)) != std::string::npos;
}

/* One line for each run that is not as it should be; all of them where loud. */
static int check(const slip &s, bool loud)
{
    static const char *const runs[] = {"order=forward copies=late", "order=reverse copies=early sums=down",
                                       "order=random:1 copies=late sums=pairs", "order=random:2 copies=early sums=up",
                                       "order=random:3 copies=late"};
    int failures = 0;
    for (const char *run : runs) {
        std::string wrong;
        if (!ptx::understand(run, &ptx::asked(), &wrong))
            return 1;
        const std::string slipped = outcome(s, false), twin = outcome(s, true);
        const bool found = says(slipped, s.found), good = twin == "right";
        failures += !found + !good;
        if (!found || loud)
            printf("%s: %s, %s: %s\n", s.file.c_str(), s.name.c_str(), run, slipped.c_str());
        if (!good || loud)
            printf("%s: %s's twin, %s: %s\n", s.file.c_str(), s.name.c_str(), run, twin.c_str());
    }
    return failures;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: test_ptx FOLDER [NAME]\n");
        return 2;
    }
    const std::vector<slip> all = read_all(argv[1]);
    int failures = 0, count = 0;
    for (const slip &s : all)
        if (argc < 3 || s.name == argv[2]) {
            failures += check(s, argc > 2);
            count++;
        }
    printf("%d slips, %d failures\n", count, failures);
    return failures || !count;
}

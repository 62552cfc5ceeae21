/*
 * cpu_device.c - the device "cpu": tuned kernels in the best instruction set of this processor, reference kernels for
 * the operations that have none.
 */
#include <stdlib.h>
#include <string.h>
#if defined(GRADUS_WITH_VECTORS)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "core/parallel.h"
#include "kernels/devices/host_memory.h"
#include "kernels/ops/kernels.h"

typedef struct {
    gr_device device; /* first: a gr_device * is a cpu_device * */
    gr_kernel kernels[GR_OP_COUNT];
} cpu_device;

static bool has_plain(void)
{
    return true;
}

#if defined(GRADUS_WITH_VECTORS)
/* clang 14 knows no __builtin_cpu_supports("f16c"). */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* Products of pairs of bf16. */
static bool has_avx512_bf16(void)
{
    enum { AVX512_BF16 = 1 << 5 };
    unsigned a, b, c, d;
    return has_avx512() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & AVX512_BF16);
}

/*
 * Tiles of bf16, which Linux lets a process use once it has asked: a thread's state is 8 KiB larger then. gcc 12 and
 * clang 14 know no __builtin_cpu_supports("amx-bf16").
 */
static bool has_amx(void)
{
    enum { AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    unsigned a, b, c, d;
    return has_avx512_bf16() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & AMX_BF16) && (d & AMX_TILE) &&
           syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
#endif

/* Best first; behind "plain" those that only GRADUS_CPU chooses. */
static const struct {
    const char *name;
    bool (*supported)(void);
    const gr_kernel *kernels, *beneath; /* where kernels have none; NULL: the reference serves */
    const gr_probes *probes;
    bool pieces; /* its order of summing is such that pieces of bf16 make products of floats */
} instruction_sets[] = {
#if defined(GRADUS_WITH_VECTORS)
    {"amx", has_amx, gr__cpu_amx_kernels, gr__cpu_avx512_kernels, &gr__cpu_avx512_probes, true},
    {"avx512-bf16", has_avx512_bf16, gr__cpu_avx512_bf16_kernels, gr__cpu_avx512_kernels, &gr__cpu_avx512_probes,
     false},
    {"avx512", has_avx512, gr__cpu_avx512_kernels, NULL, &gr__cpu_avx512_probes, false},
    {"avx2", has_avx2, gr__cpu_avx2_kernels, NULL, &gr__cpu_avx2_probes, false},
#endif
    {"plain", has_plain, gr__cpu_plain_kernels, NULL, &gr__cpu_plain_probes, false},
    {"amx-emulated", has_plain, gr__cpu_amx_emulated_kernels, gr__cpu_plain_kernels, &gr__cpu_plain_probes, true},
    {"bf16-emulated", has_plain, gr__cpu_bf16_emulated_kernels, gr__cpu_plain_kernels, &gr__cpu_plain_probes, false},
};

enum { SETS = sizeof instruction_sets / sizeof *instruction_sets };

const char *gr_isa(int i)
{
    int set = 0;
    while (instruction_sets[set].supported != has_plain)
        set++;
    for (; set >= 0; set--)
        if (instruction_sets[set].supported() && i-- == 0)
            return instruction_sets[set].name;
    return NULL;
}

/* Index of the set to use, by GRADUS_CPU or by what the processor has; -1: *why says what is wrong. */
static int choose(const char **why)
{
    const char *forced = getenv("GRADUS_CPU");
    for (int i = 0; i < SETS; i++) {
        bool named = forced && *forced && !strcmp(forced, instruction_sets[i].name);
        bool free_choice = !forced || !*forced;
        if ((named || free_choice) && instruction_sets[i].supported())
            return i;
        if (named) {
            *why = "GRADUS_CPU names an instruction set that this processor does not have; unset it for the best one";
            return -1;
        }
    }
    *why =
        "GRADUS_CPU must be plain, amx-emulated, bf16-emulated or, on x86-64 and unless GRADUS_VECTORS=OFF built this "
        "program, avx2, avx512, avx512-bf16 or amx; unset it for the best one";
    return -1;
}

static void close_cpu(gr_device *d)
{
    gr__pool_close(d->pool);
    free(d);
}

/* More threads than processors would only wait for each other's turn: results are the same for any number of them. */
static int useful_threads(int asked)
{
    const int usable = gr__usable_cpus();
    return asked > 0 && asked < usable ? asked : usable;
}

gr_device *gr__cpu_device(int threads, const char **why)
{
    *why = NULL;
    int set = choose(why);
    if (set < 0)
        return NULL;
    cpu_device *cpu = calloc(1, sizeof *cpu);
    gr_pool *pool = cpu ? gr__pool_open(useful_threads(threads)) : NULL;
    if (!pool) {
        free(cpu);
        return NULL;
    }
    const gr_kernel *tuned = instruction_sets[set].kernels, *beneath = instruction_sets[set].beneath;
    for (int i = 0; i < GR_OP_COUNT; i++)
        cpu->kernels[i] = tuned[i].forward                ? tuned[i]
                          : beneath && beneath[i].forward ? beneath[i]
                                                          : gr__ref_f32_kernels[i];
    cpu->device = (gr_device){.name = "cpu",
                              .isa = instruction_sets[set].name,
                              .real = GR_F32,
                              .cast = &gr__ops[GR_OP_cast],
                              .kernels = cpu->kernels,
                              .probes = instruction_sets[set].probes,
                              .pieces = instruction_sets[set].pieces,
                              .pool = pool,
                              .close = close_cpu};
    gr__use_host_memory(&cpu->device);
    cpu->device.reads_host = true;
    return &cpu->device;
}

// bounds < DESCRIPTION: the time of one launch, as a line of JSON; or {"reason": ...} where it cannot be told.
#include "multiprocessor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct floor {
    const char *name;
    double cycles; // of one multiprocessor, for all its blocks
};

static void print_reason(const char *reason)
{
    printf("{\"reason\": \"%s\"}\n", reason);
}

// What no instruction of the model may be in a kernel that is told.
static const char *unmodelled(const struct program *program)
{
    static const char *const names[] = {"UTMA", "QGMMA", "IGMMA", "UBLKCP",  "TEX",  "TLD",
                                        "SUST", "SULD",  "UTC",   "UCGABAR", "LDTM", "STTM"};
    for (int i = 0; i < program->length; i++) {
        if (program->code[i].dimensions && !strstr(program->code[i].name, "D."))
            continue; // UTMALDG.2D, UTMASTG.2D, UBLKCP.S.G: for this block alone
        if (!strcmp(program->code[i].base, "UTMACMDFLUSH"))
            continue; // ends a group of those that leave
        if (program->code[i].phase && strstr(program->code[i].name, ".ART"))
            return program->code[i].name; // so many arrivals as a register says
        if (!strcmp(program->code[i].base, "HGMMA") && !program->code[i].products)
            return program->code[i].name;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (!strncmp(program->code[i].base, names[k], strlen(names[k])))
                return program->code[i].base;
    }
    return NULL;
}

enum { MULTIPLY_ADD = 1, TENSOR = 6 }; // among the floors

static int collect(const struct simulated *run, double scale, struct floor *floors)
{
    const struct busy *busy = &run->busy;
    double fma = busy->pipes[PIPE_FMA], heavy = busy->pipes[PIPE_FMA_HEAVY];
    const struct floor all[] = {
        {"issue slots", busy->issue},
        {"multiply-add pipe", fma + heavy},
        {"integer pipe", busy->pipes[PIPE_ALU]},
        {"half pipe", busy->pipes[PIPE_HALF]},
        {"double pipe", busy->pipes[PIPE_DOUBLE]},
        {"special functions", busy->pipes[PIPE_SPECIAL] + busy->pipes[PIPE_CONVERT]},
        {"tensor pipe", busy->pipes[PIPE_TENSOR]},
        {"shared memory", busy->shared},
        {"L1", busy->l1},
        {"load-store unit", busy->shared + busy->l1},
        {"TMA", busy->boxes},
        {"L2", busy->l2},
        {"DRAM", busy->dram},
    };
    int count = (int)(sizeof all / sizeof *all);
    for (int i = 0; i < count; i++)
        floors[i] = (struct floor){all[i].name, all[i].cycles * scale};
    return count;
}

// 0 up to one end, 1 from the other on, in proportion between.
static double ramp(double value, double from, double to)
{
    return fmin(1, fmax(0, (value - from) / (to - from)));
}

// GHz while a kernel runs. A board that may not take the power that its multiprocessors would goes slower where their
// pipes multiply for much of the time, and not for the first millisecond.
static double clock_of(const struct chip *chip, const struct floor *floors, double cycles)
{
    double busy = fmax(floors[MULTIPLY_ADD].cycles, floors[TENSOR].cycles) / cycles;
    double milliseconds = cycles / chip->clock / 1e6;
    double share = ramp(busy, 0.15, 0.30) * ramp(milliseconds, 1, 2);
    return chip->clock - share * fmax(0, chip->clock - chip->busy_clock);
}

// How much more than in the wave there is of the work that it executed.
static double times_the_wave(const struct traffic *traffic, double instructions)
{
    return instructions / fmax(traffic->executed, 1);
}

static void report(const struct program *program, const struct simulated *run, const struct traffic *traffic,
                   int resident, double total_instructions, double grid_instructions)
{
    const struct chip *chip = &program->chip;
    double scale = total_instructions / run->instructions, cycles = run->cycles;
    if (!run->whole) {
        double rate = (run->instructions - run->early_instructions) / (run->cycles - run->early_cycles);
        cycles += (total_instructions - run->instructions) / rate;
    } else {
        scale = 1;
    }
    struct floor floors[16];
    int count = collect(run, scale, floors), most = 0;
    // Of all multiprocessors together, and behind one another whatever else there is to wait for.
    double contend = times_the_wave(traffic, grid_instructions);
    floors[count++] = (struct floor){"atomics on one address", traffic->word_cycles * contend};
    floors[count++] = (struct floor){"atomics in one kilobyte", traffic->kilobyte_cycles * contend};
    cycles = fmax(cycles, fmax(floors[count - 1].cycles, floors[count - 2].cycles));
    if (chip->lanes_fma > 16) // two pipes side by side
        floors[MULTIPLY_ADD].cycles /= 2;
    for (int i = 0; i < count; i++) // a part is named rather than the sum that it makes up
        if (floors[i].cycles > floors[most].cycles * 1.05)
            most = i;
    double microsecond = clock_of(chip, floors, cycles) * 1e3;
    const char *binding = floors[most].cycles > 0.6 * cycles ? floors[most].name : "latency";
    printf("{\"microseconds\": %.3f, \"floor\": %.3f, \"binding\": \"%s\", \"resident_blocks\": %d",
           cycles / microsecond + chip->launch_kernel, floors[most].cycles / microsecond, binding, resident);
    printf(", \"instructions\": %.0f, \"simulated\": %.0f, \"l2_miss\": %.4f, \"dram_bytes_share\": %.0f",
           total_instructions, run->instructions, traffic->l2_reads > 0 ? traffic->dram_reads / traffic->l2_reads : 0,
           run->dram_bytes * scale);
    for (int i = 0; i < count; i++)
        printf("%s\"%s\": %.3f", i ? ", " : ", \"floors\": {", floors[i].name, floors[i].cycles / microsecond);
    printf("}}\n");
}

// Compare-and-swaps on one word fail and are made again as often as others come between, which is not modelled. Where
// those that succeed would take as long as issuing the kernel's instructions, at one a cycle, nothing is told.
static bool swaps_contend(struct program *program, const struct traffic *traffic, double instructions)
{
    double swaps = traffic->swaps * times_the_wave(traffic, instructions);
    double issued = instructions / (4.0 * program->chip.multiprocessors);
    if (swaps < issued)
        return false;
    snprintf(program->error, sizeof program->error, "%.0f compare-and-swaps on one address contend, not modelled",
             swaps);
    return true;
}

// A page that is opened for a few of its bytes costs as much time as one that is taken whole, which is what the share
// of the bandwidth that is reached was set on.
static double page_cost(const struct chip *chip, const struct spread *spread)
{
    if (spread->bytes <= 0)
        return 1;
    return 1 + chip->dram_page * fmax(0, spread->pages / spread->bytes - 1.0 / PAGE);
}

// Warp instructions of a block in the mean: of blocks spread over the grid, as some may have other work than others.
// Negative: program->error says why.
static double mean_block(struct program *program, long grid)
{
    enum { LOOKED_AT = 9 };
    long count = grid < LOOKED_AT ? grid : LOOKED_AT;
    double sum = 0;
    for (long i = 0; i < count; i++) {
        double instructions = block_instructions(program, (int)((2 * i + 1) * grid / (2 * count)));
        if (instructions <= 0)
            return instructions;
        sum += instructions;
    }
    return sum / (double)count;
}

static bool tell(struct program *program)
{
    const double most_wave = 2e6, most_simulated = 1e6;
    struct launch *launch = &program->launch;
    long grid = (long)launch->grid[0] * launch->grid[1] * launch->grid[2];
    long blocks = (grid + program->chip.multiprocessors - 1) / program->chip.multiprocessors;
    double whole_block = mean_block(program, grid);
    launch->shared = launch->touched > launch->shared ? launch->touched : launch->shared;
    int resident = resident_blocks(program);
    if (whole_block > 0 && resident < 1)
        snprintf(program->error, sizeof program->error, "no block fits on a multiprocessor");
    struct traffic traffic;
    struct simulated run;
    if (whole_block <= 0 || resident < 1 || !run_wave(program, resident, most_wave, whole_block, &traffic))
        return false;
    if (swaps_contend(program, &traffic, whole_block * (double)grid))
        return false;
    double total = whole_block * (double)blocks;
    double waves = fmax(1, (double)grid / ((double)resident * program->chip.multiprocessors));
    bool fits = traffic.footprint / fmax(traffic.fraction, 1e-9) * waves < program->chip.l2_bytes;
    bool warm = fits && !launch->empty;        // the launch before has left it there
    bool ended = traffic.executed < most_wave; // else pages are still being filled
    // What the wave did not come to, as the writes behind a long loop that reads, is taken to miss.
    double reads = traffic.l2_reads > 0 ? fmin(1, traffic.dram_reads / traffic.l2_reads) : 1;
    double writes = traffic.l2_writes > 0 ? traffic.dram_writes / traffic.l2_writes : 1;
    const struct misses misses = {
        .read = warm ? 0 : reads,
        .refilled = traffic.l2_missed > 0 ? traffic.dram_reads / traffic.l2_missed : 0,
        .write = fits ? 0 : writes,
        .mixed = !fits && traffic.dram_writes > 0,
        .read_cost = ended ? page_cost(&program->chip, &traffic.reads) : 1,
        .write_cost = ended ? page_cost(&program->chip, &traffic.writes) : 1,
    };
    if (!run_multiprocessor(program, resident, blocks, most_simulated, &misses, &run))
        return false;
    report(program, &run, &traffic, resident, total, whole_block * (double)grid);
    return true;
}

int main(void)
{
    static struct program program;
    bool fine = read_program(stdin, &program);
    if (fine && !program.length) {
        snprintf(program.error, sizeof program.error, "no instructions");
        fine = false;
    }
    const char *unknown = fine ? unmodelled(&program) : NULL;
    if (unknown) {
        snprintf(program.error, sizeof program.error, "%s is not modelled", unknown);
        fine = false;
    }
    if (fine) {
        mark_needed(&program);
        fine = tell(&program);
    }
    if (!fine)
        print_reason(*program.error ? program.error : "out of memory");
    free_program(&program);
    return 0;
}

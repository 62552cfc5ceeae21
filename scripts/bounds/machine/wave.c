// Traffic: a wave of blocks takes turns, an access to global memory each, through an L1 per multiprocessor and one L2.
#include "wave.h"

#include "cache.h"
#include "contention.h"
#include "orders.h"
#include "resident.h"

#include <stdlib.h>
#include <string.h>

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int round_to(int value, int step)
{
    return (value + step - 1) / step * step;
}

static int shared_of_block(const struct program *program)
{
    int bytes = program->launch.shared + program->chip.shared_block_reserved;
    return bytes ? round_to(bytes, program->chip.architecture >= 80 ? 128 : 256) : 0;
}

// CUDA C++ Programming Guide, compute capabilities: registers are given to warps by 256, a warp's thread takes them by
// 8, warps come in fours (one a quarter).
int resident_blocks(const struct program *program)
{
    const struct chip *chip = &program->chip;
    int warps = warps_of_block(&program->launch);
    int a_warp = round_to(round_to(program->launch.registers, 8) * LANES, 256);
    int fit = smaller(chip->blocks, chip->warps / warps);
    int by_registers = chip->registers / (a_warp ? a_warp : 256) / 4 * 4 / round_to(warps, warps < 4 ? 1 : 4);
    int shared = shared_of_block(program);
    fit = smaller(fit, by_registers);
    return shared ? smaller(fit, chip->shared / shared) : fit;
}

double l1_beside(const struct program *program, int blocks)
{
    static const int volta[] = {0, 8, 16, 32, 64, 96}, turing[] = {32, 64};
    static const int ampere[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    int architecture = program->chip.architecture;
    const int *sizes = architecture == 75 ? turing : architecture < 80 ? volta : ampere;
    int count = architecture == 75 ? 2 : architecture < 80 ? 6 : 10, wanted = blocks * shared_of_block(program);
    int taken = sizes[count - 1];
    for (int i = count - 1; i >= 0; i--)
        if (sizes[i] * 1024 >= wanted)
            taken = sizes[i];
    double left = program->chip.l1_bytes - taken * 1024.0;
    return left > 8192 ? left : 8192;
}

struct runner {
    struct program *program;
    struct resident *blocks;
    struct cache *l1, l2;
    struct cache seen, pages[2]; // of what was read, of what was written
    int resident, count;
    double executed;
    struct traffic *traffic;
    struct contention *contention;
};

// A line's page, once for each direction.
static void touch_page(struct runner *runner, uint64_t line, int sectors, bool write)
{
    struct spread *spread = write ? &runner->traffic->writes : &runner->traffic->reads;
    spread->bytes += SECTOR * sectors;
    if (sectors)
        spread->pages += read_line(&runner->pages[write], line / (PAGE / LINE), 1);
}

static void pass_on(struct runner *runner, int multiprocessor, const struct step *step)
{
    struct request request;
    struct instruction *it = &runner->program->code[step->instruction - runner->program->code];
    gather(&request, step->address, step->lanes, it->bytes);
    it->loads++;
    for (int i = 0; i < request.lines; i++) {
        uint8_t sectors = request.sectors[i];
        int fresh = __builtin_popcount(read_line(&runner->seen, request.line[i], sectors));
        runner->traffic->footprint += SECTOR * fresh;
        touch_page(runner, request.line[i], fresh, it->store || it->atomic);
        if (it->store || it->atomic) {
            runner->traffic->l2_writes += __builtin_popcount(sectors);
            write_line(&runner->l2, request.line[i], sectors, it->atomic ? 0 : request.whole[i]);
        } else {
            uint8_t missing = read_line(&runner->l1[multiprocessor], request.line[i], sectors);
            int from_memory = missing ? __builtin_popcount(read_line(&runner->l2, request.line[i], missing)) : 0;
            it->missed += from_memory;
            runner->traffic->l2_reads += __builtin_popcount(missing);
            runner->traffic->l2_missed += from_memory;
        }
    }
    if (it->atomic)
        count_atomics(runner->contention, &runner->program->chip, step, &request);
}

// The sectors of a line that `bytes` from an address on cover.
static uint8_t covered_of(uint64_t address, int bytes, uint64_t line)
{
    uint64_t begin = (address + SECTOR - 1) / SECTOR * SECTOR, end = (address + (uint64_t)bytes) / SECTOR * SECTOR;
    begin = begin > line * LINE ? begin : line * LINE;
    end = end < (line + 1) * LINE ? end : (line + 1) * LINE;
    return end > begin ? sectors_of(begin, (int)(end - begin), line) : 0;
}

// A box that TMA moves goes past L1.
static void pass_box_on(struct runner *runner, const struct box *box, bool leaves)
{
    uint64_t address;
    for (int at = 0, bytes; next_row(box, &at, &address, &bytes);) {
        for (uint64_t line = address / LINE; line <= (address + (uint64_t)bytes - 1) / LINE; line++) {
            uint8_t sectors = sectors_of(address, bytes, line);
            int fresh = __builtin_popcount(read_line(&runner->seen, line, sectors));
            runner->traffic->footprint += SECTOR * fresh;
            touch_page(runner, line, fresh, leaves);
            if (leaves) {
                runner->traffic->l2_writes += __builtin_popcount(sectors);
                write_line(&runner->l2, line, sectors, covered_of(address, bytes, line));
                continue;
            }
            runner->traffic->l2_reads += __builtin_popcount(sectors);
            runner->traffic->l2_missed += __builtin_popcount(read_line(&runner->l2, line, sectors));
        }
    }
}

static bool waits_for_phase(struct warp *warp)
{
    int parity;
    const struct phase_barrier *barrier = asked_barrier(warp, &parity);
    return barrier && !phase_is_over(barrier, parity);
}

// Where what a step touches of shared memory ends: a launch says how much that is only where it is no part of the code.
static void touch_shared(struct program *program, const struct step *step)
{
    const struct instruction *it = step->instruction;
    const uint64_t *at = it->asynchronous ? step->target : step->address;
    const uint64_t most = (uint64_t)(program->chip.shared - program->chip.shared_block_reserved);
    for (int i = 0; i < LANES; i++)
        if (step->lanes >> i & 1 && at[i] + (uint64_t)it->bytes > (uint64_t)program->launch.touched &&
            at[i] + (uint64_t)it->bytes <= most)
            program->launch.touched = (int)(at[i] + (uint64_t)it->bytes);
}

static void let_go(int *waits, int warps, int barrier)
{
    for (int i = 0; i < warps; i++)
        waits[i] = waits[i] == barrier ? 0 : waits[i];
}

// Lets a warp run up to its next access, barrier or end; waits: of all warps of the block, at which barrier each is.
// False: an instruction was not understood.
static bool turn(struct runner *runner, int number, int which, int *waits)
{
    struct resident *resident = &runner->blocks[number];
    struct warp *warp = &resident->warps[which];
    struct step step;
    const struct instruction *it;
    struct program *program = runner->program;
    for (int run = 0; run < 100000 && (it = next_instruction(warp)) != NULL; run++) {
        if (it->phase == PHASE_TEST && waits_for_phase(warp))
            return true;
        if (!step_warp(warp, &step, program->error, sizeof program->error))
            return false;
        runner->executed++;
        if (it->barrier_at) {
            waits[which] = it->barrier ? it->barrier_at : 0;
            let_go(waits, resident->count, arrive(&resident->block, it));
        }
        if (it->barrier)
            return true;
        if (it->space == SPACE_SHARED || it->asynchronous)
            touch_shared(program, &step);
        if (it->phase || it->dimensions)
            count_step(warp->block, &step, 0, program->error, sizeof program->error);
        if (*program->error)
            return false;
        if ((it->phase || it->dimensions) && (brings_box(&step) || sends_box(&step))) {
            if (runner->traffic)
                pass_box_on(runner, &step.box, it->leaves);
            return true;
        }
        if (it->space == SPACE_GLOBAL && step.lanes) {
            if (runner->traffic)
                pass_on(runner, number % program->chip.multiprocessors, &step);
            return true;
        }
    }
    return true;
}

static bool turn_of_block(struct runner *runner, int number, int *waits)
{
    struct resident *resident = &runner->blocks[number];
    for (int i = 0; i < resident->count; i++) {
        struct warp *warp = &resident->warps[i];
        if (waits[i] || warp_ended(warp))
            continue;
        if (!turn(runner, number, i, waits))
            return false;
        if (warp_ended(warp))
            let_go(waits, resident->count, arrive(&resident->block, NULL));
    }
    return true;
}

static bool run_blocks(struct runner *runner, double most)
{
    int warps = warps_of_block(&runner->program->launch), left = runner->count;
    int *waits = calloc((size_t)runner->count * (size_t)warps, sizeof *waits);
    bool fine = waits != NULL;
    double before = -1; // instructions executed: a round without one is the last
    while (fine && left && runner->executed < most && runner->executed > before) {
        left = 0;
        before = runner->executed;
        for (int i = 0; fine && i < runner->count; i++) {
            if (!runner->blocks[i].block.warps_alive)
                continue;
            left++;
            fine = turn_of_block(runner, i, waits + (size_t)i * (size_t)warps);
        }
    }
    free(waits);
    if (fine && left && runner->executed == before) {
        snprintf(runner->program->error, sizeof runner->program->error, "all warps wait for barriers in shared memory");
        return false;
    }
    return fine;
}

static bool open_blocks(struct runner *runner, long first)
{
    runner->blocks = calloc((size_t)runner->count, sizeof *runner->blocks);
    bool fine = runner->blocks != NULL;
    for (int i = 0; fine && i < runner->count; i++)
        fine = open_resident(&runner->blocks[i], runner->program, first + i);
    if (!fine)
        snprintf(runner->program->error, sizeof runner->program->error, "out of memory for %d blocks", runner->count);
    return fine;
}

static void close_blocks(struct runner *runner)
{
    for (int i = 0; runner->blocks && i < runner->count; i++)
        close_resident(&runner->blocks[i]);
    free(runner->blocks);
}

double block_instructions(struct program *program, int number)
{
    const double most = 5e7;
    struct runner runner = {.program = program, .resident = 1, .count = 1};
    bool fine = open_blocks(&runner, number) && run_blocks(&runner, most);
    if (fine && runner.blocks[0].block.warps_alive) {
        snprintf(program->error, sizeof program->error, "a block does not end within %.0f instructions", most);
        fine = false;
    }
    close_blocks(&runner);
    return fine ? runner.executed : -1;
}

static bool open_caches(struct runner *runner)
{
    int count = runner->program->chip.multiprocessors;
    double bytes = l1_beside(runner->program, runner->resident);
    runner->l1 = calloc((size_t)count, sizeof *runner->l1);
    runner->contention = calloc(1, sizeof *runner->contention);
    bool fine = runner->l1 && runner->contention && open_cache(&runner->l2, runner->program->chip.l2_bytes) &&
                open_cache(&runner->seen, 1 << 28) && open_cache(&runner->pages[0], 1 << 25) &&
                open_cache(&runner->pages[1], 1 << 25);
    for (int i = 0; fine && i < count; i++)
        fine = open_cache(&runner->l1[i], bytes);
    return fine;
}

static void close_caches(struct runner *runner)
{
    for (int i = 0; runner->l1 && i < runner->program->chip.multiprocessors; i++)
        close_cache(&runner->l1[i]);
    free(runner->l1);
    free(runner->contention);
    close_cache(&runner->l2);
    close_cache(&runner->seen);
    close_cache(&runner->pages[0]);
    close_cache(&runner->pages[1]);
}

// What still lies dirty in L2 goes to memory, too.
static double dirty_sectors(const struct cache *cache)
{
    double sectors = 0;
    for (uint64_t i = 0; i < cache->sets * WAYS; i++)
        sectors += __builtin_popcount(cache->ways[i].dirty);
    return sectors;
}

bool run_wave(struct program *program, int resident, double most, double whole_block, struct traffic *traffic)
{
    const int *grid = program->launch.grid;
    long total = (long)grid[0] * grid[1] * grid[2], wave = (long)resident * program->chip.multiprocessors;
    struct runner runner = {
        .program = program, .resident = resident, .traffic = traffic, .count = (int)(total < wave ? total : wave)};
    memset(traffic, 0, sizeof *traffic);
    long first = total > wave ? (total - wave) / 2 / wave * wave : 0; // a wave in the middle
    bool fine = open_caches(&runner) && open_blocks(&runner, first) && run_blocks(&runner, most);
    if (fine) {
        traffic->executed = runner.executed;
        traffic->fraction = runner.executed / (whole_block * runner.count);
        traffic->dram_reads = (double)runner.l2.read_in;
        traffic->dram_writes = (double)runner.l2.written_back + dirty_sectors(&runner.l2);
        traffic->word_cycles = busiest(runner.contention->words);
        traffic->kilobyte_cycles = busiest(runner.contention->kilobytes);
        traffic->swaps = busiest(runner.contention->swaps);
    }
    close_blocks(&runner);
    close_caches(&runner);
    return fine;
}

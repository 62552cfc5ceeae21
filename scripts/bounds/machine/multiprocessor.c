#include "multiprocessor.h"

#include "cache.h"
#include "orders.h"
#include "resident.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUARTERS = 4,
    GROUPS = 8,        // asynchronous copies of a warp that are told apart
    LANDINGS = 256,    // boxes of TMA under way, at most
    PRODUCTS = 1024,   // of four warps, waiting for a quarter's tensor core, at most
    UNENDED = 64,      // groups of products of a warp under way, at most
    QUEUE = 24,        // cycles of work that the load-store unit takes in advance before a warp has to wait
    READ_OPERANDS = 8, // cycles from a memory instruction's turn until its registers are read
    SPECIAL_LATENCY = 20,
    PRODUCT_LATENCY = 16, // cycles from where a product of four warps leaves the tensor cores to its sums
    PARTIAL_SLOTS = 2,    // of the port to L2 that a sector written in part takes
    BARRIER_LATENCY = 15,
    BARRIER_INTERVAL = 2, // a warp: 16 threads a cycle
};

struct timed_warp {
    struct warp *warp;
    struct resident *resident;
    int slot;
    double ready;          // stall count of the last instruction is over
    double free[BARRIERS]; // when each barrier falls
    double copies[GROUPS]; // ends of asynchronous copies' groups
    double copying;        // end of the copies since the last group
    int groups;
    double products[UNENDED]; // ends of asynchronous products' groups: INFINITY until they are known
    int product_groups;
    int number;                     // in its block
    long multiplied;                // products that it has asked for
    int waits;                      // at which of the block's barriers, as barrier_at has it; or 0
    struct request stored;          // its last store to global memory, with what others before left of its sectors
    double issued_at;               // its last instruction
    const struct instruction *next; // and the one after it: NULL at the end
    double when;                    // from when on that may be issued, its pipe aside
};

// A warp's part of a product of four, on its way.
struct product {
    struct timed_warp *warp;
    const struct instruction *instruction;
    long number; // among the warp's
};

struct queue {
    struct product products[PRODUCTS];
    int first, count;
};

// A box that comes: its bytes are written to shared memory between these times, in so many cycles in all.
struct landing {
    double begin, end, cycles;
    double written; // of these cycles
};

struct landings {
    struct landing boxes[LANDINGS];
    int first, count;
    double until; // what was written is known up to here
};

struct machine {
    struct program *program;
    struct resident *blocks;  // of each slot
    struct timed_warp *warps; // slot * warps_a_block + number
    int slots, warps_a_block;
    double pipe_free[QUARTERS][PIPES][2];
    double registers_free[QUARTERS];
    struct queue queues[QUARTERS];                        // of the tensor cores
    double unit_free, boxes_free, l2_free, dram_free;     // of the whole multiprocessor
    double barriers_free;                                 // of all of its blocks
    double l2_read_bytes, l2_box_bytes, dram_cycle_bytes; // a cycle
    double part_cycles;                                   // of L2, for a sector that lanes store in part
    struct landings landings;
    struct misses rates;
    double *owed; // sectors of memory that each load is still to move
    struct cache l1;
    long next_block, blocks_left, stride;
    double now, issued, most;
    struct simulated *result;
};

// --- pipes ----------------------------------------------------------------------------------------------------------

// The pipe that an instruction takes on a chip: Blackwell's lanes for multiply-adds add integers, too.
static enum pipe pipe_on(const struct chip *chip, const struct instruction *it)
{
    return it->adds && chip->lanes_add ? PIPE_FMA : it->pipe;
}

static double interval_of(const struct chip *chip, const struct instruction *it)
{
    double lanes = LANES;
    switch (pipe_on(chip, it)) {
    case PIPE_FMA:
        lanes = chip->lanes_fma > 16 ? 16 : chip->lanes_fma;                          // two of them, where there are 32
        lanes = it->result_registers > 1 && it->pipe == PIPE_FMA ? lanes / 2 : lanes; // FFMA2
        break;
    case PIPE_FMA_HEAVY:
        lanes = chip->lanes_heavy;
        break;
    case PIPE_ALU:
        lanes = chip->lanes_alu;
        break;
    case PIPE_HALF:
        lanes = chip->lanes_half;
        break;
    case PIPE_DOUBLE:
        return LANES / chip->lanes_double;
    case PIPE_SPECIAL:
        lanes = chip->lanes_special;
        break;
    case PIPE_CONVERT:
        lanes = chip->lanes_convert;
        break;
    case PIPE_UNIFORM:
        return 2;
    case PIPE_TENSOR: {
        bool sums_fp32 = strstr(it->name, ".F32") != NULL;
        double reached = it->products || chip->tensor_warp <= 0 ? 1 : chip->tensor_warp;
        return it->tensor_work / (sums_fp32 ? chip->tensor_f32 : chip->tensor) / reached;
    }
    default:
        return 1;
    }
    return LANES / lanes;
}

// The two halves of the floating-point pipe are told apart: integers take the heavy one.
static double *pipe_slot(struct machine *machine, int quarter, const struct instruction *it)
{
    double(*pipes)[2] = machine->pipe_free[quarter];
    const struct chip *chip = &machine->program->chip;
    if (it->pipe == PIPE_FMA_HEAVY)
        return &pipes[PIPE_FMA][0];
    if (pipe_on(chip, it) == PIPE_FMA && chip->lanes_fma > 16)
        return pipes[PIPE_FMA][1] <= pipes[PIPE_FMA][0] ? &pipes[PIPE_FMA][1] : &pipes[PIPE_FMA][0];
    return &pipes[it->pipe][0];
}

// --- registers ------------------------------------------------------------------------------------------------------

// Two banks of registers give one register a cycle each (Huerta et al., arXiv 2503.20481, section 5.3). An instruction
// of three that none of them is spared takes two cycles. That two registers of one bank took two, too, is not to be
// seen in measured times: what they wait is made up for within the window in which registers are read.
static double read_cycles(const struct instruction *it)
{
    return it->reads > BANKS ? 2 : 1;
}

// --- memory ---------------------------------------------------------------------------------------------------------

static int distinct_words_a_bank(const uint64_t *address, uint32_t lanes, int from, int to, int bytes)
{
    uint64_t words[32][32];
    int count[32] = {0}, most = 0;
    for (int lane = from; lane < to; lane++) {
        for (int word = 0; (lanes >> lane & 1) && word < (bytes + 3) / 4; word++) {
            uint64_t at = address[lane] / 4 + (unsigned)word;
            int bank = at % 32, i = 0;
            while (i < count[bank] && words[bank][i] != at)
                i++;
            if (i == count[bank] && i < 32)
                words[bank][count[bank]++] = at;
            most = count[bank] > most ? count[bank] : most;
        }
    }
    return most;
}

// Passes through the 32 banks. 64-bit accesses go by half warps, 128-bit ones by quarters, unless lanes share words.
static double shared_passes(const struct step *step)
{
    int bytes = step->instruction->bytes;
    if (!strcmp(step->instruction->base, "LDSM") || !strcmp(step->instruction->base, "STSM")) {
        double passes = 0;
        for (int matrix = 0; matrix < bytes / 4; matrix++)
            passes += distinct_words_a_bank(step->address, step->lanes, 8 * matrix, 8 * matrix + 8, 16);
        return passes;
    }
    int parts = bytes > 8 ? 4 : bytes > 4 ? 2 : 1, width = LANES / parts;
    double passes = 0;
    for (int part = 0; part < parts; part++)
        passes += distinct_words_a_bank(step->address, step->lanes, part * width, (part + 1) * width, bytes);
    double together = distinct_words_a_bank(step->address, step->lanes, 0, LANES, bytes);
    return fmin(passes, together);
}

// Lanes that meet at an address come one after the other; those that only count (POPC.INC) count together.
static double atomic_passes(const struct step *step)
{
    double most = shared_passes(step);
    if (strstr(step->instruction->name, "POPC"))
        return most;
    for (int i = 0; i < LANES; i++) {
        int same = 0;
        for (int k = 0; (step->lanes >> i & 1) && k < LANES; k++)
            same += (step->lanes >> k & 1) && step->address[k] == step->address[i];
        most = same > most ? same : most;
    }
    return most;
}

static double book(double *free_at, double from, double cycles)
{
    double start = *free_at > from ? *free_at : from;
    *free_at = start + cycles;
    return start;
}

// Sectors that L2 has to ask memory for: as many as in the wave, each time that a load is executed. What of its words
// lies in L1 depends on how the warps drift, and on the block before; what memory moves does not.
static double from_memory(struct machine *machine, const struct instruction *it, int sectors)
{
    double *owed = &machine->owed[it - machine->program->code];
    bool known = it->loads > 0 && machine->rates.refilled > 0;
    if (!known)
        *owed += sectors * machine->rates.read;
    else if (machine->rates.read > 0)
        *owed += it->missed / it->loads * machine->rates.refilled;
    double moved = fmin(sectors, floor(*owed));
    *owed -= moved;
    return moved;
}

// Sectors through the port to L2, so many bytes a cycle, and those that miss there from memory. Returns when the last
// one is there.
static double fetch(struct machine *machine, double from, int sectors, double rate, double misses)
{
    const struct chip *chip = &machine->program->chip;
    double cycles = sectors * SECTOR / rate;
    double at_l2 = book(&machine->l2_free, from, cycles) + cycles;
    machine->result->busy.l2 += cycles;
    if (misses <= 0)
        return at_l2 + chip->latency_l2;
    double memory = misses * SECTOR * machine->rates.read_cost / machine->dram_cycle_bytes;
    machine->result->busy.dram += memory;
    machine->result->dram_bytes += misses * SECTOR;
    return book(&machine->dram_free, at_l2, memory) + memory + chip->latency_dram;
}

static void put(struct machine *machine, double from, const struct request *request)
{
    const struct chip *chip = &machine->program->chip;
    int partial = request->count_sectors - request->count_whole;
    double slots = request->count_whole + partial * PARTIAL_SLOTS;
    double cycles = slots * SECTOR / chip->l2_port;
    double bytes = request->count_sectors * SECTOR * machine->rates.write;
    double memory = bytes * machine->rates.write_cost / machine->dram_cycle_bytes;
    double at_l2 = book(&machine->l2_free, from, cycles) + cycles;
    book(&machine->dram_free, at_l2, memory);
    machine->result->busy.l2 += cycles;
    machine->result->busy.dram += memory;
    machine->result->dram_bytes += bytes;
}

static bool same_for_all(const struct step *step)
{
    int first = step->lanes ? __builtin_ctz(step->lanes) : 0;
    for (int i = first + 1; i < LANES; i++)
        if (step->lanes >> i & 1 && step->address[i] != step->address[first])
            return false;
    return true;
}

// Cycles of the load-store unit: lanes' addresses, lines or banks one after the other, words to and from registers. A
// word that some lanes share still goes to each lane's register; one that all lanes share is broadcast.
static double unit_cycles(const struct chip *chip, const struct step *step, double passes)
{
    bool reads = step->instruction->space == SPACE_GLOBAL && step->instruction->load;
    double addresses = (double)LANES / (reads ? chip->reading_lanes : chip->lsu_lanes);
    int receivers = same_for_all(step) ? 1 : __builtin_popcount(step->lanes);
    double words = (double)receivers * step->instruction->bytes / chip->shared_width;
    return fmax(addresses, fmax(passes, words));
}

// Cycles of L1: its data lie in four banks, which take turns sector by sector. Each gives a quarter of the unit's width
// a cycle: a sector, on Turing half of one.
static double bank_cycles(const struct chip *chip, const struct request *request)
{
    int most = 0;
    for (int bank = 0; bank < LINE / SECTOR; bank++) {
        int sectors = 0;
        for (int i = 0; i < request->lines; i++)
            sectors += request->sectors[i] >> bank & 1;
        most = sectors > most ? sectors : most;
    }
    return most * (double)LINE / chip->shared_width;
}

// Adds what a warp's last store left of a sector, if the next one goes on with it.
static bool goes_on(struct request *next, uint64_t line, int sector, uint32_t covered)
{
    for (int i = 0; next && i < next->lines; i++)
        if (next->line[i] == line && next->sectors[i] >> sector & 1) {
            next->covered[i][sector] |= covered;
            return true;
        }
    return false;
}

// What a warp stores of a sector goes on to L2 when its next store, or NULL at its end, does not fill that up further.
// A part takes L2 for longer than the port.
static void send_parts(struct machine *machine, struct timed_warp *timed, struct request *next)
{
    const struct request *last = &timed->stored;
    double longer = machine->part_cycles - PARTIAL_SLOTS * SECTOR / machine->program->chip.l2_port;
    int parts = 0;
    if (longer <= 0)
        return;
    for (int i = 0; i < last->lines; i++)
        for (int sector = 0; sector < LINE / SECTOR; sector++)
            if (last->sectors[i] >> sector & 1 && last->covered[i][sector] != ~0u)
                parts += !goes_on(next, last->line[i], sector, last->covered[i][sector]);
    double cycles = parts * longer;
    book(&machine->l2_free, machine->now, cycles);
    machine->result->busy.l2 += cycles;
    timed->stored.lines = 0;
    if (next)
        timed->stored = *next;
}

// Global memory. Returns when the values are there.
static double access_global(struct machine *machine, struct timed_warp *timed, const struct step *step)
{
    const struct chip *chip = &machine->program->chip;
    const struct instruction *it = step->instruction;
    struct request request;
    gather(&request, step->address, step->lanes, it->bytes);
    double cycles = unit_cycles(chip, step, bank_cycles(chip, &request));
    if (it->atomic)
        cycles = fmax(cycles, __builtin_popcount(step->lanes) / 2.0);
    double start = book(&machine->unit_free, machine->now, cycles);
    machine->result->busy.l1 += cycles;
    if (it->atomic) {
        put(machine, start + cycles, &request);
        return start + cycles + chip->latency_l2;
    }
    if (it->store) {
        put(machine, start + cycles, &request);
        send_parts(machine, timed, &request);
        return start + cycles;
    }
    int missing = 0;
    for (int i = 0; i < request.lines; i++)
        missing += __builtin_popcount(read_line(&machine->l1, request.line[i], request.sectors[i]));
    double misses = from_memory(machine, it, missing);
    if (!missing)
        return start + cycles + chip->latency_l1;
    return fetch(machine, start + cycles, missing, machine->l2_read_bytes, misses);
}

static double access_shared(struct machine *machine, const struct step *step)
{
    const struct chip *chip = &machine->program->chip;
    const struct instruction *it = step->instruction;
    double passes = it->atomic ? atomic_passes(step) : shared_passes(step);
    double cycles = unit_cycles(chip, step, passes * 128 / chip->shared_width);
    double start = book(&machine->unit_free, machine->now, cycles);
    machine->result->busy.shared += cycles;
    return start + cycles + chip->latency_shared;
}

static double access_memory(struct machine *machine, struct timed_warp *timed, const struct step *step)
{
    const struct chip *chip = &machine->program->chip;
    const struct instruction *it = step->instruction;
    if (!step->lanes)
        return machine->now + 4;
    switch (it->space) {
    case SPACE_GLOBAL:
        return access_global(machine, timed, step);
    case SPACE_SHARED:
        return access_shared(machine, step);
    case SPACE_LOCAL: { // a stack's words lie side by side, a line a 32-bit word
        double cycles = unit_cycles(chip, step, it->bytes / 4.0);
        machine->result->busy.l1 += cycles;
        return book(&machine->unit_free, machine->now, cycles) + cycles + chip->latency_l1;
    }
    case SPACE_SHUFFLE:
    case SPACE_PHASE:
        machine->result->busy.shared += 1;
        return book(&machine->unit_free, machine->now, 1) + chip->latency_shared;
    default:
        return machine->now + chip->latency_l1;
    }
}

// --- boxes that TMA moves -------------------------------------------------------------------------------------------

// Sectors that `bytes` from an address on lie in.
static int sectors_from(uint64_t address, int bytes)
{
    return (int)((address + (uint64_t)bytes - 1) / SECTOR - address / SECTOR) + 1;
}

// TMA asks for a box's rows, as far as they lie in the tensor, one after the other; they come from L2 and memory as
// lanes' sectors do, past L1. Returns when all are there.
static double fetch_box(struct machine *machine, const struct step *step)
{
    const struct chip *chip = &machine->program->chip;
    struct landings *landings = &machine->landings;
    const struct box *box = &step->box;
    uint64_t address;
    int sectors = 0, rows = 0;
    for (int at = 0, bytes; next_row(box, &at, &address, &bytes); rows++)
        sectors += sectors_from(address, bytes);
    double cycles = rows * box->dimensions * chip->box_row;
    double start = book(&machine->boxes_free, machine->now, cycles);
    double begin = fmax(machine->l2_free, start) + chip->latency_l2;
    double end = fmax(begin, start + cycles + chip->latency_l2);
    if (sectors)
        end = fmax(end, fetch(machine, start, sectors, machine->l2_box_bytes,
                              from_memory(machine, step->instruction, sectors)));
    machine->result->busy.boxes += cycles;
    struct landing landing = {begin, end, (double)box->bytes / chip->shared_width, 0};
    machine->result->busy.shared += landing.cycles;
    if (landings->count < LANDINGS)
        landings->boxes[(landings->first + landings->count++) % LANDINGS] = landing;
    return end;
}

// TMA reads a box from shared memory, row by row, and sends what lies in the tensor as lanes' sectors are. Returns when
// all is read, for which those wait who write there again.
static double send_box(struct machine *machine, const struct box *box)
{
    const struct chip *chip = &machine->program->chip;
    struct request request = {0};
    uint64_t address;
    int rows = 0;
    for (int at = 0, bytes; next_row(box, &at, &address, &bytes); rows++) {
        uint64_t first = (address + SECTOR - 1) / SECTOR, behind = (address + (uint64_t)bytes) / SECTOR;
        request.count_sectors += sectors_from(address, bytes);
        request.count_whole += behind > first ? (int)(behind - first) : 0;
    }
    double cycles = rows * box->dimensions * chip->box_row, reading = (double)box->bytes / chip->shared_width;
    double start = book(&machine->boxes_free, machine->now, cycles);
    double read = fmax(start + cycles, book(&machine->unit_free, start, reading) + reading) + chip->latency_shared;
    machine->result->busy.boxes += cycles;
    machine->result->busy.shared += reading;
    put(machine, read, &request);
    return read;
}

// What has come since the last time took its cycles of shared memory.
static void land_boxes(struct machine *machine)
{
    struct landings *landings = &machine->landings;
    double cycles = 0;
    for (int i = 0; i < landings->count; i++) {
        struct landing *box = &landings->boxes[(landings->first + i) % LANDINGS];
        if (box->begin >= machine->now)
            break; // they come in order
        double share = box->end > machine->now ? (machine->now - box->begin) / (box->end - box->begin) : 1;
        cycles += share * box->cycles - box->written;
        box->written = share * box->cycles;
    }
    while (landings->count && landings->boxes[landings->first].end <= machine->now) {
        landings->first = (landings->first + 1) % LANDINGS;
        landings->count--;
    }
    if (cycles > 0)
        book(&machine->unit_free, landings->until, cycles);
    landings->until = machine->now;
}

// --- warps ----------------------------------------------------------------------------------------------------------

// When a warp may issue its next instruction, its pipe aside.
static double earliest(const struct timed_warp *timed, const struct instruction *it)
{
    double when = timed->ready;
    for (int i = 0; i < BARRIERS; i++)
        if (it->wait >> i & 1 && timed->free[i] > when)
            when = timed->free[i];
    if (it->copies_wait && it->count > 1) {
        int allowed = (int)it->operands[1].value;
        for (int i = 0; i < timed->groups - allowed && i < GROUPS; i++)
            when = fmax(when, timed->copies[i]);
    }
    if (it->products_wait && it->count > 1) {
        int allowed = (int)it->operands[1].value;
        for (int i = 0; i < timed->product_groups - allowed; i++)
            when = fmax(when, timed->products[i]);
    }
    return when;
}

// When the phase is over that a warp asks for: INFINITY where nobody knows it yet.
static double phase_over(const struct timed_warp *timed)
{
    int parity;
    const struct phase_barrier *barrier = asked_barrier(timed->warp, &parity);
    return !barrier ? 0 : phase_is_over(barrier, parity) ? barrier->over[parity] : INFINITY;
}

static void look_ahead(struct timed_warp *timed)
{
    timed->next = next_instruction(timed->warp);
    timed->when = timed->next ? earliest(timed, timed->next) : INFINITY;
    if (timed->next && timed->next->phase == PHASE_TEST)
        timed->when = fmax(timed->when, phase_over(timed));
}

// Those who wait for a phase of a barrier in shared memory may see its end.
static void look_at_phases(struct machine *machine, const struct timed_warp *of)
{
    struct timed_warp *first = &machine->warps[of->slot * machine->warps_a_block];
    for (int i = 0; i < machine->warps_a_block; i++)
        if (first[i].next && first[i].next->phase == PHASE_TEST)
            look_ahead(&first[i]);
}

// What an instruction does to barriers in shared memory: an arrival counts at once, a box when it is there.
static bool count_phases(struct machine *machine, struct timed_warp *timed, const struct step *step)
{
    struct program *program = machine->program;
    double when = machine->now + BARRIER_LATENCY;
    if (brings_box(step))
        when = fetch_box(machine, step);
    if (sends_box(step))
        timed->copying = fmax(timed->copying, send_box(machine, &step->box));
    if (count_step(&timed->resident->block, step, when, program->error, sizeof program->error))
        look_at_phases(machine, timed);
    return !*program->error;
}

static bool open_slot(struct machine *machine, int slot, double when)
{
    if (!open_resident(&machine->blocks[slot], machine->program, machine->next_block))
        return false;
    machine->next_block += machine->stride;
    machine->blocks_left--;
    for (int i = 0; i < machine->warps_a_block; i++) {
        struct timed_warp *timed = &machine->warps[slot * machine->warps_a_block + i];
        memset(timed, 0, sizeof *timed);
        timed->warp = &machine->blocks[slot].warps[i];
        timed->resident = &machine->blocks[slot];
        timed->slot = slot;
        timed->number = i;
        timed->ready = when;
        timed->issued_at = when;
        look_ahead(timed);
    }
    return true;
}

static void end_group(struct timed_warp *timed)
{
    if (timed->groups == GROUPS)
        memmove(timed->copies, timed->copies + 1, sizeof *timed->copies * (size_t)(--timed->groups));
    timed->copies[timed->groups++] = timed->copying;
}

// counted: when the last arrival is.
static void release(struct machine *machine, struct timed_warp *of, int barrier, double counted)
{
    struct timed_warp *first = &machine->warps[of->slot * machine->warps_a_block];
    for (int i = 0; i < machine->warps_a_block; i++)
        if (first[i].waits && first[i].waits == barrier) {
            first[i].waits = 0;
            first[i].ready = fmax(first[i].ready, counted + BARRIER_LATENCY);
            look_ahead(&first[i]);
        }
}

static bool end_block(struct machine *machine, int slot)
{
    machine->result->blocks++;
    return machine->blocks_left <= 0 || open_slot(machine, slot, machine->now + machine->program->chip.launch_block);
}

static void set_barriers(struct timed_warp *timed, const struct instruction *it, double read, double done)
{
    if (it->write_barrier >= 0)
        timed->free[it->write_barrier] = fmax(timed->free[it->write_barrier], done);
    if (it->read_barrier >= 0)
        timed->free[it->read_barrier] = fmax(timed->free[it->read_barrier], read);
}

// --- products of four warps -----------------------------------------------------------------------------------------

// A product begins when all four have asked for it.
static bool is_whole(const struct machine *machine, const struct product *product)
{
    const struct timed_warp *warp = product->warp;
    if (warp->multiplied <= product->number)
        return true; // of a block that has ended without a wait
    int first = warp->number / GROUP_WARPS * GROUP_WARPS;
    const struct timed_warp *of = &machine->warps[warp->slot * machine->warps_a_block];
    for (int i = first; i < first + GROUP_WARPS && i < machine->warps_a_block; i++)
        if (of[i].multiplied <= product->number)
            return false;
    return true;
}

// The oldest of a warp's groups of products of which no end was known ends.
static void end_products(struct timed_warp *timed, double when)
{
    int i = 0;
    while (i < timed->product_groups && timed->products[i] < INFINITY)
        i++;
    timed->products[i] = when;
    if (timed->next && timed->next->products_wait)
        timed->when = earliest(timed, timed->next);
}

// False: more are under way than there is room for.
static bool ask_for_product(struct machine *machine, struct timed_warp *timed, int quarter)
{
    struct queue *queue = &machine->queues[quarter];
    if (queue->count == PRODUCTS || (timed->product_groups == UNENDED && timed->products[0] == INFINITY)) {
        snprintf(machine->program->error, sizeof machine->program->error,
                 "more products of four warps are under way than can be told");
        return false;
    }
    int last = (queue->first + queue->count++) % PRODUCTS;
    queue->products[last] = (struct product){timed, timed->next, timed->multiplied++};
    if (!timed->next->products_group)
        return true;
    if (timed->product_groups == UNENDED)
        memmove(timed->products, timed->products + 1, sizeof *timed->products * (size_t)(--timed->product_groups));
    timed->products[timed->product_groups++] = INFINITY;
    return true;
}

// The next product of a quarter's tensor core begins, if that is free: the factors stream from shared memory while it
// multiplies. `next`: when something may happen again.
static void multiply(struct machine *machine, int quarter, double *next)
{
    struct queue *queue = &machine->queues[quarter];
    double *pipe = &machine->pipe_free[quarter][PIPE_TENSOR][0];
    while (queue->count) {
        struct product *product = &queue->products[queue->first];
        if (!is_whole(machine, product))
            return;
        if (*pipe > machine->now) {
            *next = fmin(*next, *pipe);
            return;
        }
        const struct chip *chip = &machine->program->chip;
        double reading = product->instruction->operand_bytes / chip->shared_width;
        double start = *pipe > machine->now - 1 ? *pipe : machine->now;
        double read = book(&machine->unit_free, start, reading) + reading;
        machine->result->busy.shared += reading;
        *pipe = fmax(start + interval_of(chip, product->instruction), read);
        if (product->instruction->products_group)
            end_products(product->warp, *pipe + PRODUCT_LATENCY);
        queue->first = (queue->first + 1) % PRODUCTS;
        queue->count--;
        *next = machine->now + 1;
    }
}

static bool issue(struct machine *machine, struct timed_warp *timed, int quarter)
{
    struct step step;
    const struct instruction *it = timed->next;
    struct program *program = machine->program;
    double *pipe = pipe_slot(machine, quarter, it), interval = interval_of(&program->chip, it);
    if (!step_warp(timed->warp, &step, program->error, sizeof program->error))
        return false;
    machine->issued++;
    if (it->reads)
        machine->registers_free[quarter] = machine->now + read_cycles(it);
    if (it->products && !ask_for_product(machine, timed, quarter))
        return false;
    if (!it->products)
        *pipe = fmax(*pipe, machine->now) + interval;
    machine->result->busy.pipes[pipe_on(&machine->program->chip, it)] += interval / QUARTERS;
    timed->ready = machine->now + (it->stall > 1 ? it->stall : 1);
    double done = machine->now + SPECIAL_LATENCY + interval, read = machine->now + READ_OPERANDS;
    if (it->pipe == PIPE_MEMORY) {
        done = access_memory(machine, timed, &step);
        read = fmax(read, fmin(done, machine->unit_free + READ_OPERANDS));
        if (it->asynchronous)
            timed->copying = fmax(timed->copying, done);
    }
    if (it->copies_group)
        end_group(timed);
    if ((it->phase || it->dimensions) && !count_phases(machine, timed, &step))
        return false;
    set_barriers(timed, it, read, done);
    timed->issued_at = machine->now;
    look_ahead(timed);
    timed->waits = it->barrier ? it->barrier_at : 0;
    bool ended = warp_ended(timed->warp);
    if (ended)
        send_parts(machine, timed, NULL);
    double counted = machine->now;
    if (!ended && it->barrier_at)
        counted = book(&machine->barriers_free, machine->now, BARRIER_INTERVAL) + BARRIER_INTERVAL;
    if (ended || it->barrier_at)
        release(machine, timed, arrive(&timed->resident->block, ended ? NULL : it), counted);
    return !ended || timed->resident->block.warps_alive || end_block(machine, timed->slot);
}

// When a warp's next instruction finds its pipe free, too.
static double startable(struct machine *machine, struct timed_warp *timed, int quarter)
{
    if (timed->waits || !timed->next)
        return INFINITY;
    if (timed->when > machine->now)
        return timed->when;
    if (timed->next->products) // goes into the queue
        return machine->queues[quarter].count < PRODUCTS ? machine->now : INFINITY;
    double pipe = *pipe_slot(machine, quarter, timed->next);
    if (timed->next->reads)
        pipe = fmax(pipe, machine->registers_free[quarter]);
    return timed->next->pipe == PIPE_MEMORY && machine->unit_free - QUEUE > pipe ? machine->unit_free - QUEUE : pipe;
}

// The warp that has waited longest since its last instruction. Greedy orders let warps drift apart, which loses the
// lines that they share in L1; published times of kernels without barriers show that they do not.
static bool issue_one(struct machine *machine, int quarter, double *next)
{
    struct timed_warp *best = NULL;
    int count = machine->slots * machine->warps_a_block;
    for (int i = quarter; i < count; i += QUARTERS) {
        struct timed_warp *timed = &machine->warps[i];
        double when = startable(machine, timed, quarter);
        if (when > machine->now)
            *next = when < *next ? when : *next;
        else if (!best || timed->issued_at < best->issued_at)
            best = timed;
    }
    if (!best)
        return true;
    *next = machine->now + 1;
    return issue(machine, best, quarter);
}

static bool run(struct machine *machine)
{
    struct simulated *result = machine->result;
    bool fine = true;
    while (fine && machine->issued < machine->most) {
        double next = INFINITY;
        for (int quarter = 0; fine && quarter < QUARTERS; quarter++)
            fine = issue_one(machine, quarter, &next);
        for (int quarter = 0; quarter < QUARTERS; quarter++)
            multiply(machine, quarter, &next);
        if (next == INFINITY)
            break; // all have ended
        machine->now = fmax(machine->now + 1, ceil(next));
        land_boxes(machine);
        if (!result->early_cycles && machine->issued > 0.4 * machine->most) {
            result->early_cycles = machine->now;
            result->early_instructions = machine->issued;
        }
    }
    result->cycles = fmax(machine->now, fmax(machine->l2_free, machine->dram_free));
    result->instructions = machine->issued;
    result->busy.issue = machine->issued / QUARTERS;
    result->whole = machine->blocks_left <= 0 && result->blocks > 0 && machine->issued < machine->most;
    return fine;
}

// Multiprocessors that have blocks: they share what L2 and memory give.
static double with_blocks(const struct program *program)
{
    const int *grid = program->launch.grid;
    return fmin((double)grid[0] * grid[1] * grid[2], program->chip.multiprocessors);
}

// Bytes a cycle that a multiprocessor reads of L2.
static double l2_share(const struct program *program, double of_all)
{
    const struct chip *chip = &program->chip;
    return of_all > 0 ? fmin(chip->l2_port, of_all / with_blocks(program)) : chip->l2_port;
}

bool run_multiprocessor(struct program *program, int resident, long blocks, double most, const struct misses *misses,
                        struct simulated *result)
{
    const struct chip *chip = &program->chip;
    memset(result, 0, sizeof *result);
    double share = chip->dram * (misses->mixed ? chip->dram_mixed : chip->dram_read);
    struct machine machine = {
        .program = program,
        .slots = resident < blocks ? resident : (int)blocks,
        .warps_a_block = warps_of_block(&program->launch),
        .l2_read_bytes = l2_share(program, chip->l2_read),
        .l2_box_bytes = l2_share(program, chip->l2_boxes),
        .part_cycles = chip->l2_slices > 0 ? chip->partial_bytes * with_blocks(program) / chip->l2_slices : 0,
        .dram_cycle_bytes = share / (chip->clock * with_blocks(program)),
        .rates = *misses,
        .blocks_left = blocks,
        .stride = chip->multiprocessors,
        .most = most,
        .result = result,
    };
    machine.blocks = calloc((size_t)machine.slots, sizeof *machine.blocks);
    machine.warps = calloc((size_t)(machine.slots * machine.warps_a_block), sizeof *machine.warps);
    machine.owed = calloc((size_t)program->length, sizeof *machine.owed);
    bool fine =
        machine.blocks && machine.warps && machine.owed && open_cache(&machine.l1, l1_beside(program, resident));
    for (int i = 0; fine && i < machine.slots; i++)
        fine = open_slot(&machine, i, i * 10.0);
    fine = fine && run(&machine);
    for (int i = 0; machine.blocks && i < machine.slots; i++)
        close_resident(&machine.blocks[i]);
    free(machine.blocks);
    free(machine.warps);
    free(machine.owed);
    close_cache(&machine.l1);
    return fine;
}

// A warp: which lanes are where, and what one instruction does. Lanes that have parted go on at the lowest address
// first, which is where structured code meets again.
#include "warp.h"

#include "execute.h"
#include "operands.h"
#include "orders.h"

#include <string.h>

void start_warp(struct warp *warp, const struct program *program, struct block *block, int number)
{
    const int *extent = program->launch.block;
    int threads = extent[0] * extent[1] * extent[2] - number * LANES;
    warp->program = program;
    warp->block = block;
    warp->first_thread = number * LANES;
    warp->alive = threads >= LANES ? ~0u : (1u << threads) - 1;
    memset(warp->predicates, 0, sizeof warp->predicates);
    warp->predicates[PT] = warp->predicates[UPT] = ~0u;
    warp->at = 0;
    warp->parted = false;
    warp->asked = 0;
}

bool warp_ended(const struct warp *warp)
{
    return !warp->alive;
}

uint32_t lanes_now(struct warp *warp)
{
    if (!warp->parted)
        return warp->alive;
    int lowest = warp->program->length;
    uint32_t lanes = 0;
    for (int i = 0; i < LANES; i++)
        if (warp->alive >> i & 1 && warp->lane_at[i] < lowest)
            lowest = warp->lane_at[i];
    for (int i = 0; i < LANES; i++)
        lanes |= (uint32_t)((warp->alive >> i & 1) && warp->lane_at[i] == lowest) << i;
    warp->at = lowest;
    if (lanes == warp->alive)
        warp->parted = false;
    return lanes;
}

const struct instruction *next_instruction(struct warp *warp)
{
    if (!warp->alive)
        return NULL;
    lanes_now(warp);
    return warp->at < warp->program->length ? &warp->program->code[warp->at] : NULL;
}

// `lanes` go on at `target`; the others that were with them at the next instruction.
static void go(struct warp *warp, uint32_t together, uint32_t lanes, int target)
{
    if (lanes == together && !warp->parted) {
        warp->at = target;
        return;
    }
    if (!warp->parted)
        for (int i = 0; i < LANES; i++)
            warp->lane_at[i] = warp->at;
    warp->parted = true;
    for (int i = 0; i < LANES; i++)
        if (together >> i & 1)
            warp->lane_at[i] = lanes >> i & 1 ? target : warp->at + 1;
}

static void go_on(struct warp *warp, uint32_t together)
{
    if (!warp->parted) {
        warp->at++;
        return;
    }
    for (int i = 0; i < LANES; i++)
        if (together >> i & 1)
            warp->lane_at[i] = warp->at + 1;
}

// Each lane to the address in its register, as returns and tables of jumps do.
static bool go_where_registers_say(struct warp *warp, const struct instruction *it, uint32_t lanes)
{
    uint32_t low[LANES];
    const struct operand *to = &it->operands[0];
    int64_t base = it->count > 1 && it->operands[1].kind == IMMEDIATE ? it->operands[1].value : 0;
    if (to->kind != REGISTER)
        return false;
    read_word(warp, to, 0, low);
    if (!warp->parted)
        for (int i = 0; i < LANES; i++)
            warp->lane_at[i] = warp->at;
    warp->parted = true;
    for (int i = 0; i < LANES; i++) {
        if (!(lanes >> i & 1))
            continue;
        int target = instruction_at(warp->program, base + (int32_t)low[i]);
        if (target < 0)
            return false;
        warp->lane_at[i] = target;
    }
    return true;
}

static bool branch(struct warp *warp, const struct instruction *it, uint32_t together, uint32_t lanes)
{
    if (!strcmp(it->base, "EXIT")) {
        if (lanes != together)
            go(warp, together, 0, 0);
        warp->alive &= ~lanes;
        if (lanes == together && warp->parted)
            lanes_now(warp);
        return true;
    }
    if (!strcmp(it->name, "BRA.DIV")) { // to a slow path for lanes that have parted; they meet again here
        go_on(warp, together);
        return true;
    }
    if (!strcmp(it->base, "RET") || !strncmp(it->base, "BRX", 3)) // BRXU: in a uniform register
        return go_where_registers_say(warp, it, lanes);
    if (!strcmp(it->base, "BRA") || !strcmp(it->base, "CALL") || !strcmp(it->base, "JMP")) {
        int target = instruction_at(warp->program, it->operands[it->count - 1].value);
        for (int i = 0; i + 1 < it->count; i++)
            if (it->operands[i].kind == PREDICATE) {
                uint32_t test = warp->predicates[it->operands[i].index];
                lanes &= it->operands[i].inverted ? ~test : test;
            }
        if (target < 0 || it->operands[it->count - 1].kind != IMMEDIATE)
            return false;
        go(warp, together, lanes, target);
        return true;
    }
    go_on(warp, together);
    return true;
}

void read_addresses(const struct warp *warp, const struct operand *operand, bool wide, uint64_t to[LANES])
{
    uint32_t low[LANES] = {0}, high[LANES] = {0};
    if (operand->index != RZ) {
        memcpy(low, warp->registers[operand->index], sizeof low);
        if (wide)
            memcpy(high, warp->registers[operand->index + 1], sizeof high);
    }
    uint64_t uniform = 0;
    if (operand->uniform != URZ) {
        uniform = warp->registers[operand->uniform][0];
        if (wide && operand->uniform + 1 < URZ)
            uniform |= (uint64_t)warp->registers[operand->uniform + 1][0] << 32;
    }
    for (int i = 0; i < LANES; i++) {
        uint64_t base = (uint64_t)high[i] << 32 | low[i];
        to[i] = base * (uint64_t)operand->half + uniform + (uint64_t)operand->value;
        to[i] = wide ? to[i] : (uint32_t)to[i];
    }
}

static void access_bytes(uint8_t *memory, uint64_t room, uint64_t at, uint32_t *value, int bytes, bool store)
{
    if (!memory || at + (uint64_t)bytes > room)
        return;
    if (store)
        memcpy(memory + at, value, (size_t)bytes);
    else
        memcpy(value, memory + at, (size_t)bytes);
}

static uint64_t local_place(int lane, uint64_t address)
{
    return (uint64_t)lane * LOCAL_BYTES + address % LOCAL_BYTES;
}

// A word of global memory whose bytes are as if drawn: each address has its own.
static uint32_t drawn(uint64_t address)
{
    uint64_t mixed = (address >> 2) * 0x9e3779b97f4a7c15ull;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9ull;
    return (uint32_t)(mixed >> 32) >> 8 * (address & 3);
}

// What a lane finds where values are not kept: global memory holds what the launch says, and the word of an atomic how
// many blocks came before this one if all come in order, which tells the last, and the second leg of two.
static uint32_t found(const struct warp *warp, const struct instruction *it, uint64_t address)
{
    const struct launch *launch = &warp->program->launch;
    const int *at = warp->block->position;
    if (it->atomic)
        return (uint32_t)((at[2] * launch->grid[1] + at[1]) * launch->grid[0] + at[0]);
    if (!launch->drawn || it->space != SPACE_GLOBAL)
        return launch->data;
    return drawn(address) & (it->bytes < 4 ? (1u << 8 * it->bytes) - 1 : ~0u);
}

// Values that addresses depend on: through shared memory and stacks.
static void move_values(struct warp *warp, const struct instruction *it, const struct step *step)
{
    bool shared = it->space == SPACE_SHARED, local = it->space == SPACE_LOCAL;
    if (it->atomic && it->results && it->operands[0].kind == PREDICATE)
        write_predicate(warp, it->operands[0].index, step->lanes, ~0u); // it was done, for an address of any memory
    uint8_t *memory = shared ? warp->block->shared : local ? warp->local : NULL;
    uint64_t room = shared ? (uint64_t)warp->program->launch.shared : (uint64_t)LOCAL_BYTES * LANES;
    const struct operand *data = it->store ? &it->operands[it->count - 1] : &it->operands[it->results - 1];
    int bytes = it->bytes < 4 ? it->bytes : 4;
    for (int word = 0; word < (it->bytes + 3) / 4; word++) {
        uint32_t values[LANES];
        for (int i = 0; i < LANES; i++)
            values[i] = memory ? 0 : found(warp, it, step->address[i] + 4u * (unsigned)word);
        if (it->store)
            read_word(warp, data, word, values);
        for (int i = 0; i < LANES; i++) {
            uint64_t at = local ? local_place(i, step->address[i]) : step->address[i];
            if (step->lanes >> i & 1)
                access_bytes(memory, room, at + 4u * (unsigned)word, &values[i], bytes, it->store);
        }
        if (!it->store && it->results && data->kind == REGISTER && data->index != RZ)
            write_word(warp, data->index + word, step->lanes, values);
    }
}

static void access_memory(struct warp *warp, const struct instruction *it, struct step *step)
{
    const struct operand *places[2] = {NULL, NULL};
    int n = 0;
    for (int i = 0; i < it->count && n < 2; i++)
        if (it->operands[i].kind == ADDRESS)
            places[n++] = &it->operands[i];
    const struct operand *place = it->asynchronous && n > 1 ? places[1] : places[0];
    if (!place) {
        memset(step->address, 0, sizeof step->address);
        return;
    }
    bool wide = it->space == SPACE_GLOBAL && (place->wide || strstr(it->name, ".E") != NULL);
    read_addresses(warp, place, wide, step->address);
    if (it->asynchronous && n > 1)
        read_addresses(warp, places[0], false, step->target);
    for (int i = 0; it->store && it->space == SPACE_SHARED && i < LANES; i++)
        if (step->lanes >> i & 1)
            mark_stored(&warp->block->stored, step->address[i], it->bytes);
    if (it->needed)
        move_values(warp, it, step);
}

// Reads for an address or a branch what other blocks may have written meanwhile: by a load that caches must not answer,
// or by an atomic that adds nothing.
static bool asks_others(const struct instruction *it)
{
    const struct operand *last = &it->operands[it->count - 1];
    bool adds_nothing = it->atomic && it->results && last->kind == REGISTER && last->index == RZ;
    return it->needed && it->space == SPACE_GLOBAL && (adds_nothing || (it->load && strstr(it->name, ".STRONG")));
}

bool step_warp(struct warp *warp, struct step *step, char *error, size_t room)
{
    enum { OFTEN = 1000 }; // how far the blocks before have come is not known, and decides how long this goes on
    uint32_t together = lanes_now(warp);
    struct instruction *it = &warp->program->code[warp->at];
    uint32_t guard = warp->predicates[it->guard];
    step->instruction = it;
    step->lanes = together & (it->guard_inverted ? ~guard : guard);
    bool understood = true;
    bool memory = it->space == SPACE_GLOBAL || it->space == SPACE_SHARED || it->space == SPACE_LOCAL;
    if (asks_others(it) && ++warp->asked > OFTEN) {
        snprintf(error, room, "a loop that goes on until other blocks have written is not modelled");
        return false;
    }
    if (it->pipe == PIPE_BRANCH && !it->results) {
        understood = branch(warp, it, together, step->lanes);
    } else {
        if (memory)
            access_memory(warp, it, step);
        else if (it->phase)
            understood = step_phase(warp, it, step);
        else if (it->dimensions)
            understood = it->run ? step_run(warp, it, step) : step_box(warp, it, step);
        else if (it->needed && step->lanes)
            understood = compute(warp, it, step->lanes);
        go_on(warp, together);
    }
    if (!understood)
        snprintf(error, room, "instruction not understood: %s at 0x%x", it->name, it->address);
    return understood;
}

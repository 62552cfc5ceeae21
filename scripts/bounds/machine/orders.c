// Boxes that a thread orders from TMA, and the barriers in shared memory by which others know of them.
#include "orders.h"

#include <string.h>

#include "operands.h"

enum { MOST_ARRIVALS = 2048 }; // of a barrier that a store initialises: some for each thread

static const struct operand *place_of(const struct instruction *it)
{
    for (int i = 0; i < it->count; i++)
        if (it->operands[i].kind == ADDRESS)
            return &it->operands[i];
    return NULL;
}

bool brings_box(const struct step *step)
{
    const struct instruction *it = step->instruction;
    return !it->leaves && (it->dimensions || step->box.bytes > 0) && step->lanes;
}

bool sends_box(const struct step *step)
{
    return step->instruction->leaves && step->box.bytes > 0 && step->lanes;
}

// Many order their boxes first and tell the barrier of the bytes then, as the programming guide does: there the first
// of the boxes whose maps nobody knows brings all of them.
static void take_unsized(struct warp *warp, const struct instruction *it, struct step *step)
{
    int lane = step->lanes ? __builtin_ctz(step->lanes) : 0;
    struct phase_barrier *barrier = find_phases(&warp->block->phases, step->address[lane]);
    if (!barrier || !barrier->unsized.dimensions || strstr(it->name, "T0") || !step->value[lane])
        return;
    step->box = barrier->unsized;
    step->box.bytes = step->value[lane];
    barrier->unsized.dimensions = 0;
}

// An arrival's state, SYNCS.ARRIVE.TRANS64.A1T0 R8, [R0+URZ], RZ: by the last bit of its upper word one asks later
// whether the phase that was under way is over.
static void give_state(struct warp *warp, const struct instruction *it, const struct step *step)
{
    const struct operand *to = &it->operands[0];
    uint32_t low[LANES] = {0}, high[LANES] = {0};
    if (to->kind != REGISTER || to->index >= RZ)
        return;
    for (int i = 0; i < LANES; i++) {
        const struct phase_barrier *barrier = NULL;
        if (step->lanes >> i & 1)
            barrier = find_phases(&warp->block->phases, step->address[i]);
        high[i] = barrier ? (uint32_t)(barrier->phase % 2) << 31 : 0;
    }
    write_word(warp, to->index, step->lanes, low);
    write_word(warp, to->index + 1, step->lanes, high);
}

bool step_phase(struct warp *warp, const struct instruction *it, struct step *step)
{
    step->box = (struct box){0};
    const struct operand *place = place_of(it), *value = &it->operands[it->count - 1];
    if (!place)
        return false;
    read_addresses(warp, place, false, step->address);
    if (it->phase != PHASE_TEST) {
        read_word(warp, value, 0, step->value);
        if (it->phase == PHASE_ARRIVE) {
            take_unsized(warp, it, step);
            give_state(warp, it, step);
        }
        return true;
    }
    if (it->operands[0].kind != PREDICATE)
        return false;
    write_predicate(warp, it->operands[0].index, step->lanes, ~0u);
    return true;
}

static void size_of_coming(struct warp *warp, struct step *step)
{
    struct box *box = &step->box;
    struct phase_barrier *barrier = find_phases(&warp->block->phases, box->barrier);
    box->bytes = box->map ? bytes_of_box(box->map) : barrier ? barrier->bytes : 0;
    if (barrier && !box->bytes && !barrier->unsized.dimensions && step->lanes)
        barrier->unsized = *box;
}

// Of boxes whose maps nobody knows and that lie side by side the first takes all, the others nothing.
static bool size_of_leaving(struct warp *warp, struct step *step)
{
    struct stored *stored = &warp->block->stored;
    if (!step->lanes)
        return true;
    int64_t written = send_stored(stored, step->box.shared);
    step->box.bytes = step->box.map ? bytes_of_box(step->box.map) : written;
    return step->box.bytes > 0 || stored->sent;
}

// UTMALDG.4D [UR8], [UR14]: UR8 has where in shared memory, UR9 the barrier, UR10 and on the corner, innermost
// dimension first; UR14 and UR15 where the map lies. UTMASTG.2D [UR4], [UR8] has no barrier, UR5 and on are the corner.
bool step_box(struct warp *warp, const struct instruction *it, struct step *step)
{
    const struct operand *from = &it->operands[it->count - 1], *to = &it->operands[0];
    int ahead = it->leaves ? 1 : 2; // of the corner
    uint64_t map[LANES];
    if (it->count < 2 || from->uniform == URZ || to->uniform + ahead + it->dimensions > URZ ||
        it->dimensions > MAP_RANK)
        return false;
    read_addresses(warp, from, true, map);
    step->box = (struct box){.map = map_at(warp->program, map[0]), .address = map[0], .dimensions = it->dimensions};
    step->box.shared = warp->registers[to->uniform][0];
    step->box.barrier = it->leaves ? 0 : warp->registers[to->uniform + 1][0];
    for (int i = 0; i < it->dimensions; i++)
        step->box.corner[MAP_RANK - 1 - i] = (int)warp->registers[to->uniform + ahead + i][0];
    if (it->leaves)
        return size_of_leaving(warp, step);
    size_of_coming(warp, step);
    return true;
}

// UBLKCP.S.G [UR8], [UR6], UR4: UR8 has where in shared memory, UR9 the barrier, UR6 and UR7 from where, UR4 how many
// times 16 bytes. UBLKCP.G.S [UR6], [UR8], UR4 goes the other way and has no barrier.
bool step_run(struct warp *warp, const struct instruction *it, struct step *step)
{
    const struct operand *shared = &it->operands[it->leaves], *global = &it->operands[!it->leaves];
    uint64_t address[LANES];
    uint32_t sixteens[LANES];
    if (it->count < 3 || shared->uniform + 1 >= URZ || global->uniform == URZ)
        return false;
    read_addresses(warp, global, true, address);
    read_word(warp, &it->operands[2], 0, sixteens);
    step->box = (struct box){.run = true, .address = address[0], .dimensions = 1, .bytes = 16 * (int64_t)sixteens[0]};
    step->box.shared = warp->registers[shared->uniform][0];
    step->box.barrier = it->leaves ? 0 : warp->registers[shared->uniform + 1][0];
    return true;
}

struct phase_barrier *asked_barrier(struct warp *warp, int *parity)
{
    uint64_t address[LANES];
    uint32_t value[LANES], together = warp->alive ? lanes_now(warp) : 0;
    const struct instruction *it = next_instruction(warp);
    if (!it || it->phase != PHASE_TEST || !place_of(it))
        return NULL;
    uint32_t guard = warp->predicates[it->guard], lanes = together & (it->guard_inverted ? ~guard : guard);
    if (!lanes)
        return NULL;
    read_addresses(warp, place_of(it), false, address);
    read_word(warp, &it->operands[it->count - 1], 0, value);
    *parity = (int)(value[__builtin_ctz(lanes)] >> 31);
    return find_phases(&warp->block->phases, address[__builtin_ctz(lanes)]);
}

// SYNCS.ARRIVE.TRANS64 arrives and tells of bytes, .A1T0 arrives, .A0TR tells of bytes.
static bool count_lane(struct phases *phases, const struct instruction *it, uint64_t address, uint32_t value,
                       double when, bool *ended)
{
    int64_t arrivals = 0x100000 - (int64_t)(value >> 1); // a word of 64 bits counts down from 2^20
    if (it->phase == PHASE_BEGIN && it->base[1] == 'T' && (arrivals < 1 || arrivals > MOST_ARRIVALS))
        return true; // a store of something else
    if (it->phase == PHASE_BEGIN)
        return begin_phases(phases, address, (int)arrivals);
    struct phase_barrier *barrier = find_phases(phases, address);
    if (barrier)
        *ended |= count_phase(barrier, !strstr(it->name, ".A0"), strstr(it->name, "T0") ? 0 : value, when);
    return barrier;
}

bool count_step(struct block *block, const struct step *step, double when, char *error, size_t room)
{
    const struct instruction *it = step->instruction;
    bool ended = false, fine = true;
    if (brings_box(step)) {
        mark_stored(&block->stored, step->box.shared, step->box.bytes);
        struct phase_barrier *barrier = find_phases(&block->phases, step->box.barrier);
        fine = barrier != NULL;
        ended = fine && count_phase(barrier, 0, -step->box.bytes, when);
    }
    for (int i = 0; i < LANES && (it->phase == PHASE_BEGIN || it->phase == PHASE_ARRIVE); i++)
        if (step->lanes >> i & 1)
            fine &= count_lane(&block->phases, it, step->address[i], step->value[i], when, &ended);
    if (!fine)
        snprintf(error, room, "a barrier in shared memory at 0x%x that nobody has initialised, or one too many",
                 it->address);
    return ended;
}

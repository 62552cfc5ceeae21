#include "resident.h"

#include <stdlib.h>
#include <string.h>

int warps_of_block(const struct launch *launch)
{
    return (launch->block[0] * launch->block[1] * launch->block[2] + LANES - 1) / LANES;
}

static bool needs(const struct program *program, enum space space)
{
    for (int i = 0; i < program->length; i++)
        if (program->code[i].needed && program->code[i].space == space && program->code[i].load)
            return true;
    return false;
}

static bool sends_boxes(const struct program *program)
{
    for (int i = 0; i < program->length; i++)
        if (program->code[i].leaves)
            return true;
    return false;
}

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

bool open_resident(struct resident *resident, const struct program *program, long number)
{
    const struct launch *launch = &program->launch;
    int count = warps_of_block(launch);
    size_t rows = (size_t)count * REGISTERS * LANES * sizeof(uint32_t);
    size_t shared = needs(program, SPACE_SHARED) ? round_up((size_t)launch->shared) : 0;
    size_t local = needs(program, SPACE_LOCAL) ? (size_t)LOCAL_BYTES * LANES : 0;
    int64_t all = program->chip.shared;
    size_t stored = sends_boxes(program) ? round_up((size_t)stored_bytes(all)) : 0;
    size_t size = rows + shared + stored + local * (size_t)count;
    if (!resident->memory) {
        // Zeros that the system gives page by page: most registers of most warps are never touched.
        resident->memory = calloc(1, size);
        resident->warps = calloc((size_t)count, sizeof *resident->warps);
        if (!resident->memory || !resident->warps)
            return false;
    } else {
        memset(resident->memory, 0, size);
    }
    char *at = resident->memory;
    resident->count = count;
    resident->block = (struct block){
        .position = {(int)(number % launch->grid[0]), (int)(number / launch->grid[0] % launch->grid[1]),
                     (int)(number / launch->grid[0] / launch->grid[1])},
        .shared = shared ? (uint8_t *)at + rows : NULL,
        .warps_alive = count,
        .stored = nothing_stored(stored ? at + rows + shared : NULL, all),
    };
    for (int i = 0; i < count; i++) {
        resident->warps[i].registers = (uint32_t(*)[LANES])(void *)(at + (size_t)i * REGISTERS * LANES * 4);
        resident->warps[i].local = local ? (uint8_t *)at + rows + shared + stored + local * (size_t)i : NULL;
        start_warp(&resident->warps[i], program, &resident->block, i);
    }
    return true;
}

void close_resident(struct resident *resident)
{
    free(resident->memory);
    free(resident->warps);
    memset(resident, 0, sizeof *resident);
}

int arrive(struct block *block, const struct instruction *barrier)
{
    if (barrier && barrier->barrier_warps) {
        int *come = &block->at_named[barrier->barrier_at - 1];
        if (++*come < barrier->barrier_warps)
            return 0;
        *come = 0;
        return barrier->barrier_at;
    }
    if (barrier)
        block->warps_waiting++;
    else
        block->warps_alive--;
    if (block->warps_waiting < block->warps_alive || !block->warps_waiting)
        return 0;
    block->warps_waiting = 0;
    return WHOLE_BLOCK;
}

#include "boxes.h"

enum { ROW = 128 }; // of what has no map that anybody knows: a line

const struct tensor_map *map_at(const struct program *program, uint64_t address)
{
    for (int i = 0; i < program->map_count; i++)
        if (program->maps[i].address == address)
            return &program->maps[i];
    return NULL;
}

int64_t bytes_of_box(const struct tensor_map *map)
{
    int64_t elements = 1;
    for (int i = 0; i < MAP_RANK; i++)
        elements *= map->box[i];
    return elements * map->element;
}

// Each box that nobody knows has a place of its own, by its map and its corner.
static bool next_unknown_row(const struct box *box, int *at, uint64_t *address, int *bytes)
{
    uint64_t hash = box->address;
    for (int i = 0; i < MAP_RANK; i++)
        hash = (hash ^ (uint32_t)box->corner[i]) * 0x9e3779b97f4a7c15ull;
    int64_t left = box->bytes - (int64_t)*at * ROW;
    if (left <= 0)
        return false;
    *address = 0x500000000000ull + (hash >> 36 << 18) + (uint64_t)*at * ROW;
    *bytes = left < ROW ? (int)left : ROW;
    ++*at;
    return true;
}

static bool next_row_of_run(const struct box *box, int *at, uint64_t *address, int *bytes)
{
    const uint64_t row = box->address / ROW + (uint64_t)*at, end = box->address + (uint64_t)box->bytes;
    *address = *at ? row * ROW : box->address;
    if (*address >= end)
        return false;
    *bytes = (int)(((row + 1) * ROW < end ? (row + 1) * ROW : end) - *address);
    ++*at;
    return true;
}

// The row's place in the tensor; false where it lies outside.
static bool place_row(const struct box *box, int row, uint64_t *address, int *bytes)
{
    const struct tensor_map *map = box->map;
    const int last = MAP_RANK - 1;
    int inside[MAP_RANK] = {0};
    for (int i = last - 1; i >= 0; row /= map->box[i--])
        inside[i] = row % map->box[i];
    int64_t number = 0;
    for (int i = 0; i < last; i++) {
        int64_t at = box->corner[i] + (int64_t)inside[i] * map->every[i];
        if (at < 0 || at >= map->size[i])
            return false;
        number = number * map->size[i] + at;
    }
    int64_t begin = box->corner[last] > 0 ? box->corner[last] : 0, end = (int64_t)box->corner[last] + map->box[last];
    end = end < map->size[last] ? end : map->size[last];
    *address = map->tensor + (uint64_t)((number * map->size[last] + begin) * map->element);
    *bytes = (int)(end - begin) * map->element;
    return end > begin;
}

bool next_row(const struct box *box, int *at, uint64_t *address, int *bytes)
{
    if (box->run)
        return next_row_of_run(box, at, address, bytes);
    if (!box->map)
        return next_unknown_row(box, at, address, bytes);
    int64_t rows = bytes_of_box(box->map) / box->map->element / box->map->box[MAP_RANK - 1];
    while (*at < rows)
        if (place_row(box, (*at)++, address, bytes))
            return true;
    return false;
}

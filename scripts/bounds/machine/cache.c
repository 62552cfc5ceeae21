#include "cache.h"

#include <stdlib.h>
#include <string.h>

bool open_cache(struct cache *cache, double bytes)
{
    memset(cache, 0, sizeof *cache);
    cache->sets = (uint64_t)(bytes / (LINE * WAYS));
    if (cache->sets < 1)
        cache->sets = 1;
    cache->ways = calloc(cache->sets * WAYS, sizeof *cache->ways);
    return cache->ways != NULL;
}

void close_cache(struct cache *cache)
{
    free(cache->ways);
    cache->ways = NULL;
}

// Lines are spread over the sets by a hash, as memory partitions do; otherwise powers of two would meet in one set.
static struct way *set_of(const struct cache *cache, uint64_t line)
{
    uint64_t hash = line * 0x9e3779b97f4a7c15ull;
    return cache->ways + (hash >> 20) % cache->sets * WAYS;
}

// The way that holds a line; one is made free for it where there is none.
static struct way *find_way(struct cache *cache, uint64_t line)
{
    struct way *set = set_of(cache, line), *oldest = set;
    cache->clock++;
    for (int i = 0; i < WAYS; i++) {
        if (set[i].sectors && set[i].tag == line) {
            set[i].used = cache->clock;
            return &set[i];
        }
        if (!set[i].sectors || (oldest->sectors && set[i].used < oldest->used))
            oldest = &set[i];
    }
    cache->written_back += (uint64_t)__builtin_popcount(oldest->dirty);
    cache->read_in += (uint64_t)__builtin_popcount(oldest->dirty & ~oldest->whole);
    *oldest = (struct way){.tag = line, .used = cache->clock};
    return oldest;
}

uint8_t read_line(struct cache *cache, uint64_t line, uint8_t sectors)
{
    struct way *way = find_way(cache, line);
    uint8_t missing = sectors & (uint8_t)~way->sectors;
    cache->read_in += (uint64_t)__builtin_popcount(missing);
    way->sectors |= sectors;
    way->whole |= missing;
    return missing;
}

void write_line(struct cache *cache, uint64_t line, uint8_t sectors, uint8_t whole)
{
    struct way *way = find_way(cache, line);
    // A sector that is written twice in part counts as whole: threads side by side complete it.
    way->whole |= whole | (way->dirty & sectors);
    way->sectors |= sectors;
    way->dirty |= sectors;
}

uint8_t sectors_of(uint64_t address, int bytes, uint64_t line)
{
    uint64_t begin = line * LINE, from = address > begin ? address - begin : 0;
    uint64_t to = address + (uint64_t)bytes < begin + LINE ? address + (uint64_t)bytes - begin : LINE;
    uint8_t sectors = 0;
    for (uint64_t sector = from / SECTOR; sector * SECTOR < to; sector++)
        sectors |= (uint8_t)(1 << sector);
    return sectors;
}

static int place_of(struct request *request, uint64_t line)
{
    for (int i = request->lines - 1; i >= 0; i--)
        if (request->line[i] == line)
            return i;
    if (request->lines == 64)
        return 63;
    request->line[request->lines] = line;
    request->sectors[request->lines] = 0;
    request->whole[request->lines] = 0;
    return request->lines++;
}

void gather(struct request *request, const uint64_t address[32], uint32_t lanes, int bytes)
{
    request->lines = request->count_sectors = request->count_whole = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        int before = request->lines, place = place_of(request, address[lane] / LINE);
        if (request->lines > before)
            memset(request->covered[place], 0, sizeof request->covered[place]);
        int from = (int)(address[lane] % LINE), to = from + bytes > LINE ? LINE : from + bytes;
        for (int sector = from / SECTOR; sector <= (to - 1) / SECTOR; sector++) {
            int low = from > sector * SECTOR ? from - sector * SECTOR : 0;
            int high = to - sector * SECTOR < SECTOR ? to - sector * SECTOR : SECTOR;
            request->sectors[place] |= (uint8_t)(1 << sector);
            request->covered[place][sector] |= (uint32_t)(((1ull << (high - low)) - 1) << low);
        }
    }
    for (int i = 0; i < request->lines; i++) {
        for (int sector = 0; sector < 4; sector++)
            request->whole[i] |= (uint8_t)((request->covered[i][sector] == ~0u) << sector);
        request->count_sectors += __builtin_popcount(request->sectors[i]);
        request->count_whole += __builtin_popcount(request->whole[i]);
    }
}

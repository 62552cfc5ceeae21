/*
 * shards.h - how a batch is cut into shards: by its rows and their number alone, so that a sample's shard does not
 * depend on how many ranks there are.
 *
 *   10 rows, 4 shards     | 0 1 2 | 3 4 5 | 6 7 | 8 9 |
 *    2 rows, 4 shards     | 0 | 1 | | |                    the empty ones are the last
 */
#ifndef GRADUS_SHARDS_H
#define GRADUS_SHARDS_H

#include <stdint.h>

/* The row with which a shard begins, from 0; of number shards: behind the last row. */
static inline int64_t gr__shard_row(int64_t rows, int64_t shards, int64_t shard)
{
    const int64_t more = rows % shards;
    return rows / shards * shard + (shard < more ? shard : more);
}

/* The first shard of a rank, the end of those of the one before it. */
static inline int64_t gr__first_shard(int64_t shards, int64_t ranks, int64_t rank)
{
    return shards / ranks * rank;
}

#endif

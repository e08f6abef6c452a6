/* Shared by the files that make maps. Private to this folder. */
#ifndef SP_PARTITION_TRAIN_PARTS_H
#define SP_PARTITION_TRAIN_PARTS_H

#include "partition/train.h"

/* A page as the cutting rules see it: its three lengths and their sum. */
struct sp_point {
    uint32_t at[SP_AXES];
};

/* Both fill cells, boxes and slicing of the map; points are reordered. */
void sp_train_kd(const struct sp_train_options *o, struct sp_point *points, size_t count,
                 struct sp_partition_map *map);
void sp_train_grid(const struct sp_train_options *o, struct sp_point *points, size_t count,
                   struct sp_partition_map *map);

#endif

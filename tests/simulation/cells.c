/* See cells.h. */
#include "cells.h"

#include "base/assert.h"
#include "base/mem.h"

void cells_make(struct sp_partition_map *map, uint32_t cells, uint32_t version, uint32_t least)
{
    *map = (struct sp_partition_map){
        .cells = cells, .boxes = sp_calloc(cells, sizeof *map->boxes), .version = version};
    for (uint32_t c = 0; c < cells; c++) {
        struct sp_box *box = &map->boxes[c];
        for (uint32_t d = 0; d < SP_AXES; d++)
            box->hi[d] = UINT32_MAX;
        box->lo[SP_DIMS] = c ? least + c : 0;
        box->hi[SP_DIMS] = c + 1 == cells ? UINT32_MAX : least + 1 + c;
    }
    enum sp_err err = sp_partition_finish(map);
    SP_ASSERT(err == SP_OK);
}

/* How far a world is on its way to a new partition map. */
#include "state.h"

bool sim_stale_process(const struct world *w)
{
    for (uint32_t i = 0; i < w->process_count; i++)
        if (w->processes[i].stale)
            return true;
    return false;
}

bool sim_put_under_way(const struct world *w)
{
    for (uint32_t i = 0; i < w->process_count; i++) {
        if (w->processes[i].aside.first)
            return true;
        for (uint32_t c = 0; c < CHANNELS; c++)
            for (const struct sp_message *m = w->processes[i].in[c].first; m; m = m->next)
                if (m->kind == SP_MSG_PUT &&
                    sp_maps_standing(&w->compare.maps, m->put.cell) == SP_CELL_LEAVING)
                    return true;
    }
    return false;
}

uint64_t sim_rows_to_move(const struct world *w)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < w->process_count; i++) {
        struct sp_compare_stage_stats stats = {0};
        if (w->processes[i].compare)
            sp_compare_stage_stats(w->processes[i].compare, &stats);
        rows += stats.rows_to_move;
    }
    return rows;
}

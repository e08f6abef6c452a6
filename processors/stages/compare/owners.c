/* The owners of a row but the first: a list sorted by page. */
#include <stdlib.h>

#include "base/mem.h"
#include "compare/cell.h"

void sp_owners_insert(struct sp_row *row, uint32_t at, struct sp_owner owner)
{
    sp_grow(&row->others, &row->other_cap, row->other_count + 1);
    memmove(row->others + at + 1, row->others + at, (row->other_count - at) * sizeof owner);
    row->others[at] = owner;
    row->other_count++;
}

uint32_t sp_owners_find(const struct sp_row *row, struct sp_id page)
{
    uint32_t lo = 0, hi = row->other_count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (sp_id_cmp(row->others[mid].page, page) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int by_page(const void *a, const void *b)
{
    return sp_id_cmp(((const struct sp_owner *)a)->page, ((const struct sp_owner *)b)->page);
}

void sp_owners_sort(struct sp_row *row)
{
    qsort(row->others, row->other_count, sizeof *row->others, by_page);
}

/* The owners of a row but the first: a list sorted by page. */
#include <stdlib.h>

#include "base/mem.h"
#include "compare/cell.h"

void owners_insert(struct row *row, uint32_t at, struct owner owner)
{
    if (row->other_count == row->other_cap) {
        row->other_cap = row->other_cap ? row->other_cap * 2 : 4;
        row->others = sp_realloc(row->others, row->other_cap * sizeof *row->others);
    }
    memmove(row->others + at + 1, row->others + at, (row->other_count - at) * sizeof owner);
    row->others[at] = owner;
    row->other_count++;
}

uint32_t owners_find(const struct row *row, struct sp_id page)
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
    return sp_id_cmp(((const struct owner *)a)->page, ((const struct owner *)b)->page);
}

void owners_sort(struct row *row)
{
    qsort(row->others, row->other_count, sizeof *row->others, by_page);
}

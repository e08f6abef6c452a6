/* The owners of a row but the first, in the order in which they came, so that one more page of a
 * content that a million have costs what the second did. See compare.c for what the order is for.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "compare/cell.h"

static int by_page(const void *key, const void *object)
{
    return sp_id_cmp(((const struct sp_other *)object)->owner.page, *(const struct sp_id *)key);
}

struct sp_other *sp_owners_find(const struct sp_row *row, struct sp_id page)
{
    struct sp_shelf_place place = sp_shelf_find(&row->others, by_page, &page, page.hi);
    struct sp_other *other = sp_shelf_next(&row->others, &place);
    return other && sp_id_eq(other->owner.page, page) ? other : NULL;
}

static void append(struct sp_row *row, struct sp_other *other)
{
    other->before = row->last;
    other->after = NULL;
    *(row->last ? &row->last->after : &row->second) = other;
    row->last = other;
}

void sp_owners_add(struct sp_row *row, struct sp_owner owner)
{
    struct sp_other *other = sp_calloc(1, sizeof *other);
    other->owner = owner;
    other->order = row->last ? row->last->order + 1 : 1;
    append(row, other);
    sp_shelf_add(&row->others, by_page, &other->owner.page, other->owner.page.hi, other);
}

bool sp_owners_restore(struct sp_row *row, const struct sp_other *stored)
{
    if (sp_owners_find(row, stored->owner.page))
        return false;
    struct sp_other *other = sp_memdup(stored, sizeof *stored);
    sp_shelf_add(&row->others, by_page, &other->owner.page, other->owner.page.hi, other);
    return true;
}

static int by_order(const void *a, const void *b)
{
    uint64_t x = (*(struct sp_other *const *)a)->order, y = (*(struct sp_other *const *)b)->order;
    return (x > y) - (x < y);
}

void sp_owners_settle(struct sp_row *row)
{
    struct sp_other **all = sp_alloc((row->others.count + 1) * sizeof(struct sp_other *));
    struct sp_shelf_place place = sp_shelf_first(&row->others);
    uint32_t count = 0;
    for (struct sp_other *other; (other = sp_shelf_next(&row->others, &place));)
        all[count++] = other;
    qsort(all, count, sizeof(struct sp_other *), by_order);
    row->second = row->last = NULL;
    for (uint32_t i = 0; i < count; i++)
        append(row, all[i]);
    sp_free(all);
}

void sp_owners_remove(struct sp_row *row, struct sp_other *other)
{
    *(other->before ? &other->before->after : &row->second) = other->after;
    *(other->after ? &other->after->before : &row->last) = other->before;
    sp_shelf_remove(&row->others, by_page, &other->owner.page, other->owner.page.hi);
    sp_free(other);
}

void sp_owners_free(struct sp_row *row)
{
    struct sp_shelf_place place = sp_shelf_first(&row->others);
    for (struct sp_other *other; (other = sp_shelf_next(&row->others, &place));)
        sp_free(other);
    sp_shelf_done(&row->others);
}

/* The owners of a row but the first: a sorted list of any length, so that one more page of a
 * content that a million have costs what the second did. */
#include "base/mem.h"
#include "compare/cell.h"

static int by_page(const void *key, const void *object)
{
    return sp_id_cmp(((const struct sp_owner *)object)->page, *(const struct sp_id *)key);
}

struct sp_owner *sp_owners_find(const struct sp_row *row, struct sp_id page)
{
    struct sp_shelf_place place = sp_shelf_find(&row->others, by_page, &page);
    struct sp_owner *owner = sp_shelf_next(&row->others, &place);
    return owner && sp_id_eq(owner->page, page) ? owner : NULL;
}

bool sp_owners_put(struct sp_row *row, struct sp_owner owner)
{
    struct sp_owner *there = sp_owners_find(row, owner.page);
    if (there) {
        *there = owner;
        return false;
    }
    sp_shelf_add(&row->others, by_page, &owner.page, sp_memdup(&owner, sizeof owner));
    return true;
}

void sp_owners_remove(struct sp_row *row, struct sp_owner *owner)
{
    sp_shelf_remove(&row->others, by_page, &owner->page);
    sp_free(owner);
}

void sp_owners_free(struct sp_row *row)
{
    struct sp_shelf_place place = sp_shelf_first(&row->others);
    for (struct sp_owner *owner; (owner = sp_shelf_next(&row->others, &place));)
        sp_free(owner);
    sp_shelf_done(&row->others);
}

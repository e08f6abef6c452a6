/* See refusals.h. */
#include "local/refusals.h"

#include <string.h>

#include "base/mem.h"

void sp_refusals_add(struct sp_refusals *r, const char *why, uint64_t count)
{
    for (int i = 0; i < SP_REFUSALS; i++) {
        struct sp_refusal *reason = &r->items[i];
        if (!reason->why)
            reason->why = sp_strdup(why);
        if (strcmp(reason->why, why) == 0) {
            reason->count += count;
            return;
        }
    }
    r->others += count;
}

void sp_refusals_sort(struct sp_refusals *r)
{
    for (int i = 1; i < SP_REFUSALS; i++) {
        struct sp_refusal moved = r->items[i];
        int k = i;
        for (; k > 0 && r->items[k - 1].count < moved.count; k--)
            r->items[k] = r->items[k - 1];
        r->items[k] = moved;
    }
}

void sp_refusals_done(struct sp_refusals *r)
{
    for (int i = 0; i < SP_REFUSALS; i++)
        sp_free(r->items[i].why);
    *r = (struct sp_refusals){0};
}

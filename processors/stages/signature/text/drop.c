/* See drop.h. */
#include "text/drop.h"

#include <string.h>

void sp_drop_begin(struct sp_drop *d, enum sp_tag tag)
{
    d->tag = tag;
    d->depth = 1;
    memset(d->inside, 0, sizeof d->inside);
}

static bool leave(struct sp_drop *d)
{
    d->depth = 0;
    return false;
}

bool sp_drop_start(struct sp_drop *d, enum sp_tag tag, bool closed, bool in_cell)
{
    unsigned flags = sp_tag_flags[tag];
    if (d->tag == SP_TAG_svg && (flags & SP_TAG_BREAKOUT))
        return leave(d);
    if (d->tag != SP_TAG_template && (flags & SP_TAG_CELL) && !d->inside[SP_TAG_table])
        return in_cell ? leave(d) : true; /* without a table, it is none */
    if (tag == d->tag)
        d->depth += !closed;
    else if ((flags & SP_TAG_STACK) || tag == SP_TAG_p)
        d->inside[tag]++;
    return true;
}

bool sp_drop_end(struct sp_drop *d, enum sp_tag tag, bool open)
{
    bool container = sp_tag_flags[tag] & SP_TAG_STACK;
    if (tag == d->tag) {
        d->depth--;
        return true;
    }
    if (d->tag == SP_TAG_template || !(container || tag == SP_TAG_p))
        return true;
    if (d->inside[tag]) {
        d->inside[tag] -= container;
        return true;
    }
    return open ? leave(d) : true;
}

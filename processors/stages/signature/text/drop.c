/* See drop.h. */
#include "text/drop.h"

#include <string.h>

void sp_drop_begin(struct sp_drop *d, enum sp_tag tag, bool in_paragraph)
{
    d->tag = tag;
    d->depth = 1;
    d->in_paragraph = in_paragraph;
    memset(d->inside, 0, sizeof d->inside);
}

static bool leave(struct sp_drop *d)
{
    d->depth = 0;
    return false;
}

/* Of the blocks that end a paragraph, those that people write in one. */
static bool ends_paragraph(enum sp_tag tag)
{
    const unsigned needed = SP_TAG_BLOCK | SP_TAG_BREAKOUT;
    return (sp_tag_flags[tag] & needed) == needed && tag != SP_TAG_table;
}

bool sp_drop_start(struct sp_drop *d, enum sp_tag tag, bool closed, bool in_cell)
{
    unsigned flags = sp_tag_flags[tag];
    if (d->tag == SP_TAG_svg && (flags & SP_TAG_BREAKOUT))
        return leave(d);
    if (d->in_paragraph && ends_paragraph(tag))
        return leave(d);
    if (tag == SP_TAG_button || tag == SP_TAG_table || tag == SP_TAG_template)
        d->in_paragraph = false; /* blocks inside do not end it */
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

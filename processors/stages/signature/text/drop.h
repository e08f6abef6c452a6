/* The invisible element that is open, and which tags end it.
 *
 * Its own end tag does, and by the HTML standard's tree construction the end of an element around
 * it, where its own end tag is missing: else the rest of the page would be invisible. */
#ifndef SP_TEXT_DROP_H
#define SP_TEXT_DROP_H

#include "text/tags.h"

struct sp_drop {
    enum sp_tag tag;
    uint32_t depth;    /* how many of them; 0: text is visible */
    bool in_paragraph; /* the next block ends it, because it ends the <p> around it */
    /* Containers that began inside, less those that ended; of <p>, how many began. */
    uint32_t inside[SP_TAG_COUNT];
};

/* `in_paragraph`: the element is in a <p>. */
void sp_drop_begin(struct sp_drop *d, enum sp_tag tag, bool in_paragraph);

/* Handles a start tag inside. `in_cell`: it is that of a cell or row, and one is open around the
 * element. Returns false if the tag ends the element, and is the first behind it. */
bool sp_drop_start(struct sp_drop *d, enum sp_tag tag, bool closed, bool in_cell);

/* Handles an end tag inside. `open`: an element of that name is open around the invisible one.
 * Returns false if it ends that element as well. */
bool sp_drop_end(struct sp_drop *d, enum sp_tag tag, bool open);

#endif

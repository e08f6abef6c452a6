/* A page as blocks of text; chooses the blocks that are its main content. */
#ifndef SP_TEXT_BLOCKS_H
#define SP_TEXT_BLOCKS_H

#include "base/bytes.h"

struct sp_block {
    uint32_t start; /* of its text in the page's text; it ends before `end` */
    uint32_t end;
    uint32_t link_bytes; /* of it within links */
    uint16_t context;    /* enum sp_context */
    bool kept;           /* set by sp_blocks_choose */
    bool alone;          /* its scratch */
};

struct sp_blocks {
    struct sp_buf text; /* blocks in order, each followed by SP_BLOCK_SEPARATOR */
    struct sp_block *items;
    size_t count;
    size_t cap;
};

void sp_blocks_reset(struct sp_blocks *b);
void sp_blocks_done(struct sp_blocks *b);

/* Appends the text from start to the end of b->text as one block, without the white space
 * around it; nothing if no text remains. */
void sp_blocks_add(struct sp_blocks *b, uint32_t start, uint32_t link_bytes, unsigned context);

/* Adds the block [start, end) of text that lies elsewhere; nothing is copied. */
void sp_blocks_add_range(struct sp_blocks *b, uint32_t start, uint32_t end);

/* Sets `kept` of every block: all of them, or the main content only. */
void sp_blocks_choose(struct sp_blocks *b, bool main_only);

#endif

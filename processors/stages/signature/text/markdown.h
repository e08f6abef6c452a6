/* Markdown to blocks of text. Thread rule: any thread. */
#ifndef SP_TEXT_MARKDOWN_H
#define SP_TEXT_MARKDOWN_H

#include "text/blocks.h"

/* Replaces the content of ret_blocks: one block a paragraph, heading, item or table row;
 * links and images give their text, HTML tags and front matter nothing. text is UTF-8 of
 * at most 1 GiB. */
void sp_markdown_scan(struct sp_view text, struct sp_blocks *ret_blocks);

#endif

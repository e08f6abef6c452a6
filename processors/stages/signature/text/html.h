/* HTML to blocks of text in one pass. Thread rule: one thread at a time for each scanner. */
#ifndef SP_TEXT_HTML_H
#define SP_TEXT_HTML_H

#include "text/blocks.h"

struct sp_html;

struct sp_html *sp_html_new(void);
void sp_html_free(struct sp_html *h);

/* Replaces the content of ret_blocks. html is UTF-8 of at most 1 GiB. `xml`: its content type says
 * that it is XHTML. */
void sp_html_scan(struct sp_html *h, struct sp_view html, bool xml, struct sp_blocks *ret_blocks);

#endif

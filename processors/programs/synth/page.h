/* A page of a site around a text. Private to this folder. */
#ifndef SP_SYNTH_PAGE_H
#define SP_SYNTH_PAGE_H

#include "synth/words.h"

/* Appends the page as HTML: head, navigation, the text, sidebar and footer, as the site has them.
 */
void sp_page_put_html(struct sp_buf *out, const struct sp_vocabulary *w, uint64_t seed,
                      uint64_t site, const struct sp_document *d);
/* Appends the text alone. */
void sp_page_put_plain(struct sp_buf *out, const struct sp_vocabulary *w, uint64_t seed,
                       const struct sp_document *d);

#endif

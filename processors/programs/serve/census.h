/* All pages of a state, counted: by status, group, cell and time, and the groups to look at first.
 * One pass over the pages; of groups of more than one page, a row each in memory. Private to this
 * folder and its tests. Thread rule: one thread. */
#ifndef SP_SERVE_CENSUS_H
#define SP_SERVE_CENSUS_H

#include "serve/state.h"

struct sp_census;

struct sp_census *sp_census_new(void);
/* NULL is allowed. */
void sp_census_free(struct sp_census *census);
/* Counts a page; for sp_state_each_page. */
void sp_census_note(void *census, const struct sp_page_view *page);
/* Appends the members of a JSON object; the reader, inside begin and end, has the groups' URLs. */
void sp_census_put(const struct sp_census *census, struct sp_state_reader *reader,
                   struct sp_buf *out);

#endif

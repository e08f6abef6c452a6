/* A full-text index of pages in one SQLite file, that leaves losers out of its results.
 *
 * Texts and statuses come in any order: a status may be here before its page. Both are keyed by the
 * URL. Applying one twice does no harm. */
#ifndef SP_EXAMPLES_INDEX_H
#define SP_EXAMPLES_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <samepage/status.h>

struct index;

/* Opens the file; `create`: makes it if it is missing. NULL: `error` says why. */
struct index *index_open(const char *file, bool create, char *error, size_t size);
void index_close(struct index *index);
/* What SQLite says of the last failure. */
const char *index_error(const struct index *index);

/* One transaction around many changes; what is in it can be found from index_commit on. */
bool index_begin(struct index *index);
bool index_commit(struct index *index);

/* A fetch of the page: adds the page or replaces its text; an empty text takes it out, and NULL
 * leaves the text that is there. Without effect if a newer fetch was there before, by the rule of
 * samepage: the newer fetch is the one with the later time. One without a time (0 or less) is newer
 * than all before it; of two with the same time and other texts, the one that comes later is. */
bool index_take_fetch(struct index *index, const char *url, size_t url_len, int64_t fetch_time_ms,
                      const char *text, size_t text_len);
bool index_put_status(struct index *index, const char *url, size_t url_len,
                      const struct samepage_status_event *event);
/* Takes out the text of a page that was erased; its next fetch is its first one. */
bool index_forget_text(struct index *index, const char *url, size_t url_len);
/* Takes out its status, and the page if it has no text. */
bool index_forget_status(struct index *index, const char *url, size_t url_len);
/* The same for all pages: texts stay, and are results again until their next status. */
bool index_forget_statuses(struct index *index);

/* Calls `each` for at most `most` pages that have all the words, best first; neither losers nor
 * pages that are gone. `contained_in`: a larger page that has nearly all of it; NULL: none. */
bool index_query(struct index *index, const char *const *words, size_t count, int most,
                 void (*each)(void *arg, const char *url, const char *contained_in), void *arg);

#endif

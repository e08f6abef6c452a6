/* The line of JSON that a fetch becomes. Private to this folder. */
#ifndef SP_SYNTH_LINE_H
#define SP_SYNTH_LINE_H

#include "base/bytes.h"

/* The fetch with which every crawl begins. */
enum { SP_FETCH_STEP_MS = 1000 };
#define SP_FIRST_FETCH_MS INT64_C(1700000000000)

/* URLs have nothing to escape. */
struct sp_line {
    struct sp_view url;
    struct sp_view target; /* of a 301 or 302 */
    int64_t time_ms;
    int64_t popularity; /* below 0: nothing is said of it */
    int status;
    bool plain; /* text instead of HTML */
    struct sp_view content;
};

/* Appends the line and its end. */
void sp_line_put(struct sp_buf *out, const struct sp_line *line);
/* Appends the name as it is, which ends in a colon, and the text in quotes, unescaped. */
void sp_line_put_field(struct sp_buf *out, const char *name, struct sp_view text);

#endif

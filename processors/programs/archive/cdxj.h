/* Lines of a CDXJ index: a sort-friendly key of the URL, a time stamp, and JSON. Private to this
 * folder. */
#ifndef SP_ARCHIVE_CDXJ_H
#define SP_ARCHIVE_CDXJ_H

#include "archive/segments.h"

struct sp_cdxj {
    struct sp_view url;
    struct sp_view date; /* WARC-Date */
    struct sp_view mime; /* empty: left out, as are status and digest */
    struct sp_view status;
    struct sp_view digest;
    uint64_t length; /* of the gzip member */
    struct sp_place place;
};

/* Appends the key: SURT, the host's labels from the last to the first, ")", path and query; in
 * lower case, without "www.", the scheme's port, a slash at the path's end; parameters sorted. So
 * do the archives' own tools (surt, as pywb and OpenWayback use it), which besides leave out some
 * session ids. */
void sp_cdxj_key(struct sp_view url, struct sp_buf *out);

/* Appends the line, with its newline. */
void sp_cdxj_line(const struct sp_cdxj *record, struct sp_buf *out);

/* Where the line's record is, if its URL is that one, byte for byte. */
bool sp_cdxj_place(struct sp_view line, struct sp_view url, struct sp_place *ret_place);

#endif

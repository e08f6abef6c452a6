/* Lines of a CDXJ index: a sortable key of the URL, a time stamp, and JSON. Private to this
 * folder. */
#ifndef SP_ARCHIVE_CDXJ_H
#define SP_ARCHIVE_CDXJ_H

#include "archive/segments.h"

struct sp_cdxj {
    struct sp_view url;
    struct sp_view date; /* WARC-Date */
    struct sp_view mime; /* empty: omitted, as are status and digest */
    struct sp_view status;
    struct sp_view digest;
    uint64_t length; /* of the gzip member */
    struct sp_place place;
};

/* Appends the key (SURT): the host's labels from last to first, ")", path and query; in lower case,
 * without "www.", the default port and a final slash; parameters sorted. This is the key of surt,
 * which pywb and OpenWayback use, except that surt also drops some session ids. */
void sp_cdxj_key(struct sp_view url, struct sp_buf *out);

/* Appends the line, with its newline. */
void sp_cdxj_line(const struct sp_cdxj *record, struct sp_buf *out);

/* The position of the line's record, and the length of its gzip member. */
bool sp_cdxj_member(struct sp_view line, struct sp_place *ret_place, uint64_t *ret_length);
/* The position of the line's record, if its URL equals `url` byte for byte. */
bool sp_cdxj_place(struct sp_view line, struct sp_view url, struct sp_place *ret_place);

#endif

/* A record's header, changed so that it tells what is stored, and back. Private to this folder.
 *
 * A changed header is the original one, in which some lines have other values and some are missing,
 * followed by
 *
 *   Samepage-Version: 1
 *   Samepage-Was: 1=WARC-Type: response      line 1 (the version is line 0) was this one
 *   Samepage-Was: 7+WARC-Block-Digest: ...   line 7 was this one, and is left out
 *   ...                                      and other lines, which the original does not have
 *
 * Whoever reads the original's other fields finds them as they were. */
#ifndef SP_ARCHIVE_FIELDS_H
#define SP_ARCHIVE_FIELDS_H

#include "base/bytes.h"

struct sp_field_change {
    const char *name;
    const char *value; /* NULL: the line is left out */
};

/* Appends the changed header to out, with `added` (whole lines) at its end. false, and nothing
 * appended, where the original could not be restored from it: headers can be written in ways that
 * this does not know. */
bool sp_fields_change(struct sp_view header, const struct sp_field_change *changes, size_t count,
                      struct sp_view added, struct sp_buf *out);

/* Whether a header was changed. */
bool sp_fields_changed(struct sp_view header);

/* Appends the original. false, and nothing appended: it is none that sp_fields_change made. */
bool sp_fields_restore(struct sp_view changed, struct sp_buf *out);

/* The first field of that name behind Samepage-Version; empty where there is none. */
struct sp_view sp_fields_own(struct sp_view changed, const char *name);

#endif

/* What is in the archive: for a payload, the record that has it; for a URL, its last record; for a
 * text, records like it. Private to this folder.
 *
 * In memory about 100 bytes a record, and for one that others may be like its sketch besides (rule
 * of model/candidates at the similarity asked for, up to 64 hashes) with its postings. A record
 * that is nearly its base has no sketch: what is like it is like its base. So a page that a crawl
 * has a million copies of is one entry in the lists that a search walks; a search costs as much as
 * there are records stored whole, or nearly so, that share a hash of the sketch. */
#ifndef SP_ARCHIVE_KNOWN_H
#define SP_ARCHIVE_KNOWN_H

#include "archive/segments.h"
#include "base/hash.h"
#include "page/signature.h"

enum { SP_KNOWN_NONE = -1, SP_KNOWN_LIKE = 3 };

struct sp_known_record {
    struct sp_id payload; /* zero: too small to be pointed at */
    struct sp_id url;
    struct sp_place place;
    uint32_t parent; /* what it is a patch of; itself where it is stored whole */
    uint32_t depth;  /* patches from here to one stored whole */
};

struct sp_known;

struct sp_known *sp_known_new(double similarity);
void sp_known_free(struct sp_known *k);

/* Adds what a log of earlier additions says, and nothing to a log. SP_CORRUPT: it is none. */
enum sp_err sp_known_load(struct sp_known *k, struct sp_view log);

/* Both append to the log what sp_known_load needs. `signature` NULL: nothing is to be found like
 * it. */
uint32_t sp_known_add(struct sp_known *k, const struct sp_known_record *record,
                      const struct sp_signature *signature, struct sp_buf *log);
/* The URL's last version is that record's. */
void sp_known_seen(struct sp_known *k, struct sp_id url, uint32_t record, struct sp_buf *log);

/* Valid until the next addition. */
const struct sp_known_record *sp_known_at(const struct sp_known *k, uint32_t record);
uint32_t sp_known_count(const struct sp_known *k);
/* A record, or SP_KNOWN_NONE. */
int64_t sp_known_payload(const struct sp_known *k, struct sp_id payload);
int64_t sp_known_url(const struct sp_known *k, struct sp_id url);
/* Those that share most of the sketch, best first, of equal ones the latest; at most SP_KNOWN_LIKE.
 */
size_t sp_known_like(struct sp_known *k, const struct sp_signature *signature,
                     uint32_t ret_records[SP_KNOWN_LIKE]);

#endif

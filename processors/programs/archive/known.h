/* Finds stored records: by payload, by URL (the last record), and by similarity. Private to this
 * folder.
 *
 * About 250 bytes of memory a record; a record that can be a base also has a sketch (by the rule of
 * model/candidates at the configured similarity, up to 64 hashes) with its postings: up to 600
 * more. A record that nearly equals its base has no sketch, because whatever resembles it resembles
 * its base: a page with a million copies is one entry in the lists that a search reads. The cost of
 * a search is the number of records with a sketch that share a hash with it. */
#ifndef SP_ARCHIVE_KNOWN_H
#define SP_ARCHIVE_KNOWN_H

#include "archive/segments.h"
#include "base/hash.h"
#include "page/signature.h"

enum { SP_KNOWN_NONE = -1, SP_KNOWN_LIKE = 3 };

struct sp_known_record {
    struct sp_id payload; /* zero: too small for a revisit */
    struct sp_id url;
    struct sp_place place;
    uint32_t parent; /* the base of a patch; the record itself if it is stored whole */
    uint32_t depth;  /* number of patches down to a record stored whole */
};

struct sp_known;

struct sp_known *sp_known_new(double similarity);
void sp_known_free(struct sp_known *k);

/* Adds the records of a log without writing a log. SP_CORRUPT: not a valid log. */
enum sp_err sp_known_load(struct sp_known *k, struct sp_view log);

/* Both append to the log what sp_known_load needs. `signature` NULL: the record is no base for
 * others. */
uint32_t sp_known_add(struct sp_known *k, const struct sp_known_record *record,
                      const struct sp_signature *signature, struct sp_buf *log);
/* This record is the last version of the URL. */
void sp_known_seen(struct sp_known *k, struct sp_id url, uint32_t record, struct sp_buf *log);

/* Valid until the next addition. */
const struct sp_known_record *sp_known_at(const struct sp_known *k, uint32_t record);
uint32_t sp_known_count(const struct sp_known *k);
/* A record number, or SP_KNOWN_NONE. */
int64_t sp_known_payload(const struct sp_known *k, struct sp_id payload);
int64_t sp_known_url(const struct sp_known *k, struct sp_id url);
/* The records that share most of the sketch, best first, the latest first among equals; at most
 * SP_KNOWN_LIKE. */
size_t sp_known_like(struct sp_known *k, const struct sp_signature *signature,
                     uint32_t ret_records[SP_KNOWN_LIKE]);

#endif

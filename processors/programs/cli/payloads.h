/* The payloads that an archive names by a digest (WARC-Payload-Digest), as `ingest` remembers them.
 * It keeps the content itself, because a stage on Kafka cannot look up the content of another page.
 * A revisit of such a payload is published as a fetch of its content, as `run` treats it
 * (local/digests.h).
 *
 *   digest, 16 bytes -> length and text of the content type, 1 if it is UTF-8, the content
 *
 * Thread rule: one thread. */
#ifndef SP_CLI_PAYLOADS_H
#define SP_CLI_PAYLOADS_H

#include "base/fault.h"
#include "input/input.h"

struct sp_payloads;

/* In `directory`, for the next time as well; NULL: in memory, up to a number of bytes. Errors as
 * sp_db_open_rocksdb. */
enum sp_err sp_payloads_open(const char *directory, struct sp_payloads **ret_payloads,
                             struct sp_fault *fault);
enum sp_err sp_payloads_close(struct sp_payloads *p, struct sp_fault *fault); /* NULL is allowed */

/* Notes the payload of a page, if it has one that a revisit can name. A revisit becomes a fetch of
 * the payload that it names, if that is known: its views are valid until the next call. Others are
 * left as they are. */
enum sp_err sp_payloads_use(struct sp_payloads *p, struct sp_page_record *page,
                            struct sp_fault *fault);
/* Payloads that were not noted, for the bytes in memory. */
uint64_t sp_payloads_forgone(const struct sp_payloads *p);

#endif

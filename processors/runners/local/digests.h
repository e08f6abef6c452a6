/* Maps the digest of a payload (WARC-Payload-Digest) to the hash of its content. So a revisit of a
 * payload that was fetched under another URL, or in an earlier version of the page, counts as a
 * fetch of that content.
 *
 *   'D' digest -> content hash, 16 bytes each
 *
 * A row for each digest of a run's inputs: about 50 bytes on disk. In memory are those since the
 * last commit. A row stays when its content is gone; sp_contents_find knows whether it is there.
 * Thread rule: one thread. */
#ifndef SP_LOCAL_DIGESTS_H
#define SP_LOCAL_DIGESTS_H

#include "base/map.h"
#include "local/bus.h"
#include "store/store.h"

struct sp_digests;

/* Never NULL. The store is borrowed; its keys of 17 bytes that begin with 'D' are the table's. */
struct sp_digests *sp_digests_new(struct sp_store *store);
void sp_digests_free(struct sp_digests *d); /* NULL is allowed */

/* Notes the digest of a fetch's content, which is not empty: every response without a body has one
 * digest. A fetch of unseen content that has a known digest becomes one of that content. Notes go
 * into the store's open batch. SP_STORE, SP_CORRUPT. */
enum sp_err sp_digests_use(struct sp_digests *d, struct sp_local_bus *bus, struct sp_id digest,
                           struct sp_crawled *c);
/* Deletes the rows of these contents (a map by content hash), in the store's open batch. Reads all
 * rows; nothing may have been noted since the last commit. */
enum sp_err sp_digests_forget(struct sp_digests *d, const struct sp_map *contents);
/* The batch is committed. */
void sp_digests_committed(struct sp_digests *d);

#endif

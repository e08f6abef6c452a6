/* Erasure on request, in a state. A forgotten page passes through both tiers like a fetch. The
 * digests of contents that no other page has, and what the run's own audit keeps of the page, are
 * erased as well. Thread rule: one thread. */
#ifndef SP_LOCAL_FORGET_H
#define SP_LOCAL_FORGET_H

#include "local/bus.h"
#include "local/digests.h"

struct sp_forgetting {
    struct sp_local_bus *bus;
    struct sp_db *db;
    struct sp_digests *digests;
    uint32_t tier1; /* partitions */
};

/* Feeds the bus; deletes digests in the open batch, so that one commit covers both. The bus has
 * handled nothing since the last commit, and nothing is watched. Memory and a scan of all digests
 * for each call. What is no URL is counted. */
enum sp_err sp_forget(const struct sp_forgetting *f, const char *const *urls, size_t count,
                      uint64_t *ret_unusable);

#endif

/* The contain stage: finds kept pages that are part of larger kept pages.
 *
 * A kept page (unique or winner) is contained in another kept page with more shingles if that page,
 * its container, has at least the share `threshold` of its counted shingles. A shingle counts
 * unless the host of the page repeats it on more than the share `boilerplate` of its pages. The
 * best container is the one with the largest share; of several, the first one found. The stage does
 * not change groups or winners: it receives the published statuses, and its results become part of
 * the statuses of kept pages.
 *
 * The containment of a page is hits / of: `of` is the number of counted shingles in the range of
 * hashes that both signatures cover (all counted shingles if neither is capped, signature.h), and
 * `hits` is how many of them the container has. If `of` is below SP_CONTAIN_LEAST, the container is
 * not considered.
 *
 * docs/CONTAINMENT.md has the search, why it misses nothing, and its cost.
 *
 * A pure step: a page in, changes of containment out, state changes kept in memory until
 * sp_contain_stage_flush writes them to the store's open batch. No threads, no clock. The same
 * calls lead to the same reports in the same order, wherever flushes and loads come in between.
 *
 * After an error the stage must be freed and made again from the store, with the table of
 * signatures. */
#ifndef SP_CONTAIN_CONTAIN_H
#define SP_CONTAIN_CONTAIN_H

#include "contents/contents.h"
#include "store/store.h"

enum { SP_CONTAIN_LEAST = 16 };

struct sp_contain_options {
    double threshold;   /* 0 < threshold <= 1 */
    double boilerplate; /* share of a host's pages; 1: every shingle counts */
};

struct sp_contain_stats {
    uint64_t pages;     /* kept pages that can be contained or contain */
    uint64_t contained; /* of these, in another */
    uint64_t searches;  /* for a page's best container */
    uint64_t lists;     /* looked up, of both indexes; not those of which one is read again */
    uint64_t postings;  /* looked at, of both indexes */
    uint64_t moved; /* entries of both indexes read or moved because pages left or ceased to wait */
    uint64_t candidates; /* pairs whose shingles were compared */
    uint64_t changes;    /* of a page's best container */
    uint64_t hosts;
    uint64_t boilerplate; /* shingles that hosts do not count, of all hosts */
    uint64_t index_bytes;
};

/* Reports a page's best container: its URL and the containment, or NULL and 0 if there is none.
 * Called whenever that has changed, and always for a page that was put with new content. Texts are
 * valid during the call. Must not call the stage. */
typedef void sp_contain_say(void *arg, struct sp_id page, const char *url, float containment);

struct sp_contain_stage;

/* Never NULL. Options are copied; store and contents are borrowed, and the contents are flushed
 * after the stage. */
struct sp_contain_stage *sp_contain_stage_new(const struct sp_contain_options *options,
                                              struct sp_store *store, struct sp_contents *contents,
                                              sp_contain_say *say, void *arg);
/* NULL is allowed. */
void sp_contain_stage_free(struct sp_contain_stage *c);

/* Rebuilds both indexes from the stored rows, for which it reads each page's signature; call once
 * before the first put on a store that may hold some. */
enum sp_err sp_contain_stage_load(struct sp_contain_stage *c);

/* The page is kept, with this content; the caller holds it in the table of signatures. A repeated
 * call costs a look-up. `url` is as given by the crawler. */
enum sp_err sp_contain_stage_put(struct sp_contain_stage *c, struct sp_id page, const char *url,
                                 struct sp_id content);
/* The page is no longer kept, or never was. */
enum sp_err sp_contain_stage_remove(struct sp_contain_stage *c, struct sp_id page);

/* Writes all changes since the last flush into the store's open batch. */
enum sp_err sp_contain_stage_flush(struct sp_contain_stage *c);

void sp_contain_stage_stats(const struct sp_contain_stage *c, struct sp_contain_stats *ret_stats);

/* Calls `each` for every host of a committed store with what it does not count, ascending: for
 * checks from scratch. `host` is sp_contain_host_id of its pages' URLs. */
enum sp_err sp_contain_each_host(struct sp_store *store,
                                 void (*each)(void *arg, struct sp_id host,
                                              const uint32_t *boilerplate, uint32_t count),
                                 void *arg);
/* Which host a URL is of, as given by the crawler; those without one are one host. */
struct sp_id sp_contain_host_id(const char *url);

#endif

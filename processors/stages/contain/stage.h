/* What the files of the contain stage have in common. Private to contain.
 *
 *   contain.c   put, remove: the steps; makes the indexes at a start
 *   items.c     pages in memory; containers; the share of one page that another one has
 *   hosts.c     the boilerplate of hosts: shingles on most of their pages
 *   levels.c    chooses the shingles of pages that are in the indexes
 *   pick.c      chooses the shingles of which every container of a page must have at least one
 *   seek.c      keeps the pages that wait for a better container under such shingles, and finds
 *               those for which a new page is a better one
 *   search.c    finds the best container of a page
 *   rows.c      the stored form */
#ifndef SP_CONTAIN_STAGE_H
#define SP_CONTAIN_STAGE_H

#include "base/map.h"
#include "candidates/postings.h"
#include "contain/contain.h"

/* A full signature has all shingles of its page, a capped one only the smallest hashes. A search
 * chooses shingles of which a container must have at least one. For full containers they can be any
 * shingles of the page; for capped ones they must lie in every range of hashes that a container may
 * cover. So each kind has indexes of its own. The first index of holders has pages of both kinds,
 * because most shingles chosen for it lie in those ranges too; the second one has capped pages
 * alone. All pages have the same cap, so a capped page is larger than any full one. */
enum sp_contain_kind { SP_CONTAIN_FULL, SP_CONTAIN_CAPPED, SP_CONTAIN_KINDS };

/* A shingle's last bits choose its part. Levels are numbers of parts, the first ones; levels.c. */
enum { SP_CONTAIN_PARTS = 64, SP_CONTAIN_LEVELS = 20, SP_CONTAIN_HINTS = 1 << 17 };

static inline uint32_t sp_contain_part(uint32_t shingle)
{
    return shingle % SP_CONTAIN_PARTS;
}

/* A page that leaves a long list stays in it until most of the list has left: otherwise each of
 * 20,000 pages with one menu would move the lists of the menu when it leaves. Readers of a list
 * skip pages that have left. */
struct sp_contain_index {
    struct sp_postings *postings;       /* NULL: there are none yet */
    uint64_t entries[SP_CONTAIN_PARTS]; /* of pages that have not left */
    struct sp_map left; /* by shingle: how many of its list have left, if there are any */
    uint64_t pages;
    /* of holders */
    uint32_t level_parts[SP_CONTAIN_LEVELS]; /* parts below are of the level; the last: all */
    uint32_t levels;
    uint32_t entered[SP_CONTAIN_LEVELS]; /* pages of slots below are in the level's parts */
    /* Of seekers: a bit for some shingles, which is set for all that were added beyond level 0. Few
     * pages wait there, and each page that comes must know whether any does. */
    uint64_t hints[SP_CONTAIN_HINTS / 64];
};

struct sp_contain_host {
    struct sp_id id;               /* key of the map: first */
    struct sp_contain_item *items; /* in no order that counts */
    uint32_t item_count;
    uint64_t ever;         /* pages put since the host was first seen */
    uint32_t *boilerplate; /* ascending */
    uint32_t boilerplate_count;
    bool changed; /* since the last flush */
};

/* hits / of; of = 0: none. */
struct sp_contain_share {
    uint32_t hits;
    uint32_t of;
};

/* A kept page. */
struct sp_contain_item {
    struct sp_id page; /* key of the map: first */
    struct sp_id content;
    char *url;
    uint64_t order; /* of its put among all */
    uint32_t slot;  /* its number in the indexes: ascends with the order */
    uint32_t total; /* shingles of the page, also those that the signature does not know */
    enum sp_contain_kind kind;
    struct sp_contain_host *host;
    struct sp_contain_item *host_prev;
    struct sp_contain_item *host_next;
    struct sp_contain_item *best; /* its container, or NULL */
    struct sp_contain_share share;
    struct sp_contain_item *beside_prev; /* others with the same container */
    struct sp_contain_item *beside_next;
    struct sp_contain_item *contents; /* pages whose container this is */
    uint32_t *picks; /* shingles it waits under, by index of seekers; each ascending */
    uint32_t pick_count[SP_CONTAIN_KINDS];
    uint64_t stamp; /* what looked at it last */
    bool changed;   /* since the last flush */
};

struct sp_contain_list {
    struct sp_contain_item **at;
    uint32_t count;
    uint32_t cap;
};

/* Shingles. */
struct sp_contain_numbers {
    uint32_t *at;
    size_t count;
    size_t cap;
};

/* Keys of rows to write again, or to delete. */
struct sp_contain_keys {
    struct sp_id *at;
    uint32_t count;
    uint32_t cap;
};

struct sp_contain_stage {
    struct sp_contain_options options;
    struct sp_store *store;
    struct sp_contents *contents;
    sp_contain_say *say;
    void *say_arg;
    struct sp_map items;
    struct sp_map hosts;
    struct sp_contain_list slots; /* NULL: it has left */
    uint64_t next_order;
    struct sp_contain_index holders[SP_CONTAIN_KINDS]; /* which pages have a shingle */
    /* Pages that wait for a container with a shingle. Full pages wait in both, because the shingles
     * in the first do not suffice for capped containers. */
    struct sp_contain_index seekers[SP_CONTAIN_KINDS];
    /* Of the page that was entered last, by number of its signature's shingles: how long the lists
     * of all holders are in level 0; others: SP_CONTAIN_UNKNOWN. A list is not looked up again. */
    uint32_t *lengths;
    uint32_t lengths_cap;
    const struct sp_contain_item *lengths_of;
    uint64_t stamp;
    uint64_t puts;        /* of new contents, ever */
    uint64_t dear;        /* entries of long lists that searches were allowed to read, ever */
    bool account_changed; /* puts or dear, since the last flush */
    struct sp_contain_keys changed_items;
    struct sp_contain_keys changed_hosts;
    struct sp_buf text;
    enum sp_err err;
    struct sp_contain_stats stats;
};

/* The counted shingles of a page, ascending. */
struct sp_contain_counted {
    struct sp_contain_item *item;
    struct sp_signature *signature; /* one reference */
    const uint32_t *shingles;
    uint32_t count;
    uint32_t *room; /* of the shingles, or NULL: they are the signature's own */
};

/* Those of a page's shingles that are in some of the parts, and their numbers, ascending. */
struct sp_contain_selection {
    uint32_t *shingles;
    uint32_t *numbers;
    uint32_t count;
};

/* What to choose shingles for: each page of the kind that exceeds the bar must have one of them. */
struct sp_contain_choice {
    const struct sp_contain_counted *counted;
    struct sp_contain_share bar;
    enum sp_contain_kind kind;
    const uint32_t *costs; /* of each counted shingle */
    const bool *taken;     /* whether it is chosen already; NULL: none is */
};

/* The cost of a shingle whose part may not be filled yet. */
static const uint32_t SP_CONTAIN_UNKNOWN = UINT32_MAX;

/* ---- items.c ---- */

/* Keeps the first error. False: there is one. */
bool sp_contain_note(struct sp_contain_stage *c, enum sp_err err);
/* With one reference; NULL: the stage has an error. */
struct sp_signature *sp_contain_signature(struct sp_contain_stage *c,
                                          const struct sp_contain_item *item);
bool sp_contain_count(struct sp_contain_stage *c, struct sp_contain_item *item,
                      struct sp_contain_counted *ret_counted);
void sp_contain_counted_done(struct sp_contain_counted *counted);
/* The least number of hits among `of` that exceeds the bar (of = 0: reaches the threshold); more
 * than `of`: none does. */
uint32_t sp_contain_needed(const struct sp_contain_stage *c, struct sp_contain_share bar,
                           uint32_t of);
/* Whether b, a larger page, has a share of a's counted shingles that exceeds the bar. */
bool sp_contain_exceeds(struct sp_contain_stage *c, const struct sp_contain_counted *a,
                        const struct sp_contain_item *b, struct sp_contain_share bar,
                        struct sp_contain_share *ret_share);

struct sp_contain_item *sp_contain_item_new(struct sp_contain_stage *c, struct sp_id page,
                                            const char *url, const struct sp_signature *signature,
                                            uint64_t order);
/* NULL is allowed. It must be in no index and have no container and no contents. */
void sp_contain_item_free(struct sp_contain_item *item);
/* Its row is to be written. */
void sp_contain_item_changed(struct sp_contain_stage *c, struct sp_contain_item *item);
void sp_contain_keys_add(struct sp_contain_keys *keys, struct sp_id id);
void sp_contain_attach(struct sp_contain_stage *c, struct sp_contain_item *item,
                       struct sp_contain_item *best, struct sp_contain_share share);
void sp_contain_detach(struct sp_contain_stage *c, struct sp_contain_item *item);
void sp_contain_tell(struct sp_contain_stage *c, const struct sp_contain_item *item);

void sp_contain_list_add(struct sp_contain_list *list, struct sp_contain_item *item);
void sp_contain_list_sort(struct sp_contain_list *list); /* by slot */
/* Slots of pages that have left may be among them. */
struct sp_posting_list sp_contain_index_get(const struct sp_contain_index *x, uint32_t shingle);
void sp_contain_hint(struct sp_contain_index *x, uint32_t shingle);
/* False: the shingle was not hinted. */
bool sp_contain_hinted(const struct sp_contain_index *x, uint32_t shingle);
/* How many of the list have left, though they are in it. */
uint32_t sp_contain_index_left(const struct sp_contain_index *x, uint32_t shingle,
                               const struct sp_posting_list *list);
static inline uint32_t sp_contain_posting(const struct sp_posting_list *list, uint32_t i)
{
    return list->slots ? list->slots[i] : list->only;
}
/* Of shingles that are got or added one after another, one further on: for the processor's caches.
 */
enum { SP_CONTAIN_AHEAD = 12 };
void sp_contain_index_prefetch(const struct sp_contain_index *x, const uint32_t *shingles,
                               uint32_t count, uint32_t at);
/* Returns how long the list is now. */
uint32_t sp_contain_index_add(struct sp_contain_index *x, uint32_t shingle, uint32_t slot);
/* The slot has left, and is in the list `times` times. `stays` says of a slot in the list whether
 * it has not left; if called twice for a slot within one call, it may return false the second time.
 * Returns how many entries were read: on average at most two for each call. */
uint32_t sp_contain_index_leave(struct sp_contain_index *x, uint32_t shingle, uint32_t slot,
                                uint32_t times, bool (*stays)(void *arg, uint32_t slot), void *arg);
void sp_contain_index_done(struct sp_contain_index *x);

/* ---- levels.c ---- */

/* From the threshold: how many parts each level has. */
void sp_contain_levels_init(struct sp_contain_stage *c);
/* Parts from `first` on, below `end`. */
struct sp_contain_selection sp_contain_select(const uint32_t *shingles, uint32_t count,
                                              uint32_t first, uint32_t end);
void sp_contain_selection_done(struct sp_contain_selection *selection);
/* Gives it a slot, and enters it among the holders of its shingles. */
void sp_contain_item_enter(struct sp_contain_stage *c, struct sp_contain_item *item,
                           const struct sp_signature *signature);
/* Detaches the pages that it contains, and appends them to *ret_left. */
void sp_contain_item_leave(struct sp_contain_stage *c, struct sp_contain_item *item,
                           const struct sp_signature *signature, struct sp_contain_list *ret_left);
/* All pages of the kind's index are among the holders in the parts of the level. */
void sp_contain_level_fill(struct sp_contain_stage *c, enum sp_contain_kind kind, uint32_t level);

/* ---- hosts.c ---- */

void sp_contain_host_join(struct sp_contain_stage *c, struct sp_id host,
                          struct sp_contain_item *item);
/* Frees the host with its last page. */
void sp_contain_host_leave(struct sp_contain_stage *c, struct sp_contain_item *item);
/* One more page was put. Appended: what was counted before and is not now, or the other way round.
 */
void sp_contain_host_learn(struct sp_contain_stage *c, struct sp_contain_host *host,
                           struct sp_contain_numbers *ret_changed);
void sp_contain_host_free(struct sp_contain_host *host);

/* ---- pick.c ---- */

/* How many pages of the kind have each of the shingles in the level's parts; fills these parts.
 * Level 0 makes all others unknown; any other level needs what the one before left in `costs`. */
void sp_contain_costs(struct sp_contain_stage *c, const struct sp_contain_counted *counted,
                      enum sp_contain_kind kind, uint32_t level, uint32_t *costs);
/* Chooses the cheapest shingles of known cost that will do: their numbers, into room for all. Those
 * that are taken are not returned. False: too few costs are known. */
bool sp_contain_pick(const struct sp_contain_stage *c, const struct sp_contain_choice *choice,
                     uint32_t *ret_picks, uint32_t *ret_count);

/* ---- seek.c ---- */

/* From now on the item hears of each page that exceeds its share. `costs`: how many pages of its
 * own kind have each of its shingles; changed. Many pages wait under a shingle only where many of
 * one kind have it. */
void sp_contain_wait(struct sp_contain_stage *c, const struct sp_contain_counted *counted,
                     uint32_t *costs);
/* The same, with the costs of level 0, which it looks up. */
void sp_contain_wait_by_costs(struct sp_contain_stage *c, const struct sp_contain_counted *counted);
void sp_contain_wait_no_more(struct sp_contain_stage *c, struct sp_contain_item *item);
/* Pages that are better off with this one in the place of their container get it, and are told. */
void sp_contain_offer(struct sp_contain_stage *c, struct sp_contain_item *item,
                      const struct sp_signature *signature);

/* ---- search.c ---- */

/* Finds the best container of an item that has none and does not wait; then it waits for a better
 * one. */
void sp_contain_search(struct sp_contain_stage *c, struct sp_contain_item *item);

/* ---- rows.c ---- */

enum sp_err sp_contain_read(struct sp_contain_stage *c);
void sp_contain_write(struct sp_contain_stage *c);

#endif

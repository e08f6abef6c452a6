/* What the files of the group stage share.
 *
 *   page.c      the page actor's steps
 *   actor.c     the group actor's steps
 *   forest.c    is the group still connected? (spanning forest)
 *   winners.c   the winner rule: rank, relation, cover
 *   cover.c     who wins? (the cover kept up to date, statuses)
 *   members.c   the members of a group as a sorted list
 *   table.c     pages and groups in memory, and read from the store
 *   flush.c     pages and groups into the store
 *   rows.c      their stored form
 *
 * Lookups answer NULL where the store failed, with st->err set. */
#ifndef SP_GROUP_INTERNAL_H
#define SP_GROUP_INTERNAL_H

#include "base/ages.h"
#include "base/assert.h"
#include "group/group.h"

struct page {
    struct sp_id id; /* key of the table: first */
    struct sp_age age;
    bool dirty;
    bool announced; /* group membership was announced for content_version */
    bool in_cell;
    enum sp_page_kind kind;
    uint32_t cell;
    struct sp_id cell_content;    /* the row it owns there */
    struct sp_signature *pending; /* from the crawl until it is put into its cell */
    char *url;
    char *target_url;
    int64_t version;
    int64_t content_version;
    struct sp_id content;
    struct sp_id target;
    struct sp_rank rank;
    struct sp_group_id group;
    uint64_t epoch;
    /* the last status published */
    enum sp_page_status status;
    enum sp_reason reason;
    float similarity;
    uint32_t group_size;
    char *winner_url;
    /* the stored form of the group of one it founded, see rows.c */
    char *inline_group;
    uint32_t inline_bytes;
    struct page *next_dirty;
};

struct member {
    struct sp_id page;
    int64_t version;
    int64_t content_version;
    enum sp_page_kind kind;
    struct sp_id content;
    struct sp_id target;
    struct sp_signature *signature; /* NULL: not loaded */
    struct sp_rank rank;
    char *url;
    uint64_t epoch;
    struct member *parent; /* in the spanning forest; NULL: a root */
    struct member *winner; /* content only: itself, or the winner that covers it */
    float similarity;      /* to the winner */
    /* what was last said to the page */
    enum sp_page_status said_status;
    enum sp_reason said_reason;
    struct sp_id said_winner;
    float said_similarity;
    uint64_t said_epoch;
    int64_t said_version;
    uint32_t mark;  /* scratch of forest.c */
    bool incumbent; /* was a winner before this step (winner.margin) */
    bool todo;      /* scratch of cover.c */
    bool touched;   /* its status may have changed */
    bool dirty;
    bool stored;
};

struct group {
    struct sp_id key; /* key of the table: first */
    struct sp_age age;
    struct sp_group_id id;
    struct sp_group_id forward; /* birth 0: none */
    struct member **members;    /* sorted by page */
    uint32_t count;
    uint32_t cap;
    struct member **empty; /* of these, those without content, by target: redirects, dead pages */
    uint32_t empty_count;
    uint32_t empty_cap;
    struct member **winners; /* sorted by rank */
    uint32_t winner_count;
    uint32_t winner_cap;
    struct member **touched; /* whose status may have changed in this step */
    uint32_t touched_count;
    uint32_t touched_cap;
    uint32_t said_count; /* members at the last publication */
    struct sp_id *gone;  /* stored members that left since the last flush */
    uint32_t gone_count;
    uint32_t gone_cap;
    bool dirty;
    bool stored;  /* a 'G' row exists */
    bool packed;  /* it holds the members */
    bool inlined; /* lies inside its founder's stored page row */
    bool holder;  /* in st->holders */
    struct group *next_dirty;
};

struct sp_group {
    struct sp_group_options options;
    struct sp_store *store;
    struct sp_contents *contents; /* options.contents, or */
    struct sp_contents *own_contents;
    struct sp_outbox outbox;
    struct sp_map pages;
    struct sp_map groups;
    struct sp_ages page_ages; /* a round is from flush to flush */
    struct sp_ages group_ages;
    struct page *dirty_pages;
    struct group *dirty_groups;
    size_t cache_bytes; /* the budget of */
    size_t page_bytes;
    size_t group_bytes;
    struct group **holders; /* groups whose members borrowed signatures since the last flush */
    uint32_t holder_count;
    uint32_t holder_cap;
    uint64_t clock; /* Lamport time: births of groups */
    uint64_t stored_clock;
    struct sp_buf key;
    struct sp_buf value;
    enum sp_err err;
    struct sp_group_stats stats;
};

/* ---- table.c */
struct page *page_get(struct sp_group *st, struct sp_id id);
void page_expect(struct sp_group *st, struct sp_id id);
struct page *page_make(struct sp_group *st, struct sp_id id, const char *url);
void page_changed(struct sp_group *st, struct page *p);
/* A group whose name is new. */
struct group *group_make(struct sp_group *st, struct sp_group_id id);
/* The group, made empty where it is unknown. */
struct group *group_get(struct sp_group *st, struct sp_group_id id);
void group_changed(struct sp_group *st, struct group *g);
void group_free(struct sp_group *st, struct group *g);
void page_free(struct page *p);
/* Into st->key. */
void page_key(struct sp_group *st, struct sp_id id);
void group_key(struct sp_group *st, char kind, struct sp_group_id id);
/* Drops pages and groups until they fit their budget; everything must be clean, nothing borrowed.
 */
void table_evict(struct sp_group *st);

/* ---- rows.c */
void page_encode(const struct page *p, struct sp_buf *out);
enum sp_err page_decode(struct sp_view in, struct page *p);
void member_encode(const struct member *m, struct sp_buf *out);
/* `key` ends with the page. */
enum sp_err member_decode(struct sp_view key, struct sp_view value, struct member *m,
                          struct sp_id *ret_parent);
/* Groups of up to so many lie in their 'G' row whole: one look-up, and no scan for members. */
enum { SP_PACKED_MEMBERS = 4 };
void group_encode(const struct group *g, bool packed, struct sp_buf *out);
/* Then the reader is at the first packed member, or at its end: members have rows of their own. */
enum sp_err group_decode(struct sp_reader *r, struct sp_group_id *ret_forward);
enum sp_err packed_member_read(struct sp_reader *r, struct member *m, struct sp_id *ret_parent);

/* ---- members.c */
struct member *member_find(const struct group *g, struct sp_id page);
void member_insert(struct sp_group *st, struct group *g, struct member *m);
/* Takes it out of the list, not out of the forest or the winners; it is not freed. */
void member_remove(struct sp_group *st, struct group *g, struct member *m);
void member_free(struct member *m);
void member_set_kind(struct group *g, struct member *m, enum sp_page_kind kind,
                     struct sp_id target);
/* Those that redirect to that page; valid until the group's next change. */
struct member *const *member_redirects(const struct group *g, struct sp_id page,
                                       uint32_t *ret_count);
void member_changed(struct sp_group *st, struct group *g, struct member *m);
/* One more member has this content, or one less. */
void content_hold(struct sp_group *st, struct sp_signature *signature);
void content_drop(struct sp_group *st, struct sp_id content);
/* Borrowed until the next flush. */
struct sp_signature *member_signature(struct sp_group *st, struct group *g, struct member *m);
bool members_similar(struct sp_group *st, struct group *g, struct member *a, struct member *b,
                     double *ret_similarity);
/* Gives back what members borrowed. */
void members_release(struct sp_group *st);
enum { SP_MEMBER_BYTES = sizeof(struct member) + 128 };

/* ---- forest.c */
/* After m changed: cuts the tree edges that no longer hold and mends what can be
 * mended. Returns the number of pieces; each member's `mark` is its piece's number, piece 0 being
 * the largest (of equals the one with the smallest page). */
uint32_t forest_check(struct sp_group *st, struct group *g, struct member *changed);
/* The same without any trust in the forest. */
uint32_t forest_rebuild(struct sp_group *st, struct group *g);
/* Trusts each tree edge, but not that there is one tree. */
uint32_t forest_mend(struct sp_group *st, struct group *g);
void forest_link(struct sp_group *st, struct group *g, struct member *child, struct member *parent);

/* ---- winners.c */
int rank_cmp(const struct member *a, const struct member *b, double margin);

/* ---- cover.c */
/* m is about to change or leave: what it won must find another winner. */
void cover_forget(struct group *g, struct member *m);
/* All members of pieces other than 0 (by `mark`) are about to leave. */
void cover_forget_pieces(struct group *g);
/* m is new or has changed. */
void cover_note(struct group *g, struct member *m);
/* m is about to be freed. */
void cover_untouch(struct group *g, struct member *m);
/* Puts a winner known from the store back into its list. */
void cover_restore_winner(struct sp_group *st, struct group *g, struct member *m);
/* Recomputes the cover and tells the pages what changed for them. */
void cover_publish(struct sp_group *st, struct group *g);

/* ---- report.c */
struct sp_page_view page_view(const struct page *p);

/* ---- page.c, actor.c */
void page_step(struct sp_group *st, struct sp_message *m);
void group_step(struct sp_group *st, struct sp_message *m);
/* A new group of one around the page, which must have none. */
void group_found(struct sp_group *st, struct page *p);
void stage_send(struct sp_group *st, struct sp_message *m);
#endif

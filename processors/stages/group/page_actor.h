/* A page: its version, the content that waits to be put into its cell, its group, its last status.
 * Private to group. */
#ifndef SP_GROUP_PAGE_ACTOR_H
#define SP_GROUP_PAGE_ACTOR_H

#include "group/stage.h"

struct sp_page_actor {
    struct sp_id id; /* key of the table: first */
    struct sp_age age;
    bool dirty;
    bool announced; /* group membership was announced for content_version */
    bool in_cell;
    bool moved; /* to another group since the last published status */
    bool gone;  /* forgotten: only its row is left, until the flush */
    enum sp_page_kind kind;
    uint32_t cell;
    struct sp_id cell_content;    /* the row it owns there */
    struct sp_signature *pending; /* the signature, from the crawl until it is put into its cell */
    char *url;
    char *target_url; /* until the redirect is announced */
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
    enum sp_rank_rule rule; /* of the last verdict, which may not have been published */
    float similarity;
    uint32_t group_size;
    float containment; /* see contained_in */
    char *winner_url;
    /* result of the contain stage for this content while the page was kept */
    char *contained_in; /* NULL: none */
    /* the stored form of the single-member group that it founded, see rows.c */
    char *inline_group;
    uint32_t inline_bytes;
    struct sp_page_actor *next_dirty;
};
/* The next size that the allocator has is 320 bytes. */
_Static_assert(sizeof(struct sp_page_actor) <= 256, "a page takes more memory");

/* ---- table.c */
struct sp_page_actor *sp_page_actor_get(struct sp_group_stage *st, struct sp_id id);
struct sp_page_actor *sp_page_actor_make(struct sp_group_stage *st, struct sp_id id,
                                         const char *url);
void sp_page_actor_free(struct sp_page_actor *p);
/* Drops the page; from now on sp_page_actor_get returns NULL. */
void sp_page_actor_drop(struct sp_group_stage *st, struct sp_page_actor *p);

/* ---- core.c */
void sp_page_actor_changed(struct sp_group_stage *st, struct sp_page_actor *p);

/* ---- page.c */
/* The page was forgotten, and its group may not know yet. */
static inline bool sp_page_actor_is_husk(const struct sp_page_actor *p)
{
    return p->kind == SP_PAGE_UNSEEN && p->version > 0;
}

/* ---- publish.c */
/* Publishes the page's status with its present version. */
void sp_page_actor_publish(struct sp_group_stage *st, struct sp_page_actor *p);
/* Its group's verdict on its present content: takes it, and publishes the status if that is news.
 * The verdict has lost the winner's URL then. */
void sp_page_actor_take_verdict(struct sp_group_stage *st, struct sp_page_actor *p,
                                struct sp_verdict *v);

/* ---- erase.c */
/* Returns the husk of the page, of which its group must hear; NULL: the page is not known, or an
 * error occurred. */
struct sp_page_actor *sp_page_actor_erase(struct sp_group_stage *st, const struct sp_message *m);

/* ---- report.c */
struct sp_page_view sp_page_actor_view(const struct sp_page_actor *p);

/* ---- arrive.c */
/* A new group of one around the page, which must have none. */
void sp_group_found(struct sp_group_stage *st, struct sp_page_actor *p);
/* Called a little before that page founds a group. */
void sp_group_found_prefetch(const struct sp_group_stage *st, struct sp_id founder);

#endif

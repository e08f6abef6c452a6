/* What the files of the shadow share. Private to this folder.
 *
 *   shadow.c    pages and their contents come and go; fetches and statuses meet
 *   near.c      which watched contents are similar
 *   rules.c     what the statuses of two similar pages must say
 *   suspects.c  what looks wrong, until it is right or old enough to be counted */
#ifndef SP_SHADOW_INTERNAL_H
#define SP_SHADOW_INTERNAL_H

#include "base/map.h"
#include "candidates/candidates.h"
#include "shadow/shadow.h"

struct sp_watched;

/* A content that watched pages have. */
struct sp_shadow_content {
    struct sp_id hash; /* key of the map: first */
    struct sp_signature *signature;
    uint64_t draw;
    struct sp_watched **owners; /* in arbitrary but reproducible order */
    size_t owner_count;
    size_t owner_cap;
    uint64_t met; /* the look at the index that has met it */
};

/* What the group stage last published of a page. */
struct sp_shadow_said {
    int64_t version;
    enum sp_page_status status;
    enum sp_reason reason;
    float similarity;
    uint32_t group_size;
    struct sp_id winner; /* of a loser */
    struct sp_group_id group;
};

struct sp_watched {
    struct sp_id page; /* key of the map: first */
    char *url;
    uint64_t draw; /* by URL */
    int64_t version;
    enum sp_page_kind kind; /* UNSEEN: the shadow does not know what the page says */
    struct sp_rank rank;
    struct sp_shadow_content *content; /* of SP_PAGE_CONTENT with anything to compare, or NULL */
    struct sp_shadow_said said;
    /* A fetch whose status has not come. */
    bool pending;
    int64_t pending_version;
    enum sp_page_kind pending_kind;
    struct sp_rank pending_rank;
    struct sp_signature *pending_signature; /* one reference, or NULL */
    bool touched;                           /* to be judged */
    uint32_t suspects;                      /* that name it */
    size_t at;                              /* in the list of all */
    size_t owner_at;                        /* in its content's owners */
};

/* From key to the contents that have it. */
struct sp_shadow_posting {
    struct sp_shadow_content *content;
    uint32_t key;
    uint32_t next; /* posting + 1, or 0 */
};

struct sp_shadow_near {
    uint32_t *heads; /* posting + 1, or 0; a power of two */
    size_t head_count;
    struct sp_shadow_posting *postings;
    size_t posting_count;
    size_t posting_cap;
    uint32_t free; /* posting + 1, or 0 */
    size_t used;
    uint64_t looks;
};

enum sp_broken_rule {
    SP_RULE_NONE,
    SP_RULE_BOTH_KEPT,
    SP_RULE_ALONE,
    SP_RULE_APART,
    SP_RULE_NOT_SIMILAR,
    SP_RULE_NOT_A_WINNER,
    SP_RULE_SIMILARITY,
    SP_RULE_OUTRANKED,
    SP_RULE_NOT_GONE
};

struct sp_suspect {
    struct sp_id key; /* of the map: first; of both pages */
    struct sp_suspect *prev;
    struct sp_suspect *next;
    struct sp_id pages[2]; /* the second zero: the rule is about one page */
    uint64_t since;        /* look */
    int64_t since_ms;
    bool counted;
};

struct sp_shadow {
    struct sp_shadow_options options;
    struct sp_candidate_rule rule;
    bool jaccard;
    uint64_t limit; /* of draws */
    struct sp_map by_page;
    struct sp_watched **pages;
    size_t page_count;
    size_t page_cap;
    struct sp_map by_content;
    struct sp_shadow_near near;
    struct sp_id *touched;
    size_t touched_count;
    size_t touched_cap;
    struct sp_map suspects;
    struct sp_suspect *oldest; /* a list in order of age */
    struct sp_suspect *newest;
    size_t uncounted;
    uint64_t looks;
    int64_t now_ms; /* the latest time of a fetch */
    struct sp_shadow_counts counts;
};

/* ---- near.c */

void sp_shadow_near_add(struct sp_shadow *s, struct sp_shadow_content *c);
void sp_shadow_near_remove(struct sp_shadow *s, struct sp_shadow_content *c);
void sp_shadow_near_done(struct sp_shadow_near *near);
/* Calls `each` for watched contents that F holds with, at most `most` and the content itself last,
 * until it returns false. */
void sp_shadow_near_each(struct sp_shadow *s, const struct sp_shadow_content *c,
                         bool (*each)(void *arg, struct sp_shadow_content *other,
                                      double similarity),
                         void *arg);

/* ---- rules.c */

/* Its last status is about the version that the shadow has. */
bool sp_shadow_settled(const struct sp_watched *w);
/* Which rule the two break now; `*ret_similarity` of the two. They are judged only where both are
 * settled: SP_RULE_NONE otherwise. `b` NULL: the rules about one page. */
enum sp_broken_rule sp_shadow_rule(const struct sp_shadow *s, const struct sp_watched *a,
                                   const struct sp_watched *b, double *ret_similarity);
enum sp_shadow_kind sp_shadow_rule_kind(enum sp_broken_rule rule);
const char *sp_shadow_rule_text(enum sp_broken_rule rule);

/* ---- suspects.c */

/* Judges the two (`b` may be NULL): what is broken becomes a suspect. */
void sp_suspect_judge(struct sp_shadow *s, struct sp_watched *a, struct sp_watched *b);
/* Judges all suspects again that name the page. */
void sp_suspect_again(struct sp_shadow *s, const struct sp_watched *w);
/* Drops those that name the page, which leaves. */
void sp_suspect_drop(struct sp_shadow *s, const struct sp_watched *w);
/* Counts what is old enough. */
void sp_suspect_count(struct sp_shadow *s, bool owed, bool all);
int64_t sp_suspect_oldest_ms(const struct sp_shadow *s);
void sp_suspects_done(struct sp_shadow *s);

#endif

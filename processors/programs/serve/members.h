/* A group's members, copied out of the state. Private to this folder. */
#ifndef SP_SERVE_MEMBERS_H
#define SP_SERVE_MEMBERS_H

#include "serve/state.h"

enum { SP_MEMBERS_MAX = 20000 }; /* read at once: a part of a larger group */

struct sp_group_member {
    struct sp_member_view view;     /* its url is owned */
    struct sp_signature *signature; /* NULL until sp_members_signature */
};

struct sp_members {
    struct sp_id page;  /* the requested page */
    struct sp_id after; /* the part after this member; zero: the first part */
    struct sp_group_id group;
    struct sp_group_member *list; /* winners first, then by rank, unless they are sorted again */
    size_t count;
    size_t cap;
    struct sp_group_member **by_page; /* the same, by id */
    struct sp_id last;                /* of the part, as the state has them in order */
    bool more;                        /* members after it */
    struct sp_group_member other;     /* of another part, see sp_members_get */
};

/* The group of m->page. */
enum sp_err sp_members_read(struct sp_state_reader *r, struct sp_members *m);
void sp_members_done(struct sp_members *m);
/* Sorts the list; `order` compares two struct sp_group_member. */
void sp_members_order(struct sp_members *m, int (*order)(const void *a, const void *b));
/* Borrowed; NULL: there is none. */
struct sp_group_member *sp_members_find(const struct sp_members *m, struct sp_id page);
/* The same, of any part: one of another is looked up and valid until the next call. */
struct sp_group_member *sp_members_get(struct sp_state_reader *r, struct sp_members *m,
                                       struct sp_id page);
/* Its signature, borrowed; NULL if it has no content. */
const struct sp_signature *sp_members_signature(struct sp_state_reader *r, struct sp_members *m,
                                                struct sp_group_member *member);

#endif

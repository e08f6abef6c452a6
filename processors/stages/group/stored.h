/* The stored form of pages and groups, and their cache. Private to group. */
#ifndef SP_GROUP_STORED_H
#define SP_GROUP_STORED_H

#include "group/members.h"
#include "group/page_actor.h"
#include "similarity/parity.h"

/* ---- table.c */
void sp_group_free(struct sp_group_stage *st, struct sp_group *g);
/* Frees the page's memory; it must be clean. */
void sp_page_actor_evict(struct sp_group_stage *st, struct sp_page_actor *p);

/* ---- evict.c */
/* Evicts pages and groups until they fit their budget; everything must be clean, nothing
 * borrowed. */
void sp_group_stage_evict(struct sp_group_stage *st);

/* ---- rows.c */
/* Both write the key of a row to st->key; `kind` is one of those of groups. */
void sp_page_actor_key(struct sp_group_stage *st, struct sp_id id);
void sp_group_key(struct sp_group_stage *st, char kind, struct sp_group_id id);
void sp_page_actor_encode(const struct sp_page_actor *p, struct sp_buf *out);
enum sp_err sp_page_actor_decode(struct sp_view in, struct sp_page_actor *p);
void sp_member_encode(const struct sp_member *m, struct sp_buf *out);
/* `key` ends with the page. *ret_pattern is what sp_pattern_encode wrote, or empty. */
enum sp_err sp_member_decode(struct sp_view key, struct sp_view value, struct sp_member *m,
                             struct sp_id *ret_parent, struct sp_view *ret_pattern);
/* Groups of at most so many members are stored in their 'G' row: one look-up, and no scan for
 * members. */
enum { SP_PACKED_MEMBERS = 16 };
void sp_group_encode(const struct sp_group *g, bool packed, struct sp_buf *out);
/* Reads the level and the open transfers. Then the reader is at the first packed member, or at its
 * end if members have their own rows. */
enum sp_err sp_group_decode(struct sp_reader *r, struct sp_group *g);
enum sp_err sp_member_read_packed(struct sp_reader *r, struct sp_member *m,
                                  struct sp_id *ret_parent);

/* The page and the edges of a `members` message, without its rows; the rest of the bytes. */
void sp_edges_encode(const struct sp_message *m, struct sp_buf *out);
enum sp_err sp_edges_decode(struct sp_reader *r, struct sp_message *m);

/* ---- patterns.c */
enum { SP_PATTERN_BYTES = sizeof(double) + SP_PARITY_WIDE * sizeof(uint64_t) };
/* Whether the row of the member has the pattern of its content. */
bool sp_pattern_is_stored(const struct sp_member *m);
/* Appends SP_PATTERN_BYTES. */
void sp_pattern_encode(const struct sp_member *m, struct sp_buf *out);
/* Keeps a pattern, of SP_PATTERN_BYTES, that was read with the group. */
void sp_patterns_keep(struct sp_group *g, struct sp_id content, struct sp_view pattern);
void sp_patterns_drop(struct sp_group *g);

#endif

/* See rosters.h. */
#include "serve/rosters.h"

#include <endian.h>
#include <string.h>

#include "base/mem.h"
#include "base/shelf.h"

/* A server that many ask for many groups keeps the rosters of the last ones. Each page is in one at
 * most. */
enum { MOST = 64 };

struct roster {
    struct ring *of;
    struct sp_lru used;
    struct sp_shelf members;
    uint32_t readers;
};

/* Losers to one winner, or the other pages of one group. */
struct ring {
    struct sp_id key; /* of the map: first */
    struct sp_lru pages;
    uint32_t count;
    struct roster *roster; /* of a group that was asked for, or NULL */
};

/* ---- keys and orders ---- */

static struct sp_id group_key(struct sp_group_id id)
{
    return sp_hash128(&id, sizeof id);
}

static struct sp_id losers_key(struct sp_id winner)
{
    static const char kind[] = "losers to";
    char named[sizeof kind + sizeof winner];
    memcpy(named, kind, sizeof kind);
    memcpy(named + sizeof kind, &winner, sizeof winner);
    return sp_hash128(named, sizeof named);
}

static struct sp_id key_of(struct sp_id winner, struct sp_group_id group)
{
    return sp_id_is_zero(winner) ? group_key(group) : losers_key(winner);
}

static struct sp_id ring_key(const struct sp_known_page *k)
{
    return key_of(k->winner, k->event.group);
}

/* By the bytes, like the rows of a state: a client may ask a server with a state for the next
 * part. */
static int order(const void *key, const void *object)
{
    return memcmp(&((const struct sp_known_page *)object)->page, key, sizeof(struct sp_id));
}

static uint64_t head(struct sp_id page)
{
    return be64toh(page.hi);
}

/* ---- rosters ---- */

static void add(struct roster *o, struct sp_known_page *k)
{
    sp_shelf_add(&o->members, order, &k->page, head(k->page), k);
}

static void take_out(struct roster *o, struct sp_known_page *k)
{
    sp_shelf_remove(&o->members, order, &k->page, head(k->page));
}

static void drop(struct sp_rosters *r, struct ring *ring)
{
    struct roster *o = ring->roster;
    if (!o)
        return;
    ring->roster = NULL;
    r->count--;
    sp_lru_remove(&o->used);
    sp_shelf_done(&o->members);
    sp_free(o);
}

/* The page, which is no loser, with its losers. */
static void each_of(struct sp_rosters *r, struct roster *o, struct sp_known_page *k,
                    void (*change)(struct roster *o, struct sp_known_page *k))
{
    const struct ring *losers = sp_map_get(&r->rings, losers_key(k->page));
    change(o, k);
    for (struct sp_lru *at = losers ? losers->pages.next : NULL; losers && at != &losers->pages;
         at = at->next)
        change(o, SP_LRU_OBJECT(at, struct sp_known_page, ring));
}

/* Such a page enters the ring or leaves it. */
static void change_with_losers(struct sp_rosters *r, struct ring *ring, struct sp_known_page *k,
                               void (*change)(struct roster *o, struct sp_known_page *k))
{
    enum { FEW = 16, SHARE = 64 };
    const struct ring *losers = sp_map_get(&r->rings, losers_key(k->page));
    if (losers && losers->count > FEW + ring->roster->members.count / SHARE)
        drop(r, ring);
    else
        each_of(r, ring->roster, k, change);
}

static void change_roster(struct sp_rosters *r, struct ring *ring, struct sp_known_page *k,
                          void (*change)(struct roster *o, struct sp_known_page *k))
{
    if (!r->count)
        return;
    if (!sp_id_is_zero(k->winner)) {
        const struct sp_known_page *winner = sp_map_get(&r->pages, k->winner);
        ring = winner && sp_id_is_zero(winner->winner) ? sp_map_get(&r->rings, ring_key(winner))
                                                       : NULL;
        if (ring && ring->roster)
            change(ring->roster, k);
    } else if (ring->roster) {
        change_with_losers(r, ring, k, change);
    }
}

static struct roster *make(struct sp_rosters *r, struct ring *ring)
{
    struct roster *o = sp_calloc(1, sizeof *o);
    o->of = ring;
    for (struct sp_lru *at = ring->pages.next; at != &ring->pages; at = at->next)
        each_of(r, o, SP_LRU_OBJECT(at, struct sp_known_page, ring), add);
    r->looked_at += o->members.count;
    r->count++;
    sp_lru_push(&r->used, &o->used);
    ring->roster = o;
    return o;
}

static void drop_oldest(struct sp_rosters *r)
{
    struct sp_lru *at = r->used.prev;
    while (r->count > MOST && at != &r->used) {
        const struct roster *o = SP_LRU_OBJECT(at, struct roster, used);
        at = at->prev;
        if (!o->readers)
            drop(r, o->of);
    }
}

/* NULL: there is no such group. */
static struct roster *borrow(struct sp_rosters *r, struct sp_group_id group)
{
    struct roster *o = NULL;
    pthread_mutex_lock(&r->lock);
    struct ring *ring = sp_map_get(&r->rings, group_key(group));
    if (ring) {
        o = ring->roster ? ring->roster : make(r, ring);
        o->readers++;
        sp_lru_touch(&r->used, &o->used);
        drop_oldest(r);
    }
    pthread_mutex_unlock(&r->lock);
    return o;
}

static void give_back(struct sp_rosters *r, struct roster *o, uint64_t looked_at)
{
    pthread_mutex_lock(&r->lock);
    o->readers--;
    r->looked_at += looked_at;
    pthread_mutex_unlock(&r->lock);
}

void sp_rosters_list(struct sp_rosters *r, struct sp_group_id group, struct sp_id after,
                     bool (*each)(void *arg, const struct sp_known_page *k), void *arg)
{
    struct roster *o = borrow(r, group);
    uint64_t looked_at = 0;
    bool more = true;
    if (!o)
        return;
    struct sp_shelf_place place = sp_shelf_find(&o->members, order, &after, head(after));
    for (struct sp_known_page *k; more && (k = sp_shelf_next(&o->members, &place)); looked_at++)
        more = sp_id_eq(k->page, after) || each(arg, k);
    give_back(r, o, looked_at);
}

/* ---- rings ---- */

void sp_rosters_enter(struct sp_rosters *r, struct sp_known_page *k)
{
    struct sp_id key = ring_key(k);
    struct ring *ring = sp_map_get(&r->rings, key);
    if (!ring) {
        ring = sp_calloc(1, sizeof *ring);
        ring->key = key;
        sp_lru_init(&ring->pages);
        sp_map_add(&r->rings, ring);
    }
    sp_lru_push(&ring->pages, &k->ring);
    ring->count++;
    change_roster(r, ring, k, add);
}

void sp_rosters_leave(struct sp_rosters *r, struct sp_known_page *k)
{
    struct ring *ring = sp_map_get(&r->rings, ring_key(k));
    change_roster(r, ring, k, take_out);
    sp_lru_remove(&k->ring);
    if (--ring->count)
        return;
    drop(r, ring);
    sp_map_remove(&r->rings, ring->key);
    sp_free(ring);
}

bool sp_rosters_stays(const struct sp_known_page *k, struct sp_id winner, struct sp_group_id group)
{
    return sp_id_eq(k->winner, winner) &&
           (!sp_id_is_zero(winner) || sp_group_id_eq(k->event.group, group));
}

void sp_rosters_init(struct sp_rosters *r)
{
    *r = (struct sp_rosters){0};
    sp_lru_init(&r->used);
    pthread_mutex_init(&r->lock, NULL);
}

void sp_rosters_clear(struct sp_rosters *r)
{
    while (r->count)
        drop(r, SP_LRU_OBJECT(r->used.next, struct roster, used)->of);
    sp_map_free_objects(&r->rings);
}

void sp_rosters_done(struct sp_rosters *r)
{
    sp_rosters_clear(r);
    pthread_mutex_destroy(&r->lock);
}

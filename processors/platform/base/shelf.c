/* Boards of up to BOARD objects each; a full one becomes two. */
#include "base/shelf.h"

#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/prefetch.h"

enum { BOARD = 256 };

struct entry {
    uint64_t head;
    void *object;
};

struct sp_shelf_board {
    uint64_t head; /* of its first entry */
    struct entry *entries;
    uint32_t count;
    uint32_t cap;
};

void sp_shelf_done(struct sp_shelf *s)
{
    for (uint32_t i = 0; i < s->board_count; i++)
        sp_free(s->boards[i].entries);
    sp_free(s->boards);
    *s = (struct sp_shelf){0};
}

static bool comes_before(const struct entry *e, sp_shelf_order *order, const void *key,
                         uint64_t head)
{
    return e->head != head ? e->head < head : order(key, e->object) < 0;
}

/* The number of boards from `from` on whose heads are below this one. Without a branch that depends
 * on a head, because none of them could be predicted. */
static uint32_t boards_below(const struct sp_shelf *s, uint32_t from, uint64_t head)
{
    uint32_t left = s->board_count - from;
    if (!left)
        return 0;
    const struct sp_shelf_board *at = s->boards + from;
    for (; left > 1; left -= left / 2)
        at += left / 2 & -(uint32_t)(at[left / 2 - 1].head < head);
    return (uint32_t)(at - s->boards) - from + (at->head < head);
}

/* The last board whose first object comes before the key, or the first. */
static uint32_t find_board(const struct sp_shelf *s, sp_shelf_order *order, const void *key,
                           uint64_t head)
{
    uint32_t lo = boards_below(s, 0, head), hi = lo;
    if (lo < s->board_count && s->boards[lo].head == head)
        hi = head < UINT64_MAX ? lo + boards_below(s, lo, head + 1) : s->board_count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (order(key, s->boards[mid].entries[0].object) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? lo - 1 : 0;
}

/* Where an entry with this head is likely to be, because most heads are hashes. */
static uint32_t guess(const struct sp_shelf *s, uint32_t board, uint64_t head)
{
    const struct sp_shelf_board *b = &s->boards[board];
    uint64_t first = b->head, end = board + 1 < s->board_count ? b[1].head : UINT64_MAX;
    if (head <= first || head >= end)
        return b->count / 2;
    return (uint32_t)((double)(head - first) / (double)(end - first) * (b->count - 1));
}

/* Prefetches this entry, and those that a search from it on reads next. */
static void prefetch_around(const struct sp_shelf_board *b, uint32_t at)
{
    enum { LINE = 64, BEFORE = LINE / sizeof(struct entry), THREE_LINES = 3 * LINE };
    sp_prefetch_bytes(&b->entries[at > BEFORE ? at - BEFORE : 0], THREE_LINES);
}

/* The first entry of the board that does not come before the key. A binary search, but around a
 * guess: each entry that is far from the last one is a wait for memory. */
static uint32_t find_entry(const struct sp_shelf *s, uint32_t board, sp_shelf_order *order,
                           const void *key, uint64_t head)
{
    const struct sp_shelf_board *b = &s->boards[board];
    uint32_t lo = 0, hi = b->count, at = guess(s, board, head);
    prefetch_around(b, at);
    for (uint32_t step = 4; lo < hi; step *= 2) {
        bool before = comes_before(&b->entries[at], order, key, head);
        if (before)
            lo = at + 1;
        else
            hi = at;
        if (hi - lo <= 2 * step)
            at = (lo + hi) / 2;
        else
            at = before ? lo + step : hi - step;
    }
    return lo;
}

struct sp_shelf_place sp_shelf_find(const struct sp_shelf *s, sp_shelf_order *order,
                                    const void *key, uint64_t head)
{
    struct sp_shelf_place place = {find_board(s, order, key, head), 0};
    if (place.board < s->board_count)
        place.at = find_entry(s, place.board, order, key, head);
    return place;
}

/* Comes before all objects with the head. */
static int before_all(const void *key, const void *object)
{
    (void)key, (void)object;
    return 1;
}

void sp_shelf_prefetch(const struct sp_shelf *s, uint64_t head)
{
    uint32_t board = find_board(s, before_all, NULL, head);
    if (board < s->board_count)
        prefetch_around(&s->boards[board], guess(s, board, head));
}

const void *sp_shelf_guess(const struct sp_shelf *s, uint64_t head)
{
    struct sp_shelf_place place = sp_shelf_find(s, before_all, NULL, head);
    if (place.board < s->board_count && place.at == s->boards[place.board].count)
        place = (struct sp_shelf_place){place.board + 1, 0};
    if (place.board >= s->board_count)
        return NULL;
    const struct entry *e = &s->boards[place.board].entries[place.at];
    return e->head == head ? e->object : NULL;
}

struct sp_shelf_place sp_shelf_first(const struct sp_shelf *s)
{
    (void)s;
    return (struct sp_shelf_place){0, 0};
}

void *sp_shelf_next(const struct sp_shelf *s, struct sp_shelf_place *place)
{
    while (place->board < s->board_count && place->at == s->boards[place->board].count) {
        place->board++;
        place->at = 0;
    }
    if (place->board >= s->board_count)
        return NULL;
    return s->boards[place->board].entries[place->at++].object;
}

static void insert_board(struct sp_shelf *s, uint32_t at)
{
    sp_grow(&s->boards, &s->board_cap, s->board_count + 1);
    memmove(s->boards + at + 1, s->boards + at, (s->board_count - at) * sizeof *s->boards);
    s->boards[at] = (struct sp_shelf_board){0};
    s->board_count++;
}

static void split_board(struct sp_shelf *s, uint32_t at)
{
    insert_board(s, at + 1);
    struct sp_shelf_board *low = &s->boards[at], *high = &s->boards[at + 1];
    high->count = low->count / 2;
    low->count -= high->count;
    sp_grow(&high->entries, &high->cap, high->count);
    SP_ASSERT(high->entries);
    memcpy(high->entries, low->entries + low->count, high->count * sizeof *high->entries);
    high->head = high->entries[0].head;
}

void sp_shelf_add(struct sp_shelf *s, sp_shelf_order *order, const void *key, uint64_t head,
                  void *object)
{
    struct sp_shelf_place place = sp_shelf_find(s, order, key, head);
    if (!s->board_count)
        insert_board(s, 0);
    struct sp_shelf_board *b = &s->boards[place.board];
    if (b->count == BOARD) {
        split_board(s, place.board);
        b = &s->boards[place.board];
        if (place.at > b->count) {
            place.at -= b->count;
            b = &s->boards[++place.board];
        }
    }
    sp_grow(&b->entries, &b->cap, b->count + 1);
    memmove(b->entries + place.at + 1, b->entries + place.at,
            (b->count - place.at) * sizeof *b->entries);
    b->entries[place.at] = (struct entry){head, object};
    b->head = b->entries[0].head;
    b->count++;
    s->count++;
}

bool sp_shelf_remove(struct sp_shelf *s, sp_shelf_order *order, const void *key, uint64_t head)
{
    struct sp_shelf_place place = sp_shelf_find(s, order, key, head), found = place;
    const void *object = sp_shelf_next(s, &found);
    if (!object || order(key, object) != 0)
        return false;
    struct sp_shelf_board *b = &s->boards[found.board];
    uint32_t at = found.at - 1;
    b->count--;
    memmove(b->entries + at, b->entries + at + 1, (b->count - at) * sizeof *b->entries);
    s->count--;
    if (b->count) {
        b->head = b->entries[0].head;
    } else {
        sp_free(b->entries);
        s->board_count--;
        memmove(s->boards + found.board, s->boards + found.board + 1,
                (s->board_count - found.board) * sizeof *s->boards);
    }
    return true;
}

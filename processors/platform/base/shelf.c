/* Boards of up to BOARD objects each; a full one becomes two. The heads of their first entries are
 * side by side, and so is every EACHth of those, so that the search for a board reads few cache
 * lines. */
#include "base/shelf.h"

#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/prefetch.h"

enum { BOARD = 256, EACH = 32 };

struct entry {
    uint64_t head;
    void *object;
};

struct sp_shelf_board {
    struct entry *entries;
    uint32_t count;
    uint32_t cap;
};

/* ---- boards and their heads, in one block of memory: so a list of few objects takes little ----
 */

static uint64_t *heads(const struct sp_shelf *s)
{
    return (uint64_t *)(s->boards + s->board_cap);
}

/* heads[0], heads[EACH], heads[2 * EACH] ... */
static uint64_t *marks(const struct sp_shelf *s)
{
    return heads(s) + s->board_cap;
}

static uint32_t marks_of(uint32_t boards)
{
    return (boards + EACH - 1) / EACH;
}

static void set_head(struct sp_shelf *s, uint32_t board)
{
    heads(s)[board] = s->boards[board].entries[0].head;
    if (board % EACH == 0)
        marks(s)[board / EACH] = heads(s)[board];
}

/* The boards from this one on have moved. */
static void set_marks(struct sp_shelf *s, uint32_t from)
{
    for (uint32_t i = marks_of(from); i < marks_of(s->board_count); i++)
        marks(s)[i] = heads(s)[(size_t)i * EACH];
}

static void make_room(struct sp_shelf *s)
{
    struct sp_shelf old = *s;
    if (s->board_count < s->board_cap)
        return;
    s->board_cap = old.board_cap ? 2 * old.board_cap : 1;
    s->boards = sp_alloc(s->board_cap * (sizeof *s->boards + sizeof(uint64_t)) +
                         marks_of(s->board_cap) * sizeof(uint64_t));
    if (old.board_count) {
        memcpy(s->boards, old.boards, s->board_count * sizeof *s->boards);
        memcpy(heads(s), heads(&old), s->board_count * sizeof(uint64_t));
        set_marks(s, 0);
    }
    sp_free(old.boards);
}

static void insert_board(struct sp_shelf *s, uint32_t at)
{
    make_room(s);
    uint32_t behind = s->board_count - at;
    memmove(s->boards + at + 1, s->boards + at, behind * sizeof *s->boards);
    memmove(heads(s) + at + 1, heads(s) + at, behind * sizeof(uint64_t));
    s->boards[at] = (struct sp_shelf_board){0};
    heads(s)[at] = 0;
    s->board_count++;
    set_marks(s, at);
}

static void remove_board(struct sp_shelf *s, uint32_t at)
{
    sp_free(s->boards[at].entries);
    s->board_count--;
    uint32_t behind = s->board_count - at;
    memmove(s->boards + at, s->boards + at + 1, behind * sizeof *s->boards);
    memmove(heads(s) + at, heads(s) + at + 1, behind * sizeof(uint64_t));
    set_marks(s, at);
}

void sp_shelf_done(struct sp_shelf *s)
{
    for (uint32_t i = 0; i < s->board_count; i++)
        sp_free(s->boards[i].entries);
    sp_free(s->boards);
    *s = (struct sp_shelf){0};
}

/* ---- searching ---- */

static bool comes_before(const struct entry *e, sp_shelf_order *order, const void *key,
                         uint64_t head)
{
    return e->head != head ? e->head < head : order(key, e->object) < 0;
}

/* How many of the numbers, which are sorted, are below this one. Without a branch that depends on
 * one of them, because none could be predicted. */
static inline uint32_t count_below(const uint64_t *sorted, uint32_t count, uint64_t number)
{
    const uint64_t *at = sorted;
    if (!count)
        return 0;
    for (; count > 1; count -= count / 2)
        at += count / 2 & -(uint32_t)(at[count / 2 - 1] < number);
    return (uint32_t)(at - sorted) + (*at < number);
}

/* The number of boards whose heads are below this one. */
static uint32_t boards_below(const struct sp_shelf *s, uint64_t head)
{
    uint32_t marked = count_below(marks(s), marks_of(s->board_count), head);
    uint32_t from = marked ? EACH * (marked - 1) : 0, left = s->board_count - from;
    sp_prefetch_bytes(heads(s) + from, EACH * sizeof(uint64_t));
    return from + count_below(heads(s) + from, left < EACH ? left : EACH, head);
}

/* The last board whose first object comes before the key, or the first. */
static uint32_t find_board(const struct sp_shelf *s, sp_shelf_order *order, const void *key,
                           uint64_t head)
{
    if (!s->board_count)
        return 0;
    uint32_t lo = boards_below(s, head), hi = lo;
    if (lo < s->board_count && heads(s)[lo] == head)
        hi = head < UINT64_MAX ? boards_below(s, head + 1) : s->board_count;
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
    uint64_t first = heads(s)[board],
             end = board + 1 < s->board_count ? heads(s)[board + 1] : UINT64_MAX;
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

const void *sp_shelf_first_with(const struct sp_shelf *s, uint64_t head)
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

static void split_board(struct sp_shelf *s, uint32_t at)
{
    insert_board(s, at + 1);
    struct sp_shelf_board *low = &s->boards[at], *high = &s->boards[at + 1];
    high->count = low->count / 2;
    low->count -= high->count;
    sp_grow(&high->entries, &high->cap, high->count);
    SP_ASSERT(high->entries);
    memcpy(high->entries, low->entries + low->count, high->count * sizeof *high->entries);
    set_head(s, at + 1);
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
    b->count++;
    s->count++;
    if (place.at == 0)
        set_head(s, place.board);
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
    if (!b->count)
        remove_board(s, found.board);
    else if (at == 0)
        set_head(s, found.board);
    return true;
}

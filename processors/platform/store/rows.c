/* See rows.h. */
#include "store/rows.h"

#include <endian.h>

#include "base/assert.h"
#include "base/mem.h"

enum { BOARD = 256 };

struct entry {
    uint64_t head; /* of the key: in the same order, but not all of it */
    struct sp_stored_row *row;
};

struct sp_rows_board {
    struct entry first; /* entries[0] */
    struct entry *entries;
    uint32_t count;
    uint32_t cap;
};

struct sp_stored_row *sp_stored_row_new(struct sp_view key, struct sp_view value, bool deleted)
{
    struct sp_stored_row *row = sp_alloc(sizeof *row + key.len + value.len);
    char *bytes = (char *)row + sizeof *row;
    if (key.len)
        memcpy(bytes, key.data, key.len);
    if (value.len)
        memcpy(bytes + key.len, value.data, value.len);
    row->key = sp_view(bytes, key.len);
    row->value = sp_view(bytes + key.len, value.len);
    row->deleted = deleted;
    return row;
}

static size_t row_bytes(const struct sp_stored_row *row)
{
    return sizeof *row + row->key.len + row->value.len;
}

/* ---- order */

static uint64_t head_of(struct sp_view key)
{
    uint64_t head = 0;
    if (key.len)
        memcpy(&head, key.data, key.len < sizeof head ? key.len : sizeof head);
    return be64toh(head);
}

static int compare(struct sp_view a, struct sp_view b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    if (order)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

static bool comes_before(const struct entry *e, uint64_t head, struct sp_view key)
{
    return e->head != head ? e->head < head : compare(e->row->key, key) < 0;
}

/* The last board whose first row comes before the key, or the first. */
static uint32_t find_board(const struct sp_rows *rows, uint64_t head, struct sp_view key)
{
    uint32_t lo = 0, hi = rows->board_count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (comes_before(&rows->boards[mid].first, head, key))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? lo - 1 : 0;
}

struct sp_rows_place sp_rows_seek(const struct sp_rows *rows, struct sp_view key)
{
    uint64_t head = head_of(key);
    struct sp_rows_place place = {find_board(rows, head, key), 0};
    if (place.board == rows->board_count)
        return place;
    const struct sp_rows_board *b = &rows->boards[place.board];
    uint32_t lo = 0, hi = b->count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (comes_before(&b->entries[mid], head, key))
            lo = mid + 1;
        else
            hi = mid;
    }
    place.at = lo;
    return place;
}

struct sp_stored_row *sp_rows_next(const struct sp_rows *rows, struct sp_rows_place *place)
{
    while (place->board < rows->board_count && place->at == rows->boards[place->board].count) {
        place->board++;
        place->at = 0;
    }
    if (place->board >= rows->board_count)
        return NULL;
    return rows->boards[place->board].entries[place->at++].row;
}

/* The place of that key's row: there, where its own board ends, at the start of the next. */
static struct entry *entry_of(const struct sp_rows *rows, struct sp_rows_place *place,
                              struct sp_view key)
{
    if (place->board < rows->board_count && place->at == rows->boards[place->board].count)
        *place = (struct sp_rows_place){place->board + 1, 0};
    if (place->board >= rows->board_count)
        return NULL;
    struct entry *e = &rows->boards[place->board].entries[place->at];
    return sp_view_eq(e->row->key, key) ? e : NULL;
}

struct sp_stored_row *sp_rows_find(const struct sp_rows *rows, struct sp_view key)
{
    struct sp_rows_place place = sp_rows_seek(rows, key);
    const struct entry *e = entry_of(rows, &place, key);
    return e ? e->row : NULL;
}

/* ---- changes */

static void insert_board(struct sp_rows *rows, uint32_t at)
{
    sp_grow(&rows->boards, &rows->board_cap, rows->board_count + 1);
    memmove(rows->boards + at + 1, rows->boards + at,
            (rows->board_count - at) * sizeof *rows->boards);
    rows->boards[at] = (struct sp_rows_board){0};
    rows->board_count++;
}

static void drop_board(struct sp_rows *rows, uint32_t at)
{
    sp_free(rows->boards[at].entries);
    rows->board_count--;
    memmove(rows->boards + at, rows->boards + at + 1,
            (rows->board_count - at) * sizeof *rows->boards);
}

/* A board that is full becomes two: where rows come in order, the first stays full. */
static void split_board(struct sp_rows *rows, struct sp_rows_place *place)
{
    bool last = place->board + 1 == rows->board_count && place->at == BOARD;
    uint32_t kept = last ? BOARD : BOARD / 2;
    insert_board(rows, place->board + 1);
    struct sp_rows_board *low = &rows->boards[place->board], *high = low + 1;
    high->count = low->count - kept;
    low->count = kept;
    sp_grow(&high->entries, &high->cap, high->count + 1);
    if (high->count) {
        SP_ASSERT(high->entries);
        memcpy(high->entries, low->entries + kept, high->count * sizeof *high->entries);
        high->first = high->entries[0];
    }
    if (place->at > kept || last)
        *place = (struct sp_rows_place){place->board + 1, place->at - kept};
}

static void insert(struct sp_rows *rows, struct sp_rows_place place, struct sp_stored_row *row)
{
    if (!rows->board_count)
        insert_board(rows, 0);
    if (rows->boards[place.board].count == BOARD)
        split_board(rows, &place);
    struct sp_rows_board *b = &rows->boards[place.board];
    sp_grow(&b->entries, &b->cap, b->count + 1);
    memmove(b->entries + place.at + 1, b->entries + place.at,
            (b->count - place.at) * sizeof *b->entries);
    b->entries[place.at] = (struct entry){head_of(row->key), row};
    b->first = b->entries[0];
    b->count++;
}

void sp_rows_put(struct sp_rows *rows, struct sp_stored_row *row)
{
    struct sp_rows_place place = sp_rows_seek(rows, row->key), found = place;
    struct entry *e = entry_of(rows, &found, row->key);
    rows->bytes += row_bytes(row);
    if (!e) {
        insert(rows, place, row);
        return;
    }
    rows->bytes -= row_bytes(e->row);
    sp_free(e->row);
    e->row = row;
    rows->boards[found.board].first = rows->boards[found.board].entries[0];
}

void sp_rows_erase(struct sp_rows *rows, struct sp_view key)
{
    struct sp_rows_place place = sp_rows_seek(rows, key);
    struct entry *e = entry_of(rows, &place, key);
    if (!e)
        return;
    struct sp_rows_board *b = &rows->boards[place.board];
    rows->bytes -= row_bytes(e->row);
    sp_free(e->row);
    b->count--;
    memmove(e, e + 1, (b->count - place.at) * sizeof *e);
    if (b->count)
        b->first = b->entries[0];
    else
        drop_board(rows, place.board);
}

void sp_rows_let_go(struct sp_rows *rows)
{
    for (uint32_t i = 0; i < rows->board_count; i++)
        sp_free(rows->boards[i].entries);
    sp_free(rows->boards);
    *rows = (struct sp_rows){0};
}

void sp_rows_clear(struct sp_rows *rows)
{
    struct sp_rows_place place = {0, 0};
    for (struct sp_stored_row *row; (row = sp_rows_next(rows, &place));)
        sp_free(row);
    sp_rows_let_go(rows);
}

/* Rows in the order of their keys, in memory: boards of up to 256 rows each. Beside each row lie
 * the first eight bytes of its key, so that a look-up reads a few lines of memory, and mostly one
 * row.
 *
 * Cost, for n rows: O(log n) a look-up; an insertion or removal moves at most one board, and now
 * and then the list of boards. Thread rule: one thread at a time. */
#ifndef SP_STORE_ROWS_H
#define SP_STORE_ROWS_H

#include "base/bytes.h"

struct sp_stored_row {
    struct sp_view key;
    struct sp_view value; /* never changes: the row is replaced, so that views hold until then */
    bool deleted;         /* in a batch: a deletion */
};

/* One allocation, freed with sp_free. Never NULL. */
struct sp_stored_row *sp_stored_row_new(struct sp_view key, struct sp_view value, bool deleted);

struct sp_rows_board;

/* Zeroed: empty. */
struct sp_rows {
    struct sp_rows_board *boards;
    uint32_t board_count;
    uint32_t board_cap;
    size_t bytes; /* of all rows */
};

/* A place between two rows; valid until the list changes. */
struct sp_rows_place {
    uint32_t board;
    uint32_t at;
};

/* Frees the rows as well. */
void sp_rows_clear(struct sp_rows *rows);
/* Gives up its rows, which somebody else has taken over. */
void sp_rows_let_go(struct sp_rows *rows);
/* Before the first row whose key is not less. */
struct sp_rows_place sp_rows_seek(const struct sp_rows *rows, struct sp_view key);
/* The row there, or NULL behind the last; then the place is moved on to the next. */
struct sp_stored_row *sp_rows_next(const struct sp_rows *rows, struct sp_rows_place *place);
struct sp_stored_row *sp_rows_find(const struct sp_rows *rows, struct sp_view key);
/* Takes the row over; one of the same key is freed. */
void sp_rows_put(struct sp_rows *rows, struct sp_stored_row *row);
/* Frees the row of that key, if there is one. */
void sp_rows_erase(struct sp_rows *rows, struct sp_view key);

#endif

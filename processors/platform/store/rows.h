/* Rows in memory, in the order of their keys: a B+ tree. The first eight bytes of each key are next
 * to the pointer to its row, so that a look-up reads a few cache lines and usually one row.
 *
 * Cost, for n rows: O(log n) a look-up, an insertion, a removal. Thread rule: one thread at a time.
 */
#ifndef SP_STORE_ROWS_H
#define SP_STORE_ROWS_H

#include "base/bytes.h"

struct sp_stored_row {
    struct sp_view key;
    struct sp_view value; /* never changes; views are valid until the row is replaced */
    bool deleted;         /* in a batch: a deletion */
};

/* Makes a row with copies of key and value, in one allocation; free it with sp_free. Never NULL. */
struct sp_stored_row *sp_stored_row_new(struct sp_view key, struct sp_view value, bool deleted);

struct sp_rows_leaf;

/* Initialise with zeros. */
struct sp_rows {
    void *root;      /* a leaf, or `height` levels of inner nodes above leaves; NULL: no rows yet */
    uint32_t height; /* levels of inner nodes */
    size_t count;    /* of rows */
    size_t bytes;    /* of all rows */
    size_t leaves;
};

/* A place between two rows; valid until the rows change. */
struct sp_rows_place {
    const struct sp_rows_leaf *leaf;
    uint32_t at;
};

/* Frees the tree and its rows; the tree is then empty. */
void sp_rows_clear(struct sp_rows *rows);
/* Frees the tree but not its rows, which have another owner. */
void sp_rows_let_go(struct sp_rows *rows);
/* The place before the first row. */
struct sp_rows_place sp_rows_first(const struct sp_rows *rows);
/* The place before the first row whose key is not less. */
struct sp_rows_place sp_rows_seek(const struct sp_rows *rows, struct sp_view key);
/* Returns the row at that place, or NULL after the last one, and moves the place to the next. */
struct sp_stored_row *sp_rows_next(struct sp_rows_place *place);
/* The row with that key, or NULL. */
struct sp_stored_row *sp_rows_find(const struct sp_rows *rows, struct sp_view key);
/* Adds the row, which the tree then owns; frees the row that has had its key. */
void sp_rows_put(struct sp_rows *rows, struct sp_stored_row *row);
/* Frees the row of that key, if there is one. */
void sp_rows_erase(struct sp_rows *rows, struct sp_view key);

#endif

/* See rows.h. A leaf that has become small is merged with its right neighbour if the rows of
 * both fit into one leaf; inner nodes are freed when they are empty. */
#include "store/rows.h"

#include <endian.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/prefetch.h"

/* Nodes of 1 and 2 KiB. */
enum { LEAF_ROWS = 62, INNER_KIDS = 84, MERGED_ROWS = LEAF_ROWS * 3 / 4, MOST_LEVELS = 16 };

struct sp_rows_leaf {
    uint32_t count;
    uint64_t heads[LEAF_ROWS]; /* first bytes of the keys, in the same order */
    struct sp_stored_row *rows[LEAF_ROWS];
    struct sp_rows_leaf *before, *after;
};

/* All keys of kids[i + 1], and none of kids[i], are bounds[i] or greater. */
struct inner {
    uint32_t count;             /* number of kids */
    uint64_t heads[INNER_KIDS]; /* first bytes of the bounds */
    struct sp_stored_row *bounds[INNER_KIDS];
    void *kids[INNER_KIDS];
};

/* From the root to a leaf. */
struct path {
    struct inner *nodes[MOST_LEVELS];
    uint32_t kids[MOST_LEVELS];
    struct sp_rows_leaf *leaf;
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

/* ---- order ---- */

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

/* Counts the sorted heads that are less. */
static uint32_t heads_below(const uint64_t *heads, uint32_t count, uint64_t head)
{
    const uint64_t *at = heads;
    while (count > 1) {
        uint32_t half = count / 2;
        at += at[half - 1] < head ? half : 0;
        count -= half;
    }
    return (uint32_t)(at - heads) + (count && *at < head);
}

/* Returns the index of the first row whose key is not less. */
static uint32_t first_not_below(const uint64_t *heads, struct sp_stored_row *const *rows,
                                uint32_t count, uint64_t head, struct sp_view key)
{
    uint32_t low = heads_below(heads, count, head), high = low;
    while (high < count && heads[high] == head)
        high++;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (compare(rows[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- looking up ---- */

static uint32_t kid_of(const struct inner *n, uint64_t head, struct sp_view key)
{
    sp_prefetch_bytes(n->heads, n->count * sizeof *n->heads);
    uint32_t bounds = n->count - 1;
    uint32_t i = first_not_below(n->heads, n->bounds, bounds, head, key);
    return i < bounds && n->heads[i] == head && sp_view_eq(n->bounds[i]->key, key) ? i + 1 : i;
}

static struct path path_to(const struct sp_rows *rows, uint64_t head, struct sp_view key)
{
    struct path path;
    void *node = rows->root;
    for (uint32_t level = 0; level < rows->height; level++) {
        path.nodes[level] = node;
        path.kids[level] = kid_of(node, head, key);
        node = path.nodes[level]->kids[path.kids[level]];
    }
    path.leaf = node;
    if (path.leaf)
        sp_prefetch_bytes(path.leaf->heads, sizeof path.leaf->heads);
    return path;
}

static uint32_t place_in(const struct sp_rows_leaf *leaf, uint64_t head, struct sp_view key)
{
    return first_not_below(leaf->heads, leaf->rows, leaf->count, head, key);
}

static bool has_at(const struct sp_rows_leaf *leaf, uint32_t at, uint64_t head, struct sp_view key)
{
    return at < leaf->count && leaf->heads[at] == head && sp_view_eq(leaf->rows[at]->key, key);
}

struct sp_rows_place sp_rows_first(const struct sp_rows *rows)
{
    const void *node = rows->root;
    for (uint32_t level = 0; level < rows->height; level++)
        node = ((const struct inner *)node)->kids[0];
    return (struct sp_rows_place){node, 0};
}

struct sp_rows_place sp_rows_seek(const struct sp_rows *rows, struct sp_view key)
{
    uint64_t head = head_of(key);
    const struct sp_rows_leaf *leaf = path_to(rows, head, key).leaf;
    return (struct sp_rows_place){leaf, leaf ? place_in(leaf, head, key) : 0};
}

struct sp_stored_row *sp_rows_next(struct sp_rows_place *place)
{
    while (place->leaf && place->at == place->leaf->count)
        *place = (struct sp_rows_place){place->leaf->after, 0};
    return place->leaf ? place->leaf->rows[place->at++] : NULL;
}

struct sp_stored_row *sp_rows_find(const struct sp_rows *rows, struct sp_view key)
{
    uint64_t head = head_of(key);
    const struct sp_rows_leaf *leaf = path_to(rows, head, key).leaf;
    if (!leaf)
        return NULL;
    uint32_t at = place_in(leaf, head, key);
    return has_at(leaf, at, head, key) ? leaf->rows[at] : NULL;
}

/* ---- inner nodes ---- */

static void move_up(uint64_t *heads, void *entries, uint32_t from, uint32_t end)
{
    memmove(heads + from + 1, heads + from, (end - from) * sizeof *heads);
    void **all = entries;
    memmove(all + from + 1, all + from, (end - from) * sizeof *all);
}

static void move_down(uint64_t *heads, void *entries, uint32_t to, uint32_t end)
{
    memmove(heads + to, heads + to + 1, (end - to - 1) * sizeof *heads);
    void **all = entries;
    memmove(all + to, all + to + 1, (end - to - 1) * sizeof *all);
}

/* Inserts `kid` as kids[at + 1] of a node that is not full. */
static void insert_kid(struct inner *n, uint32_t at, struct sp_stored_row *bound, void *kid)
{
    move_up(n->heads, n->bounds, at, n->count - 1);
    n->heads[at] = head_of(bound->key);
    n->bounds[at] = bound;
    memmove(n->kids + at + 2, n->kids + at + 1, (n->count - at - 1) * sizeof *n->kids);
    n->kids[at + 1] = kid;
    n->count++;
}

/* Splits a full node; returns its upper half, which begins at *ret_bound. If keys arrive in order,
 * `at` is the last place, and the lower node stays full. */
static struct inner *split_inner(struct inner *low, uint32_t at, struct sp_stored_row **ret_bound)
{
    uint32_t kept = at + 1 == INNER_KIDS ? INNER_KIDS - 1 : INNER_KIDS / 2;
    struct inner *high = sp_calloc(1, sizeof *high);
    high->count = low->count - kept;
    low->count = kept;
    *ret_bound = low->bounds[kept - 1];
    memcpy(high->kids, low->kids + kept, high->count * sizeof *high->kids);
    memcpy(high->heads, low->heads + kept, (high->count - 1) * sizeof *high->heads);
    memcpy(high->bounds, low->bounds + kept, (high->count - 1) * sizeof(void *));
    return high;
}

/* Inserts a new node of that level after the path's. Takes ownership of `bound`. */
static void hang(struct sp_rows *rows, struct path *path, uint32_t level,
                 struct sp_stored_row *bound, void *kid)
{
    while (level > 0) {
        struct inner *n = path->nodes[--level];
        uint32_t at = path->kids[level];
        if (n->count < INNER_KIDS) {
            insert_kid(n, at, bound, kid);
            return;
        }
        struct sp_stored_row *middle;
        struct inner *high = split_inner(n, at, &middle);
        if (at < n->count)
            insert_kid(n, at, bound, kid);
        else
            insert_kid(high, at - n->count, bound, kid);
        bound = middle;
        kid = high;
    }
    SP_ASSERT(rows->height + 1 < MOST_LEVELS);
    struct inner *root = sp_calloc(1, sizeof *root);
    root->kids[0] = rows->root;
    root->count = 1;
    insert_kid(root, 0, bound, kid);
    rows->root = root;
    rows->height++;
}

/* Removes kids[at] from the path's node of that level, with the bound before it; if it is the
 * first, with the bound after it. */
static void unhang(struct sp_rows *rows, struct path *path, uint32_t level, uint32_t at)
{
    struct inner *n = path->nodes[level];
    if (n->count == 1) {
        sp_free(n);
        if (level == 0)
            *rows = (struct sp_rows){0};
        else
            unhang(rows, path, level - 1, path->kids[level - 1]);
        return;
    }
    uint32_t bound = at ? at - 1 : 0;
    sp_free(n->bounds[bound]);
    move_down(n->heads, n->bounds, bound, n->count - 1);
    memmove(n->kids + at, n->kids + at + 1, (n->count - at - 1) * sizeof *n->kids);
    n->count--;
    while (rows->height && ((struct inner *)rows->root)->count == 1) {
        struct inner *root = rows->root;
        rows->root = root->kids[0];
        rows->height--;
        sp_free(root);
    }
}

/* ---- leaves ---- */

static struct sp_rows_leaf *new_leaf(struct sp_rows *rows, struct sp_rows_leaf *before)
{
    struct sp_rows_leaf *leaf = sp_alloc(sizeof *leaf);
    leaf->count = 0;
    leaf->before = before;
    leaf->after = before ? before->after : NULL;
    if (leaf->after)
        leaf->after->before = leaf;
    if (before)
        before->after = leaf;
    rows->leaves++;
    return leaf;
}

static void free_leaf(struct sp_rows *rows, struct sp_rows_leaf *leaf)
{
    if (leaf->before)
        leaf->before->after = leaf->after;
    if (leaf->after)
        leaf->after->before = leaf->before;
    rows->leaves--;
    sp_free(leaf);
}

/* Appends the other leaf's rows from `at` on. */
static void append_rows(struct sp_rows_leaf *to, const struct sp_rows_leaf *from, uint32_t at)
{
    uint32_t count = from->count - at;
    memcpy(to->heads + to->count, from->heads + at, count * sizeof *to->heads);
    memcpy(to->rows + to->count, from->rows + at, count * sizeof(void *));
    to->count += count;
}

static void insert_row(struct sp_rows_leaf *leaf, uint32_t at, struct sp_stored_row *row)
{
    move_up(leaf->heads, leaf->rows, at, leaf->count);
    leaf->heads[at] = head_of(row->key);
    leaf->rows[at] = row;
    leaf->count++;
}

/* Splits a full leaf and inserts the row; if rows arrive in order, the first leaf stays full. */
static void split_and_insert(struct sp_rows *rows, struct path *path, uint32_t at,
                             struct sp_stored_row *row)
{
    struct sp_rows_leaf *low = path->leaf, *high = new_leaf(rows, low);
    if (at == LEAF_ROWS && !high->after) {
        insert_row(high, 0, row);
    } else {
        append_rows(high, low, LEAF_ROWS / 2);
        low->count = LEAF_ROWS / 2;
        if (at <= low->count)
            insert_row(low, at, row);
        else
            insert_row(high, at - low->count, row);
    }
    hang(rows, path, rows->height, sp_stored_row_new(high->rows[0]->key, sp_view(NULL, 0), false),
         high);
}

void sp_rows_put(struct sp_rows *rows, struct sp_stored_row *row)
{
    uint64_t head = head_of(row->key);
    if (!rows->root)
        rows->root = new_leaf(rows, NULL);
    struct path path = path_to(rows, head, row->key);
    struct sp_rows_leaf *leaf = path.leaf;
    uint32_t at = place_in(leaf, head, row->key);
    rows->bytes += row_bytes(row);
    if (has_at(leaf, at, head, row->key)) {
        rows->bytes -= row_bytes(leaf->rows[at]);
        sp_free(leaf->rows[at]);
        leaf->rows[at] = row;
        return;
    }
    rows->count++;
    if (leaf->count < LEAF_ROWS)
        insert_row(leaf, at, row);
    else
        split_and_insert(rows, &path, at, row);
}

/* After a removal: frees an empty leaf; merges a leaf of few rows with its right neighbour. */
static void tidy(struct sp_rows *rows, struct path *path)
{
    if (!rows->height)
        return;
    uint32_t level = rows->height - 1, at = path->kids[level];
    struct sp_rows_leaf *leaf = path->leaf;
    if (!leaf->count) {
        free_leaf(rows, leaf);
        unhang(rows, path, level, at);
    } else if (leaf->count <= LEAF_ROWS / 4 && at + 1 < path->nodes[level]->count &&
               leaf->count + leaf->after->count <= MERGED_ROWS) {
        append_rows(leaf, leaf->after, 0);
        free_leaf(rows, leaf->after);
        unhang(rows, path, level, at + 1);
    }
}

void sp_rows_erase(struct sp_rows *rows, struct sp_view key)
{
    uint64_t head = head_of(key);
    struct path path = path_to(rows, head, key);
    struct sp_rows_leaf *leaf = path.leaf;
    uint32_t at = leaf ? place_in(leaf, head, key) : 0;
    if (!leaf || !has_at(leaf, at, head, key))
        return;
    rows->count--;
    rows->bytes -= row_bytes(leaf->rows[at]);
    sp_free(leaf->rows[at]);
    move_down(leaf->heads, leaf->rows, at, leaf->count);
    leaf->count--;
    tidy(rows, &path);
}

/* ---- the end ---- */

static void free_inner(struct inner *n, uint32_t height)
{
    for (uint32_t i = 0; i < n->count; i++) {
        if (height > 1)
            free_inner(n->kids[i], height - 1);
        if (i)
            sp_free(n->bounds[i - 1]);
    }
    sp_free(n);
}

void sp_rows_let_go(struct sp_rows *rows)
{
    for (struct sp_rows_leaf *leaf = (void *)sp_rows_first(rows).leaf, *after; leaf; leaf = after) {
        after = leaf->after;
        sp_free(leaf);
    }
    if (rows->height)
        free_inner(rows->root, rows->height);
    *rows = (struct sp_rows){0};
}

void sp_rows_clear(struct sp_rows *rows)
{
    struct sp_rows_place place = sp_rows_first(rows);
    for (struct sp_stored_row *row; (row = sp_rows_next(&place));)
        sp_free(row);
    sp_rows_let_go(rows);
}

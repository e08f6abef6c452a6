/* The memory store: two skip lists (Pugh, "Skip lists: a probabilistic alternative to
 * balanced trees", CACM 1990), one of committed rows and one of the open batch.
 *
 * A node's height comes from the hash of its key and not from a random generator, so the
 * structure is a pure function of the keys it holds and every run of a simulation repeats
 * exactly. Commit moves the batch's nodes over.
 *
 * Invariants: keys ascend at every level; a row's value never changes, it is replaced, so
 * views hold until the next commit. Fails only where sp_db_fail_after asks for it. */
#include <stdio.h>

#include "base/assert.h"
#include "base/hash.h"
#include "store/impl.h"

/* A quarter of the nodes reach the next level: 16 levels serve 4^16 rows. */
#define LEVELS 16

struct node {
    struct sp_view key;
    struct sp_view value;
    bool deleted; /* in the batch: a deletion */
    int height;
    struct node *next[]; /* `height` of them, then the bytes of key and value */
};

struct list {
    struct node *head[LEVELS];
    size_t bytes;
};

struct memory_db {
    struct sp_db db;
    struct list rows;
    struct list batch;
    long calls_left; /* -1: never fail */
};

static int compare(struct sp_view a, struct sp_view b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    if (order)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

/* The first node with a key >= key; `links` receives, for each level, the pointer that an
 * insertion before it has to change. */
static struct node *seek(struct list *list, struct sp_view key, struct node **links[LEVELS])
{
    struct node **at = list->head;
    struct node *not_less = NULL;
    for (int level = LEVELS - 1; level >= 0; level--) {
        /* A node already found not to be less need not be compared again a level below. */
        while (at[level] && at[level] != not_less && compare(at[level]->key, key) < 0)
            at = at[level]->next;
        not_less = at[level];
        if (links)
            links[level] = &at[level];
    }
    return not_less;
}

static struct node *find(struct list *list, struct sp_view key)
{
    struct node *n = seek(list, key, NULL);
    return n && sp_view_eq(n->key, key) ? n : NULL;
}

static size_t node_bytes(const struct node *n)
{
    return sizeof *n + (size_t)n->height * sizeof(struct node *) + n->key.len + n->value.len;
}

static struct node *node_new(struct sp_view key, struct sp_view value, bool deleted)
{
    uint64_t hash = sp_hash64(key.data, key.len);
    int height = 1;
    while (height < LEVELS && (hash & 3) == 0) {
        height++;
        hash >>= 2;
    }
    size_t links = (size_t)height * sizeof(struct node *);
    struct node *n = sp_alloc(sizeof *n + links + key.len + value.len);
    char *bytes = (char *)n + sizeof *n + links;
    if (key.len)
        memcpy(bytes, key.data, key.len);
    if (value.len)
        memcpy(bytes + key.len, value.data, value.len);
    n->key = sp_view(bytes, key.len);
    n->value = sp_view(bytes + key.len, value.len);
    n->deleted = deleted;
    n->height = height;
    return n;
}

static void erase_node(struct list *list, struct sp_view key)
{
    struct node **links[LEVELS];
    struct node *n = seek(list, key, links);
    if (!n || !sp_view_eq(n->key, key))
        return;
    for (int level = 0; level < n->height; level++)
        *links[level] = n->next[level];
    list->bytes -= node_bytes(n);
    sp_free(n);
}

/* Takes ownership of n; replaces a node of the same key. */
static void insert_node(struct list *list, struct node *n)
{
    struct node **links[LEVELS];
    struct node *old = seek(list, n->key, links);
    bool replace = old && sp_view_eq(old->key, n->key);
    /* Equal keys have equal heights, so that a replacement takes over exactly these links. */
    for (int level = 0; level < n->height; level++) {
        n->next[level] = replace ? old->next[level] : *links[level];
        *links[level] = n;
    }
    list->bytes += node_bytes(n);
    if (replace) {
        list->bytes -= node_bytes(old);
        sp_free(old);
    }
}

static void clear(struct list *list)
{
    for (struct node *n = list->head[0], *next; n; n = next) {
        next = n->next[0];
        sp_free(n);
    }
    *list = (struct list){0};
}

static struct memory_db *memory(struct sp_db *db)
{
    return (struct memory_db *)db;
}

static bool fails(struct memory_db *m)
{
    if (m->calls_left > 0) {
        m->calls_left--;
        return false;
    }
    if (m->calls_left < 0)
        return false;
    snprintf(m->db.message, sizeof m->db.message, "failed as sp_db_fail_after asked for");
    return true;
}

static enum sp_err memory_get(struct sp_db *db, struct sp_view key, struct sp_view *ret_value)
{
    struct memory_db *m = memory(db);
    SP_ASSERT(!find(&m->batch, key));
    if (fails(m))
        return SP_STORE;
    struct node *n = find(&m->rows, key);
    if (!n)
        return SP_NOT_FOUND;
    *ret_value = n->value;
    return SP_OK;
}

static void memory_put(struct sp_db *db, struct sp_view key, struct sp_view value)
{
    insert_node(&memory(db)->batch, node_new(key, value, false));
}

static void memory_erase(struct sp_db *db, struct sp_view key)
{
    insert_node(&memory(db)->batch, node_new(key, sp_view(NULL, 0), true));
}

static enum sp_err memory_scan(struct sp_db *db, struct sp_view prefix, struct sp_view from,
                               bool (*each)(void *arg, struct sp_view key, struct sp_view value),
                               void *arg)
{
    struct memory_db *m = memory(db);
    if (fails(m))
        return SP_STORE;
    for (struct node *n = seek(&m->rows, from, NULL); n; n = n->next[0]) {
        if (n->key.len < prefix.len || memcmp(n->key.data, prefix.data, prefix.len) != 0)
            break;
        if (!each(arg, n->key, n->value))
            break;
    }
    return SP_OK;
}

static enum sp_err memory_commit(struct sp_db *db)
{
    struct memory_db *m = memory(db);
    if (!m->batch.head[0])
        return SP_OK;
    if (fails(m)) {
        clear(&m->batch);
        return SP_STORE;
    }
    for (struct node *n = m->batch.head[0], *next; n; n = next) {
        next = n->next[0];
        if (n->deleted) {
            erase_node(&m->rows, n->key);
            sp_free(n);
        } else {
            insert_node(&m->rows, n);
        }
    }
    m->batch = (struct list){0};
    return SP_OK;
}

static void memory_discard(struct sp_db *db)
{
    clear(&memory(db)->batch);
}

static void memory_each_write(struct sp_db *db,
                              void (*each)(void *arg, struct sp_view key, struct sp_view value,
                                           bool deleted),
                              void *arg)
{
    for (struct node *n = memory(db)->batch.head[0]; n; n = n->next[0])
        each(arg, n->key, n->value, n->deleted);
}

static void memory_size(struct sp_db *db, uint64_t *ret_disk_bytes, uint64_t *ret_memory_bytes)
{
    *ret_disk_bytes = 0;
    *ret_memory_bytes = memory(db)->rows.bytes + memory(db)->batch.bytes;
}

static void memory_fail_after(struct sp_db *db, long calls)
{
    memory(db)->calls_left = calls;
}

static void memory_close(struct sp_db *db)
{
    clear(&memory(db)->rows);
    clear(&memory(db)->batch);
}

static const struct sp_db_ops memory_ops = {
    .get = memory_get,
    .put = memory_put,
    .erase = memory_erase,
    .scan = memory_scan,
    .commit = memory_commit,
    .discard = memory_discard,
    .each_write = memory_each_write,
    .size = memory_size,
    .fail_after = memory_fail_after,
    .close = memory_close,
};

struct sp_db *sp_db_open_memory(void)
{
    struct memory_db *m = sp_calloc(1, sizeof *m);
    m->db.ops = &memory_ops;
    m->calls_left = -1;
    return &m->db;
}

struct sp_db *sp_db_copy_memory(const struct sp_db *db)
{
    SP_ASSERT(db->ops == &memory_ops);
    const struct memory_db *from = (const struct memory_db *)db;
    struct sp_db *copy = sp_db_open_memory();
    struct list *rows = &memory(copy)->rows;
    /* Keys arrive in order: append behind the last node of each level. */
    struct node **tail[LEVELS];
    for (int level = 0; level < LEVELS; level++)
        tail[level] = &rows->head[level];
    for (const struct node *n = from->rows.head[0]; n; n = n->next[0]) {
        struct node *c = node_new(n->key, n->value, false);
        for (int level = 0; level < c->height; level++) {
            c->next[level] = NULL;
            *tail[level] = c;
            tail[level] = &c->next[level];
        }
        rows->bytes += node_bytes(c);
    }
    return copy;
}

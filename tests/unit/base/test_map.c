/* The hash table against a plain list, and the LRU ring. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "harness.h"

enum { OBJECTS = 3000 };

struct object {
    struct sp_id id; /* the table's key; must come first */
    bool there;
    struct sp_lru node;
    int number;
};

/* `kind` of keys: 0 random, 1 equal low bits, 2 consecutive, 3 equal except for `hi`. */
static struct object *make_objects(int kind)
{
    struct object *o = sp_calloc(OBJECTS, sizeof *o);
    for (uint64_t i = 0; i < OBJECTS; i++) {
        o[i].number = (int)i;
        o[i].id = kind == 0   ? (struct sp_id){sp_mix64(i), sp_mix64(i + OBJECTS)}
                  : kind == 1 ? (struct sp_id){i << 40, i << 40 | 5}
                  : kind == 2 ? (struct sp_id){0, i}
                              : (struct sp_id){i, 7};
    }
    return o;
}

static size_t check_all(const struct sp_map *map, struct object *o)
{
    size_t count = 0, wrong = 0, found = 0;
    for (int i = 0; i < OBJECTS; i++) {
        wrong += sp_map_get(map, o[i].id) != (o[i].there ? &o[i] : NULL);
        count += o[i].there;
    }
    uint64_t cursor = 0;
    for (const struct object *one; (one = sp_map_next(map, &cursor)); found++)
        wrong += !one->there;
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(map->count, count);
    CU_ASSERT_EQUAL(found, count); /* each exactly once */
    return count;
}

TEST(a_map_holds_what_a_list_holds)
{
    for (int kind = 0; kind < 4; kind++) {
        struct object *o = make_objects(kind);
        struct sp_map map = {0};
        uint64_t random = (uint64_t)kind;
        size_t most = 0;
        CU_ASSERT_PTR_NULL(sp_map_get(&map, o[0].id));
        CU_ASSERT_PTR_NULL(sp_map_remove(&map, o[0].id));
        for (int step = 0; step < 40000; step++) {
            random = sp_mix64(random + 1);
            /* The table grows, shrinks to empty, and grows again. */
            bool add = random >> 60 < (step / 10000 % 2 ? 3 : 12);
            struct object *one = &o[(random >> 8) % OBJECTS];
            if (add && !one->there) {
                sp_map_add(&map, one);
                one->there = true;
            } else if (!add) {
                CU_ASSERT_PTR_EQUAL(sp_map_remove(&map, one->id), one->there ? one : NULL);
                one->there = false;
            }
            if (step % 2000 == 1999) {
                size_t count = check_all(&map, o);
                most = count > most ? count : most;
            }
        }
        CU_ASSERT(most > OBJECTS / 2);
        for (int i = 0; i < OBJECTS; i++)
            CU_ASSERT_PTR_EQUAL(sp_map_remove(&map, o[i].id), o[i].there ? &o[i] : NULL);
        CU_ASSERT_EQUAL(map.count, 0);
        for (int i = 0; i < OBJECTS; i++)
            CU_ASSERT_PTR_NULL(sp_map_get(&map, o[i].id));
        sp_map_done(&map);
        CU_ASSERT_EQUAL(map.count, 0);
        sp_free(o);
    }
}

/* The cells of the largest table: when it grew last, that many were read and written at once. */
static size_t largest_table(const struct sp_map *map)
{
    size_t largest = map->small.cap;
    for (uint32_t i = 0; map->tables && i < SP_MAP_TABLES; i++)
        largest = map->tables[i].cap > largest ? map->tables[i].cap : largest;
    return largest;
}

static void try_large_map(size_t count)
{
    struct object *o = sp_calloc(count, sizeof *o);
    struct sp_map map = {0};
    size_t wrong = 0, found = 0;
    for (uint64_t i = 0; i < count; i++) {
        o[i].id = (struct sp_id){sp_mix64(i), sp_mix64(i + count)};
        o[i].number = (int)i;
        sp_map_add(&map, &o[i]);
        wrong += sp_map_get(&map, o[i / 2].id) != &o[i / 2];
    }
    size_t most = count / 16 > 1 << 15 ? count / 16 : 1 << 15;
    CU_ASSERT(largest_table(&map) <= most);
    for (size_t i = 0; i < count; i += 2)
        wrong += sp_map_remove(&map, o[i].id) != &o[i] || sp_map_guess(&map, o[i].id) == &o[i];
    for (size_t i = 0; i < count; i++)
        wrong += sp_map_get(&map, o[i].id) != (i % 2 ? &o[i] : NULL);
    uint64_t cursor = 0;
    for (const struct object *one; (one = sp_map_next(&map, &cursor)); found++)
        wrong += one->number % 2 == 0;
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(found, count / 2);
    CU_ASSERT_EQUAL(map.count, count / 2);
    sp_map_done(&map);
    sp_free(o);
}

TEST(a_large_map_grows_in_small_parts)
{
    try_large_map(100000);
    try_large_map(400000);
}

TEST(a_map_that_is_done_can_be_used_again)
{
    struct object o = {.id = {1, 2}};
    struct sp_map map = {0};
    for (int i = 0; i < 3; i++) {
        sp_map_add(&map, &o);
        CU_ASSERT_PTR_EQUAL(sp_map_get(&map, o.id), &o);
        sp_map_done(&map);
        CU_ASSERT_PTR_NULL(sp_map_get(&map, o.id));
    }
}

static int freed;

static void free_numbered(void *object)
{
    freed += ((struct object *)object)->number;
    sp_free(object);
}

TEST(a_map_frees_its_objects)
{
    for (int by = 0; by < 2; by++) {
        struct sp_map map = {0};
        sp_map_free_objects(&map);
        for (int i = 1; i <= 100; i++) {
            struct object *o = sp_calloc(1, sizeof *o);
            o->id = (struct sp_id){0, (uint64_t)i};
            o->number = i;
            sp_map_add(&map, o);
        }
        if (by)
            sp_map_free_objects_by(&map, free_numbered);
        else
            sp_map_free_objects(&map);
        CU_ASSERT_EQUAL(freed, by ? 5050 : 0);
        uint64_t cursor = 0;
        CU_ASSERT(map.count == 0 && !sp_map_next(&map, &cursor));
    }
}

/* Checks the ring against an array, in both directions, most recently used first. */
static void check_ring(struct sp_lru *head, const int *order, int count)
{
    struct sp_lru *node = head->next;
    for (int i = 0; i < count; i++, node = node->next) {
        CU_ASSERT_EQUAL(SP_LRU_OBJECT(node, struct object, node)->number, order[i]);
        CU_ASSERT_PTR_EQUAL(node->prev->next, node);
        CU_ASSERT_PTR_EQUAL(node->next->prev, node);
    }
    CU_ASSERT_PTR_EQUAL(node, head);
}

TEST(the_ring_keeps_the_order_of_use)
{
    enum { NODES = 12 };
    static struct object o[NODES];
    int order[NODES], count = 0;
    struct sp_lru head;
    uint64_t random = 3;
    sp_lru_init(&head);
    check_ring(&head, order, 0);
    for (int i = 0; i < NODES; i++)
        o[i].number = i;
    for (int step = 0; step < 3000; step++) {
        random = sp_mix64(random + 1);
        int n = (int)((random >> 8) % NODES), at = 0;
        while (at < count && order[at] != n)
            at++;
        bool there = at < count, drop = there && random >> 62 == 0;
        if (drop)
            sp_lru_remove(&o[n].node);
        else if (there)
            sp_lru_touch(&head, &o[n].node);
        else
            sp_lru_push(&head, &o[n].node);
        for (int i = there ? at : count; i > 0 && !drop; i--)
            order[i] = order[i - 1];
        for (int i = at; i + 1 < count && drop; i++)
            order[i] = order[i + 1];
        count += drop ? -1 : !there;
        if (!drop)
            order[0] = n;
        check_ring(&head, order, count);
    }
}

/* The inputs of an archive's state, by id: found again, in their order, before and after the state
 * is saved. */
#include "archive/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

enum { INPUTS = 5000 };

static struct sp_id id_of(uint64_t number)
{
    return sp_hash128(&number, sizeof number);
}

/* Returns how many cells of the map are read to find each input once. */
static uint64_t cells_read(const struct sp_archive_state *state)
{
    const struct sp_map *map = &state->inputs_by_id;
    uint64_t read = 0;
    for (size_t at = 0; at < map->cap; at++)
        if (map->cells[at].object)
            read += ((at - map->cells[at].lo) & (map->cap - 1)) + 1;
    return read;
}

TEST(an_input_is_found_as_fast_among_four_times_as_many)
{
    struct sp_archive_state state = {0};
    for (uint64_t n = 1000, i = 0; n <= 64000; n *= 4) {
        for (; i < n; i++)
            sp_archive_state_input(&state, id_of(i), "name");
        CU_ASSERT_EQUAL(state.input_count, n);
        printf("%llu cells read for %llu inputs\n", (unsigned long long)cells_read(&state),
               (unsigned long long)n);
        CU_ASSERT(cells_read(&state) >= n && cells_read(&state) <= 3 * n);
    }
    sp_archive_state_done(&state);
}

/* Each is one object, wherever the list of them has moved since. */
TEST(an_input_is_found_again_among_thousands)
{
    struct sp_archive_state state = {0};
    struct sp_archive_input *inputs[INPUTS];
    for (uint64_t i = 0; i < INPUTS; i++) {
        inputs[i] = sp_archive_state_input(&state, id_of(i), "name");
        inputs[i]->records = i;
    }
    CU_ASSERT_EQUAL(state.input_count, INPUTS);
    CU_ASSERT_EQUAL(state.inputs_by_id.count, INPUTS);
    for (uint64_t i = 0; i < INPUTS; i++) {
        CU_ASSERT_PTR_EQUAL(sp_archive_state_input(&state, id_of(i), "another name"), inputs[i]);
        CU_ASSERT_EQUAL(inputs[i]->records, i);
        CU_ASSERT_STRING_EQUAL(inputs[i]->name, "name");
    }
    CU_ASSERT_EQUAL(state.input_count, INPUTS);
    sp_archive_state_done(&state);
}

TEST(a_saved_state_has_its_inputs_in_the_same_order)
{
    char dir[] = "/tmp/samepage-state-XXXXXX", path[64], name[32];
    struct sp_archive_state saved = {0}, loaded;
    struct sp_fault fault;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    for (uint64_t i = 0; i < INPUTS; i++) {
        snprintf(name, sizeof name, i % 2 ? "a%u\nb" : "%u", (unsigned)i);
        sp_archive_state_input(&saved, id_of(i), name)->records = 2 * i;
    }
    CU_ASSERT_EQUAL(sp_archive_state_save(dir, &saved, &fault), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_archive_state_load(dir, &loaded, &fault), SP_OK);
    CU_ASSERT_EQUAL_FATAL(loaded.input_count, INPUTS);
    for (uint64_t i = 0; i < INPUTS; i++) {
        snprintf(name, sizeof name, i % 2 ? "a%u?b" : "%u", (unsigned)i);
        CU_ASSERT(sp_id_eq(loaded.inputs[i]->id, id_of(i)));
        CU_ASSERT_EQUAL(loaded.inputs[i]->records, 2 * i);
        CU_ASSERT_STRING_EQUAL(loaded.inputs[i]->name, name);
        CU_ASSERT_PTR_EQUAL(sp_archive_state_input(&loaded, id_of(i), ""), loaded.inputs[i]);
    }
    sp_archive_state_done(&saved);
    sp_archive_state_done(&loaded);
    snprintf(path, sizeof path, "%s/state", dir);
    unlink(path);
    rmdir(dir);
}

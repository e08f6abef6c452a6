/* The inputs of an archive's state, by id: found again, before and after the state is saved, and at
 * the same cost however many they are. */
#include "archive/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

enum { INPUTS = 5000 };

static struct sp_id id_of(uint64_t number)
{
    return sp_hash128(&number, sizeof number);
}

static uint64_t cells_read_in(const struct sp_map_table *table)
{
    uint64_t read = 0;
    for (size_t at = 0; at < table->cap; at++)
        if (table->cells[at].object)
            read += ((at - table->cells[at].lo) & (table->cap - 1)) + 1;
    return read;
}

/* Returns how many cells of the map are read to find each input once. */
static uint64_t cells_read(const struct sp_archive_state *state)
{
    const struct sp_map *map = &state->inputs;
    uint64_t read = cells_read_in(&map->small);
    for (uint32_t i = 0; map->tables && i < SP_MAP_TABLES; i++)
        read += cells_read_in(&map->tables[i]);
    return read;
}

TEST(an_input_is_found_as_fast_among_four_times_as_many)
{
    struct sp_archive_state state = {0};
    for (uint64_t n = 1000, i = 0; n <= 64000; n *= 4) {
        for (; i < n; i++)
            sp_archive_state_input(&state, id_of(i));
        CU_ASSERT_EQUAL(state.inputs.count, n);
        printf("%llu cells read for %llu inputs\n", (unsigned long long)cells_read(&state),
               (unsigned long long)n);
        CU_ASSERT(cells_read(&state) >= n && cells_read(&state) <= 3 * n);
    }
    sp_archive_state_done(&state);
}

TEST(an_input_is_found_again_among_thousands)
{
    struct sp_archive_state state = {0};
    struct sp_archive_input *inputs[INPUTS];
    for (uint64_t i = 0; i < INPUTS; i++) {
        inputs[i] = sp_archive_state_input(&state, id_of(i));
        inputs[i]->records = i;
    }
    CU_ASSERT_EQUAL(state.inputs.count, INPUTS);
    for (uint64_t i = 0; i < INPUTS; i++) {
        CU_ASSERT_PTR_EQUAL(sp_archive_state_input(&state, id_of(i)), inputs[i]);
        CU_ASSERT_EQUAL(inputs[i]->records, i);
    }
    CU_ASSERT_EQUAL(state.inputs.count, INPUTS);
    sp_archive_state_done(&state);
}

/* ---- on the disk ---- */

struct disk {
    char dir[40];
    struct sp_buf log;   /* the content of inputs.log */
    uint64_t last_bytes; /* written by the last commit */
};

static void open_disk(struct disk *d)
{
    *d = (struct disk){.dir = "/tmp/samepage-state-XXXXXX"};
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(d->dir));
}

static void path_of(const struct disk *d, char path[64])
{
    snprintf(path, 64, "%s/state", d->dir);
}

static void close_disk(struct disk *d)
{
    char path[64];
    path_of(d, path);
    unlink(path);
    rmdir(d->dir);
    sp_buf_done(&d->log);
}

/* What write.c does. */
static void commit(struct disk *d, struct sp_archive_state *state)
{
    struct sp_fault fault;
    struct stat st;
    char path[64];
    path_of(d, path);
    d->last_bytes = state->input_log.len;
    sp_buf_put_view(&d->log, sp_buf_view(&state->input_log));
    sp_buf_reset(&state->input_log);
    state->input_bytes = d->log.len;
    CU_ASSERT_EQUAL_FATAL(sp_archive_state_save(d->dir, state, &fault), SP_OK);
    CU_ASSERT_EQUAL_FATAL(stat(path, &st), 0);
    d->last_bytes += (uint64_t)st.st_size;
}

static void load(const struct disk *d, struct sp_archive_state *ret_state)
{
    struct sp_fault fault;
    CU_ASSERT_EQUAL_FATAL(sp_archive_state_load(d->dir, ret_state, &fault), SP_OK);
    struct sp_view log = sp_view(d->log.data, (size_t)ret_state->input_bytes);
    CU_ASSERT_EQUAL_FATAL(sp_archive_state_load_inputs(ret_state, log), SP_OK);
}

static void read_some(struct sp_archive_state *state, uint64_t number, uint64_t records)
{
    char name[32];
    snprintf(name, sizeof name, number % 2 ? "a%u\nb" : "%u", (unsigned)number);
    sp_archive_state_read(state, sp_archive_state_input(state, id_of(number)), name, records);
}

static uint64_t records_of(struct sp_archive_state *state, uint64_t number)
{
    return sp_archive_state_input(state, id_of(number))->records;
}

TEST(a_loaded_state_has_all_inputs_and_goes_on_with_the_one_that_was_being_read)
{
    struct disk d;
    struct sp_archive_state state = {0}, loaded;
    open_disk(&d);
    for (uint64_t i = 0; i < INPUTS; i++)
        read_some(&state, i, 2 * i);
    read_some(&state, 0, 1); /* has grown */
    commit(&d, &state);
    load(&d, &loaded);
    CU_ASSERT_EQUAL(loaded.inputs.count, INPUTS);
    CU_ASSERT_EQUAL(records_of(&loaded, 0), 1);
    for (uint64_t i = 1; i < INPUTS; i++)
        CU_ASSERT_EQUAL(records_of(&loaded, i), 2 * i);
    CU_ASSERT_PTR_EQUAL(loaded.reading, sp_archive_state_input(&loaded, id_of(0)));

    /* The log is that of a state that was not loaded again in between. */
    struct sp_archive_state *both[] = {&state, &loaded};
    struct sp_buf log[2] = {{0}, {0}};
    for (size_t i = 0; i < 2; i++) {
        read_some(both[i], 0, 7);
        read_some(both[i], INPUTS, 3);
        sp_archive_state_leave(both[i]);
        sp_archive_state_leave(both[i]);
        sp_buf_put_view(&log[i], sp_buf_view(&both[i]->input_log));
    }
    CU_ASSERT(log[0].len > 0 && sp_view_eq(sp_buf_view(&log[0]), sp_buf_view(&log[1])));
    commit(&d, &loaded);
    sp_archive_state_done(&loaded);
    load(&d, &loaded);
    CU_ASSERT_EQUAL(records_of(&loaded, 0), 7);
    CU_ASSERT_EQUAL(records_of(&loaded, INPUTS), 3);
    CU_ASSERT_PTR_NULL(loaded.reading);
    sp_buf_done(&log[0]);
    sp_buf_done(&log[1]);
    sp_archive_state_done(&state);
    sp_archive_state_done(&loaded);
    close_disk(&d);
}

/* What the commit writes in which the last of so many inputs is begun. */
static uint64_t bytes_of_a_commit(uint64_t inputs)
{
    struct disk d;
    struct sp_archive_state state = {0};
    open_disk(&d);
    for (uint64_t i = 0; i + 1 < inputs; i++)
        sp_archive_state_read(&state, sp_archive_state_input(&state, id_of(i)), "name", 1);
    commit(&d, &state);
    sp_archive_state_read(&state, sp_archive_state_input(&state, id_of(inputs)), "name", 1);
    commit(&d, &state);
    printf("    %llu inputs: %llu bytes a commit, %llu bytes in the log\n",
           (unsigned long long)inputs, (unsigned long long)d.last_bytes,
           (unsigned long long)d.log.len);
    sp_archive_state_done(&state);
    close_disk(&d);
    return d.last_bytes;
}

TEST(a_commit_writes_as_many_bytes_with_four_times_as_many_inputs)
{
    enum { DIGITS = 2 }; /* more of them in the length of the log */
    uint64_t few = bytes_of_a_commit(1000), many = bytes_of_a_commit(4000);
    CU_ASSERT(few > 0 && many <= few + DIGITS);
}

TEST(the_inputs_of_a_state_of_version_1_go_to_the_log)
{
    struct disk d;
    struct sp_archive_state state;
    struct sp_id id = {0};
    char path[64];
    open_disk(&d);
    path_of(&d, path);
    FILE *out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fprintf(out, "samepage archive 1\nsegment 3\nknown_bytes 40\n");
    for (unsigned i = 1; i <= 3; i++)
        fprintf(out, "input %032x %u file %u.warc\n", i, 10 * i, i);
    fprintf(out, "end\n");
    fclose(out);
    for (int again = 0; again < 3; again++) {
        load(&d, &state);
        CU_ASSERT_EQUAL(state.segment, 3);
        CU_ASSERT_EQUAL(state.known_bytes, 40);
        CU_ASSERT_EQUAL(state.inputs.count, 3);
        for (id.lo = 1; id.lo <= 3; id.lo++)
            CU_ASSERT_EQUAL(sp_archive_state_input(&state, id)->records, 10 * id.lo);
        if (again == 1)
            sp_archive_state_leave(&state);
        commit(&d, &state);
        sp_archive_state_done(&state);
    }
    const char *line = "input 00000000000000000000000000000003 30 file 3.warc\n";
    CU_ASSERT_EQUAL(d.log.len, 3 * strlen(line));
    CU_ASSERT(memcmp(d.log.data + 2 * strlen(line), line, strlen(line)) == 0);
    close_disk(&d);
}

TEST(a_log_of_inputs_that_is_cut_or_has_other_lines_is_damaged)
{
    static const char *const logs[] = {"input 00000000000000000000000000000003 30 a", "\n", "end\n",
                                       "input 00000000000000000000000000000003\n",
                                       "input 00000000000000000000000000000003 4\n"};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct sp_archive_state state = {0};
        CU_ASSERT_EQUAL(sp_archive_state_load_inputs(&state, sp_view_str(logs[i])), SP_CORRUPT);
        sp_archive_state_done(&state);
    }
}

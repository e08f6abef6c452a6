/* The cells in the census, with one map and with two. */
#include "harness.h"
#include "serve/census.h"

static void note(struct sp_census *census, uint32_t map, uint32_t cell, int pages)
{
    for (int i = 0; i < pages; i++) {
        struct sp_page_view page = {
            .status = SP_STATUS_UNIQUE, .in_cell = true, .cell = map % 16 << 12 | cell};
        sp_census_note(census, &page);
    }
}

/* Checks the part of the census about cells. */
static void check_cells(const struct sp_census *census, const char *wanted)
{
    struct sp_state *state = sp_state_of_statuses(sp_statuses_new());
    struct sp_state_reader *r = sp_state_reader_new(state);
    struct sp_buf json = {0};
    sp_state_begin(r);
    sp_census_put(census, r, &json);
    sp_state_end(r);
    sp_buf_put_u8(&json, 0);
    const char *cells = strstr(json.data, "\"cells\":");
    CU_ASSERT_PTR_NOT_NULL_FATAL(cells);
    if (strncmp(cells, wanted, strlen(wanted)) != 0)
        fprintf(stderr, "%.200s\n", cells);
    CU_ASSERT_EQUAL(strncmp(cells, wanted, strlen(wanted)), 0);
    sp_buf_done(&json);
    sp_state_reader_free(r);
    sp_state_close(state);
}

TEST(cells_are_counted_whatever_the_version_of_their_map)
{
    for (uint32_t version = 0; version < 20; version++) {
        struct sp_census *census = sp_census_new();
        check_cells(census, "\"cells\":[],\"leaving\":0,");
        note(census, version, 0, 3);
        note(census, version, 2, 1);
        check_cells(census, "\"cells\":[3,0,1],\"leaving\":0,");
        sp_census_free(census);
    }
}

TEST(while_pages_move_the_cells_are_those_of_the_new_map)
{
    for (uint32_t version = 0; version < 20; version++) {
        struct sp_census *census = sp_census_new();
        note(census, version, 1, 5);
        note(census, version + 1, 0, 2);
        check_cells(census, "\"cells\":[2],\"leaving\":5,");
        note(census, version + 1, 4095, 1);
        sp_census_free(census);
    }
    sp_census_free(NULL);
}

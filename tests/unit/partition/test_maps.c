/* Two maps at a time: cell numbers, and the map of a number. */
#include "harness.h"
#include "partition/maps.h"

static struct sp_partition_map map_of(uint32_t cells, uint32_t version)
{
    struct sp_partition_map map;
    CU_ASSERT_EQUAL_FATAL(sp_partition_default(cells, &map), SP_OK);
    map.version = version;
    return map;
}

TEST(a_map_follows_the_one_before_it)
{
    struct sp_partition_map a = map_of(3, 5), b = map_of(4, 6), c = map_of(4, 7);
    struct sp_maps maps = {0};
    CU_ASSERT_EQUAL(sp_maps_make(&b, &a, &maps), SP_OK);
    CU_ASSERT_PTR_EQUAL(maps.now, &b);
    CU_ASSERT_PTR_EQUAL(maps.before, &a);
    CU_ASSERT_EQUAL(sp_maps_make(&c, &a, &maps), SP_INVALID);
    CU_ASSERT_EQUAL(sp_maps_make(&a, &b, &maps), SP_INVALID);
    CU_ASSERT_PTR_EQUAL(maps.now, &b);
    CU_ASSERT_EQUAL(sp_maps_make(&c, NULL, &maps), SP_OK);
    sp_partition_done(&a);
    sp_partition_done(&b);
    sp_partition_done(&c);
}

TEST(a_number_says_which_map_it_is_of)
{
    for (uint32_t version = 0; version < 40; version++) {
        struct sp_partition_map before = map_of(3, version), now = map_of(5, version + 1);
        struct sp_maps maps, older = {.now = &before}, newer = {.now = &now};
        struct sp_signature page = {.length = {100, 100, 90}};
        CU_ASSERT_EQUAL(sp_maps_make(&now, &before, &maps), SP_OK);
        uint32_t in = sp_maps_cell(&maps, &page), was = sp_maps_cell(&older, &page);
        CU_ASSERT_NOT_EQUAL(sp_cell_place(in), sp_cell_place(was));
        CU_ASSERT_EQUAL(sp_maps_standing(&maps, in), SP_CELL_PRESENT);
        CU_ASSERT_EQUAL(sp_maps_standing(&maps, was), SP_CELL_LEAVING);
        CU_ASSERT_EQUAL(sp_maps_standing(&newer, was), SP_CELL_PAST);
        CU_ASSERT_EQUAL(sp_maps_standing(&older, in), SP_CELL_AHEAD);
        CU_ASSERT_EQUAL(sp_maps_standing(&older, was + 3), SP_CELL_NONE);
        CU_ASSERT_EQUAL(sp_maps_standing(&older, UINT32_MAX), SP_CELL_NONE);
        CU_ASSERT(sp_maps_has_cell(&maps, in) && sp_maps_has_cell(&maps, was));
        CU_ASSERT(!sp_maps_has_cell(&newer, was) && !sp_maps_has_cell(&older, in));
        CU_ASSERT(!sp_maps_has_cell(&older, was + 3));
        sp_partition_done(&before);
        sp_partition_done(&now);
    }
}

TEST(a_probe_visits_the_cells_of_both_maps)
{
    struct sp_partition_map before = map_of(6, 0), now = map_of(9, 1);
    struct sp_maps maps;
    static uint32_t cells[SP_CELL_PLACES];
    CU_ASSERT_EQUAL(sp_maps_make(&now, &before, &maps), SP_OK);
    for (uint32_t n = 1; n < 5000; n = n * 5 / 4 + 1) {
        struct sp_signature page = {.length = {n, n / 2, n / 3}};
        uint32_t want[2];
        want[0] = sp_maps_cell(&maps, &page);
        want[1] = sp_maps_cell(&(struct sp_maps){.now = &before}, &page);
        uint32_t count = sp_maps_targets(&maps, &page, 0.8, SP_ROUTING_LOSSLESS, 1, cells);
        int found = 0;
        for (uint32_t i = 0; i < count; i++)
            found += cells[i] == want[0] || cells[i] == want[1];
        CU_ASSERT_EQUAL(found, 2);
    }
    sp_partition_done(&before);
    sp_partition_done(&now);
}

enum { EN = 'e' << 8 | 'n', FR = 'f' << 8 | 'r', DE = 'd' << 8 | 'e' };

TEST(a_language_has_cells_and_machines_of_its_own)
{
    struct sp_partition_map before = map_of(6, 0), now = map_of(9, 1);
    struct sp_maps plain, maps;
    struct sp_fault fault;
    static uint32_t cells[SP_CELL_PLACES], of_plain[SP_CELL_PLACES];
    static const uint16_t languages[] = {0, EN, FR, DE};
    CU_ASSERT_EQUAL(sp_maps_make(&now, &before, &plain), SP_OK);
    maps = plain;
    CU_ASSERT_EQUAL(sp_languages_parse("fr,en", &maps.languages, &fault), SP_OK);
    CU_ASSERT_EQUAL(sp_maps_cells(&maps, &now), 27);
    for (uint32_t n = 1; n < 5000; n = n * 5 / 4 + 1)
        for (int i = 0; i < 4; i++) {
            struct sp_signature page = {.length = {n, n / 2, n / 3}, .language = languages[i]};
            uint32_t slice = languages[i] == FR ? 1 : languages[i] == EN ? 2 : 0;
            uint32_t cell = sp_maps_cell(&plain, &page);
            CU_ASSERT_EQUAL(sp_maps_cell(&maps, &page), cell + slice * 9);
            CU_ASSERT_EQUAL(sp_maps_machine(&maps, cell + slice * 9),
                            sp_maps_machine(&plain, cell) + slice * 9);
            uint32_t count = sp_maps_targets(&maps, &page, 0.8, SP_ROUTING_LOSSLESS, 1, cells);
            uint32_t same = sp_maps_targets(&plain, &page, 0.8, SP_ROUTING_LOSSLESS, 1, of_plain);
            CU_ASSERT_EQUAL_FATAL(count, same);
            for (uint32_t k = 0; k < count; k++) {
                bool old = sp_maps_standing(&maps, cells[k]) == SP_CELL_LEAVING;
                CU_ASSERT_EQUAL(cells[k], of_plain[k] + slice * (old ? 6 : 9));
            }
        }
    uint32_t last = 1u << SP_CELL_BITS | 26;
    CU_ASSERT_EQUAL(sp_maps_standing(&maps, last), SP_CELL_PRESENT);
    CU_ASSERT_EQUAL(sp_maps_standing(&maps, last + 1), SP_CELL_NONE);
    CU_ASSERT_EQUAL(sp_maps_hash(&plain, &now), sp_map_hash(&now));
    CU_ASSERT_NOT_EQUAL(sp_maps_hash(&maps, &now), sp_map_hash(&now));
    sp_partition_done(&before);
    sp_partition_done(&now);
}

TEST(a_list_of_languages_is_read_strictly)
{
    static const char *const wrong[] = {"e",  "eng",   "en,",      ",en",
                                        "EN", "en fr", "en,fr,en", "en,,fr"};
    struct sp_languages languages = {.count = 7};
    struct sp_fault fault;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CU_ASSERT_EQUAL(sp_languages_parse(wrong[i], &languages, &fault), SP_INVALID);
        CU_ASSERT_EQUAL(languages.count, 7);
    }
    CU_ASSERT_EQUAL(sp_languages_parse("", &languages, &fault), SP_OK);
    CU_ASSERT_EQUAL(languages.count, 0);
    CU_ASSERT_EQUAL(sp_languages_parse("en,fr", &languages, &fault), SP_OK);
    CU_ASSERT_EQUAL(sp_languages_slice(&languages, EN), 1);
    CU_ASSERT_EQUAL(sp_languages_slice(&languages, FR), 2);
    CU_ASSERT_EQUAL(sp_languages_slice(&languages, DE), 0);
    char many[(SP_MAX_LANGUAGES + 1) * 3];
    for (int i = 0; i <= SP_MAX_LANGUAGES; i++) {
        many[3 * i] = (char)('a' + i / 26);
        many[3 * i + 1] = (char)('a' + i % 26);
        many[3 * i + 2] = i < SP_MAX_LANGUAGES ? ',' : '\0';
    }
    CU_ASSERT_EQUAL(sp_languages_parse(many, &languages, &fault), SP_INVALID);
    many[3 * SP_MAX_LANGUAGES - 1] = '\0';
    CU_ASSERT_EQUAL(sp_languages_parse(many, &languages, &fault), SP_OK);
}

TEST(maps_are_told_apart_by_their_boxes_and_their_version)
{
    struct sp_partition_map a = map_of(3, 1), b = map_of(3, 1), c = map_of(3, 2), d = map_of(4, 1);
    CU_ASSERT_EQUAL(sp_map_hash(&a), sp_map_hash(&b));
    CU_ASSERT_NOT_EQUAL(sp_map_hash(&a), sp_map_hash(&c));
    CU_ASSERT_NOT_EQUAL(sp_map_hash(&a), sp_map_hash(&d));
    sp_partition_done(&a);
    sp_partition_done(&b);
    sp_partition_done(&c);
    sp_partition_done(&d);
}

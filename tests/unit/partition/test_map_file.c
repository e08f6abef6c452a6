/* Maps as text: what is written reads back, and errors name their line. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "harness.h"
#include "partition/train.h"

enum { PAGES = 3000 };

static struct sp_lengths *some_pages(void)
{
    struct sp_lengths *pages = sp_alloc(PAGES * sizeof *pages);
    for (uint32_t i = 0; i < PAGES; i++)
        for (uint32_t d = 0; d < SP_DIMS; d++)
            pages[i].at[d] = (uint32_t)(sp_mix64(3 * i + d) % 1000 * (sp_mix64(i) % 1000) / 1000);
    return pages;
}

static struct sp_partition_map trained(uint32_t cells, uint32_t machines, uint32_t words)
{
    struct sp_train_options o;
    struct sp_dictionary dictionary;
    struct sp_partition_map map;
    struct sp_lengths *pages = some_pages();
    uint32_t *entries = sp_alloc(words * sizeof *entries + 1);
    for (uint32_t i = 0; i < words; i++)
        entries[i] = sp_dictionary_entry(sp_mix64(i), i % 3);
    sp_train_options_default(&o);
    o.cells = cells;
    o.machines = machines;
    CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(3, entries, words, &dictionary), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_partition_train(&o, pages, PAGES, &dictionary, &map), SP_OK);
    sp_free(entries);
    sp_free(pages);
    return map;
}

static void check_same(const struct sp_partition_map *a, const struct sp_partition_map *b)
{
    CU_ASSERT_EQUAL_FATAL(a->cells, b->cells);
    CU_ASSERT_EQUAL(a->version, b->version);
    CU_ASSERT_EQUAL(a->machines, b->machines);
    CU_ASSERT_EQUAL(a->pages, b->pages);
    CU_ASSERT_EQUAL(a->threshold, b->threshold);
    CU_ASSERT_EQUAL(a->slicing, b->slicing);
    CU_ASSERT_EQUAL(memcmp(a->boxes, b->boxes, a->cells * sizeof *a->boxes), 0);
    CU_ASSERT_EQUAL(memcmp(a->machine, b->machine, a->cells * sizeof *a->machine), 0);
    CU_ASSERT_EQUAL(memcmp(a->load, b->load, a->cells * sizeof *a->load), 0);
    CU_ASSERT_EQUAL(a->dictionary.fingerprint, b->dictionary.fingerprint);
    CU_ASSERT_EQUAL(sp_partition_fingerprint(a), sp_partition_fingerprint(b));
}

TEST(a_map_written_to_a_file_reads_back_the_same)
{
    static const uint32_t sizes[][3] = {{1, 1, 0}, {64, 64, 0}, {100, 7, 40}, {333, 333, 5000}};
    char name[] = "/tmp/samepage-map-XXXXXX";
    struct sp_fault fault = {""};
    CU_ASSERT_FATAL(close(mkstemp(name)) == 0);
    for (int i = 0; i < 4; i++) {
        struct sp_partition_map map = trained(sizes[i][0], sizes[i][1], sizes[i][2]), back;
        map.version = 7;
        CU_ASSERT_EQUAL_FATAL(sp_partition_write(&map, name, &fault), SP_OK);
        CU_ASSERT_EQUAL_FATAL(sp_partition_read(name, &back, &fault), SP_OK);
        check_same(&map, &back);
        sp_partition_done(&map);
        sp_partition_done(&back);
    }
    unlink(name);
}

/* `train --map /dev/null` replaced the device by a file, for all programs. */
TEST(a_pipe_or_device_is_written_to_and_not_replaced)
{
    char folder[] = "/tmp/samepage-map-XXXXXX", name[64], text[64] = "";
    struct sp_partition_map map = trained(2, 2, 0);
    struct sp_fault fault = {""};
    struct stat st = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/pipe", folder);
    CU_ASSERT_EQUAL_FATAL(mkfifo(name, 0600), 0);
    int reader = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CU_ASSERT_FATAL(reader >= 0);
    CU_ASSERT_EQUAL(sp_partition_write(&map, name, &fault), SP_OK);
    CU_ASSERT(read(reader, text, sizeof text - 1) > 0);
    CU_ASSERT_EQUAL(text[0], '#');
    CU_ASSERT(stat(name, &st) == 0 && S_ISFIFO(st.st_mode));
    close(reader);
    sp_partition_done(&map);
    unlink(name);
    rmdir(folder);
}

TEST(fingerprints_tell_maps_and_dictionaries_apart)
{
    struct sp_partition_map a = trained(64, 64, 40), b = trained(64, 32, 40),
                            c = trained(64, 64, 41);
    CU_ASSERT_NOT_EQUAL(sp_partition_fingerprint(&a), sp_partition_fingerprint(&b));
    CU_ASSERT_EQUAL(a.dictionary.fingerprint, b.dictionary.fingerprint);
    CU_ASSERT_NOT_EQUAL(a.dictionary.fingerprint, c.dictionary.fingerprint);
    CU_ASSERT_NOT_EQUAL(c.dictionary.fingerprint, 0);
    sp_partition_done(&a);
    sp_partition_done(&b);
    sp_partition_done(&c);
}

TEST(a_file_that_is_not_there_is_named)
{
    struct sp_partition_map map;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(sp_partition_read("/nowhere/map", &map, &fault), SP_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "/nowhere/map: the partition map cannot be read"));
    struct sp_partition_map some = trained(2, 2, 0);
    CU_ASSERT_EQUAL(sp_partition_write(&some, "/nowhere/map", &fault), SP_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "cannot be written"));
    sp_partition_done(&some);
}

/* A valid map of two cells and two words; each test changes something in it. */
static const char good[] = "# a comment\n\n"
                           "format = 1\nversion = 3\nslicing = kd\nthreshold = 0.8\n"
                           "pages = 10\ndims = 3\nwords = 2\nmachines = 2\ncells = 2\n"
                           "cell 0: L1 0- L2 0- L3 0- L 0-99 machine 0 pages 6\n"
                           "cell 1: L1 0- L2 0- L3 0- L 100- machine 1 pages 4\n"
                           "words 1: 0000000a\nwords 2: 3fffffff\n";

static const struct {
    const char *from;
    const char *to;
    const char *message;
} mistakes[] = {
    {"format = 1", "format = 2", "name:3: expected \"format = N\" with N from 1 to 1"},
    {"version = 3", "version = -3", "name:4: expected \"version = N\""},
    {"version = 3", "version = 3x", "name:4: expected \"version = N\""},
    {"version = 3", "version = +3", "name:4: expected \"version = N\""},
    {"version = 3", "version =  3", "name:4: expected \"version = N\""},
    {"version = 3", "version = ", "name:4: expected \"version = N\""},
    {"version = 3", "3", "name:4: expected \"version = N\""},
    {"version = 3", "version 3", "name:4: expected \"version = N\""},
    {"slicing = kd", "kd", "name:5: expected \"slicing = kd\" or"},
    {"slicing = kd", "slicing = kdd", "name:5: expected \"slicing = kd\" or"},
    {"threshold = 0.8", "threshold = 1.8", "name:6: expected \"threshold = T\""},
    {"dims = 3", "dims = 4", "name:8: expected \"dims = N\" with N from 1 to 3"},
    {"machines = 2", "machines = 0", "name:10: expected \"machines = N\""},
    {"cells = 2", "cells = 5000", "name:11: expected \"cells = N\""},
    {"cells = 2", "cells = 3", "name:14: expected \"cell 2: L1"},
    {"cell 1:", "cell 2:", "name:13: expected \"cell 1: L1"},
    {"L 0-99", "L 0-98", "the cells overlap or leave gaps"},
    {"L 0-99", "L 0-", "the cells overlap or leave gaps"},
    {"L 0-99", "L 99-0", "name:12: expected \"cell 0: L1"},
    {"L 0-99", "L 0-99999999999", "name:12: expected \"cell 0: L1"},
    {"pages 6", "pages 18446744073709551616", "name:12: expected \"cell 0: L1"},
    {"L 0-99", "0-99", "name:12: expected \"cell 0: L1"},
    {"machine 0 pages", "0 pages", "name:12: expected \"cell 0: L1"},
    {"machine 1", "machine 2", "name:13: there is no machine 2 among 2"},
    {"words = 2", "words = 3", "the file ends after 2 of 3 words"},
    {"words = 2", "words = 1", "name:15: expected \"words N: …\" with 1 words"},
    {"words 2:", "2:", "name:15: expected \"words N: …\""},
    {"words 2:", "words 4:", "name:15: expected \"words N: …\""},
    {"3fffffff", "4fffffff", "name:15: expected \"words N: …\""},
    {"3fffffff", "0000000a", "a word is in the dictionary twice"},
    {"3fffffff\n", "3fffffff\nmore\n", "name:16: expected"},
};

TEST(every_mistake_in_a_file_is_named_with_its_line)
{
    struct sp_partition_map map;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(sp_partition_parse(sp_view_str(good), "name", &map, &fault), SP_OK);
    CU_ASSERT_EQUAL(map.version, 3);
    CU_ASSERT_EQUAL(map.dictionary.count, 2);
    sp_partition_done(&map);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const char *at = strstr(good, mistakes[i].from);
        struct sp_buf text = {0};
        CU_ASSERT_PTR_NOT_NULL_FATAL(at);
        sp_buf_put(&text, good, (size_t)(at - good));
        sp_buf_put_str(&text, mistakes[i].to);
        sp_buf_put_str(&text, at + strlen(mistakes[i].from));
        fault.text[0] = 0;
        CU_ASSERT_EQUAL(sp_partition_parse(sp_buf_view(&text), "name", &map, &fault), SP_INVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, mistakes[i].message));
        if (!strstr(fault.text, mistakes[i].message))
            printf("%s -> %s\n", mistakes[i].to, fault.text);
        sp_buf_done(&text);
    }
}

/* The line has the largest size that is read, and one error. */
TEST(a_line_that_is_too_long_or_no_text_is_refused)
{
    struct sp_partition_map map;
    struct sp_fault fault = {""};
    struct sp_buf text = {0};
    sp_buf_put_str(&text, "format = 1\n# ");
    for (int i = 0; i < 1 << 20; i++)
        sp_buf_put_u8(&text, 'x');
    sp_buf_put_str(&text, "\nversion = 3\n");
    CU_ASSERT_EQUAL(sp_partition_parse(sp_buf_view(&text), "name", &map, &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "name:2: the line is longer than"));
    sp_buf_reset(&text);
    sp_buf_put(&text, good, sizeof good - 1);
    text.data[4] = 0; /* in the comment on the first line */
    CU_ASSERT_EQUAL(sp_partition_parse(sp_buf_view(&text), "name", &map, &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "name:1: the line is longer than"));
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "or is not text"));
    sp_buf_done(&text);
}

TEST(a_file_cut_off_anywhere_is_refused)
{
    struct sp_partition_map map;
    struct sp_fault fault = {""};
    for (size_t n = 0; n < sizeof good - 2; n++) {
        if (sp_partition_parse(sp_view(good, n), "name", &map, &fault) != SP_OK)
            continue;
        CU_ASSERT(n > sizeof good - 12); /* a truncated last word is a valid word */
        sp_partition_done(&map);
    }
}

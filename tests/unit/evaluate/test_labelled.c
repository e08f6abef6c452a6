/* Labelled data: its formats, and the messages for bad input. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "evaluate/labelled.h"
#include "harness.h"

static char folder[64];

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(text, out);
    fclose(out);
}

static void begin(const char *pages, const char *pairs)
{
    snprintf(folder, sizeof folder, "/tmp/labelled-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    write_file("docs.jsonl", pages);
    if (pairs)
        write_file("pairs.jsonl", pairs);
}

static void end(void)
{
    static const char *const names[] = {"docs.jsonl", "pairs.jsonl"};
    char path[128];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static struct sp_labelled *read_good(const char *pages, const char *pairs)
{
    struct sp_labelled *set = NULL;
    struct sp_fault fault;
    begin(pages, pairs);
    CU_ASSERT_EQUAL_FATAL(sp_labelled_read(folder, &set, &fault), SP_OK);
    CU_ASSERT_STRING_EQUAL(set->name, strrchr(folder, '/') + 1);
    end();
    return set;
}

static void check_refused(const char *pages, const char *pairs, const char *place,
                          const char *reason)
{
    struct sp_labelled *set = NULL;
    struct sp_fault fault;
    begin(pages, pairs);
    CU_ASSERT_NOT_EQUAL(sp_labelled_read(folder, &set, &fault), SP_OK);
    CU_ASSERT_PTR_NULL(set);
    if (!strstr(fault.text, place) || !strstr(fault.text, reason))
        printf("%s\n", fault.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, place));
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, reason));
    end();
}

#define THREE                                                                                          \
    "{\"id\":1,\"content\":\"one\",\"cluster\":\"x\"}\n"                                               \
    "{\"id\":\"two\",\"content\":\"t\\u0000o\",\"cluster\":\"y\",\"content_type\":\"text/plain\"}\n\n" \
    "{\"url\":\"http://three/\",\"content\":\"\",\"cluster\":\"x\",\"more\":[1,2]}"

TEST(pages_of_a_cluster_are_the_same)
{
    struct sp_labelled *set = read_good(THREE, NULL);
    CU_ASSERT_EQUAL_FATAL(set->page_count, 3);
    CU_ASSERT_STRING_EQUAL(set->pages[0].id, "1");
    CU_ASSERT_STRING_EQUAL(set->pages[2].id, "http://three/");
    CU_ASSERT_EQUAL(set->pages[1].content.len, 3);
    CU_ASSERT_STRING_EQUAL(set->pages[1].content_type, "text/plain");
    CU_ASSERT(!set->listed);
    CU_ASSERT_EQUAL_FATAL(set->pair_count, 1);
    CU_ASSERT(set->pairs[0].a == 0 && set->pairs[0].b == 2 && set->pairs[0].same);
    sp_labelled_free(set);
    sp_labelled_free(NULL);
}

TEST(pairs_decide_where_they_are_given)
{
    struct sp_labelled *set =
        read_good(THREE, "{\"a\":\"two\",\"b\":1}\n{\"b\":\"two\",\"a\":1,\"label\":1}\n");
    CU_ASSERT(!set->listed);
    CU_ASSERT_EQUAL(set->same_count, 1);
    CU_ASSERT(set->pairs[0].a == 0 && set->pairs[0].b == 1);
    sp_labelled_free(set);
    set = read_good(THREE, "{\"a\":\"two\",\"b\":1,\"label\":1}\n"
                           "{\"a\":\"http://three/\",\"b\":\"two\",\"label\":0}\n");
    CU_ASSERT(set->listed);
    CU_ASSERT_EQUAL(set->pair_count, 2);
    CU_ASSERT_EQUAL(set->same_count, 1);
    CU_ASSERT(!set->pairs[1].same);
    sp_labelled_free(set);
    set = read_good(THREE, "{\"a\":\"two\",\"b\":1,\"jaccard\":0.79}\n"
                           "{\"a\":\"http://three/\",\"b\":\"two\",\"jaccard\":0.8}\n");
    CU_ASSERT(!set->listed);
    CU_ASSERT_EQUAL(set->pair_count, 1);
    sp_labelled_free(set);
}

TEST(what_is_wrong_is_named_with_its_file_and_line)
{
    check_refused("{\"id\":1}\n", NULL, "docs.jsonl:1: ", "\"content\"");
    check_refused(THREE "\n{\"id\":1,\"content\":\"\"}", NULL, "docs.jsonl:5: ", "given before");
    check_refused(THREE "\nnothing", NULL, "docs.jsonl:5: ", "not a JSON object");
    check_refused(THREE "\n[1]", NULL, "docs.jsonl:5: ", "not a JSON object");
    check_refused("", NULL, "docs.jsonl", "no two pages");
    check_refused(THREE, "{\"a\":1}", "pairs.jsonl:1: ", "\"b\" of a pair is missing");
    check_refused(THREE, "\n{\"a\":1,\"b\":9}", "pairs.jsonl:2: ", "9, which no page");
    check_refused(THREE, "{\"a\":1,\"b\":1}", "pairs.jsonl:1: ", "one page");
    check_refused(THREE, "{\"a\":1,\"b\":\"two\",\"label\":\"yes\"}", "pairs.jsonl:1: ", "label");
    check_refused(THREE, "{\"a\":1,\"b\":\"two\"}\n{\"a\":1,\"b\":\"two\",\"label\":0}",
                  "pairs.jsonl", "two labels");
    struct sp_labelled *set = NULL;
    struct sp_fault fault;
    CU_ASSERT_NOT_EQUAL(sp_labelled_read("/nowhere/at/all", &set, &fault), SP_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "/nowhere/at/all"));
}

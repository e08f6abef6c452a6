/* Settings: parsing, messages, files, the fingerprint and the generated texts. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/config.h"
#include "config/options.h"
#include "harness.h"

static struct sp_config defaults(void)
{
    struct sp_config c;
    sp_config_default(&c);
    return c;
}

static void check_ok(struct sp_config *c, const char *assignment)
{
    struct sp_fault fault = {""};
    if (sp_config_assign(c, assignment, &fault) != SP_OK) {
        printf("%s: %s\n", assignment, fault.text);
        CU_FAIL("refused");
    }
}

/* Asserts that the assignment is refused, that the message contains `words`, and that no setting
 * changed. */
static void check_refused(const char *assignment, const char *words)
{
    struct sp_config c = defaults(), before = c;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(sp_config_assign(&c, assignment, &fault), SP_INVALID);
    if (!strstr(fault.text, words))
        printf("no '%s' in: %s\n", words, fault.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, words));
    CU_ASSERT_EQUAL(memcmp(&c, &before, sizeof c), 0);
}

TEST(the_defaults_are_those_documented)
{
    struct sp_config c = defaults();
    CU_ASSERT_EQUAL(c.mode, SP_CONFIG_MODE_EXACT);
    CU_ASSERT_EQUAL(c.similarity_method, SP_CONFIG_METHOD_SHINGLES);
    CU_ASSERT_EQUAL(c.similarity_threshold, 0); /* the default of the method */
    CU_ASSERT_EQUAL(c.signature_repeats, SP_CONFIG_REPEATS_ONCE);
    CU_ASSERT_EQUAL(c.signature_max_shingles, 1024);
    CU_ASSERT_EQUAL(c.text_scope, SP_CONFIG_SCOPE_MAIN);
    CU_ASSERT_EQUAL(c.text_language, SP_CONFIG_LANGUAGE_NEEDED);
    CU_ASSERT_EQUAL(c.partition_routing, SP_CONFIG_ROUTING_LOSSLESS);
    CU_ASSERT_EQUAL(c.partition_cells, 1);
    CU_ASSERT_EQUAL(c.cache_bytes, 0); /* by the machine's memory */
    CU_ASSERT_EQUAL(c.input_max_record_bytes, 64ull << 20);
    CU_ASSERT_EQUAL(c.log_format, SP_CONFIG_LOG_PLAIN);
    CU_ASSERT_STRING_EQUAL(c.http_listen, "");
}

TEST(every_setting_takes_its_own_default_and_both_ends_of_its_range)
{
    for (size_t i = 0; i < sp_option_count; i++) {
        const struct sp_option *o = &sp_options[i];
        struct sp_config c = defaults(), before = c;
        char text[256];
        snprintf(text, sizeof text, "%s=%s", o->key, o->initial);
        check_ok(&c, text);
        CU_ASSERT_EQUAL(memcmp(&c, &before, sizeof c), 0);
        if (o->type == SP_OPTION_CHOICE || o->type == SP_OPTION_TEXT)
            continue;
        snprintf(text, sizeof text, "%s=%.17g", o->key, o->least);
        check_ok(&c, text);
        snprintf(text, sizeof text, "%s=%.17g", o->key, o->most);
        check_ok(&c, text);
        snprintf(text, sizeof text, "%s=%.17g", o->key, o->least - 1);
        check_refused(text, "out of range");
        snprintf(text, sizeof text, "%s=%.17g", o->key, o->most * 1.01 + 1);
        check_refused(text, o->type == SP_OPTION_REAL ? "out of range" : o->key);
    }
}

TEST(choices_are_taken_by_their_word)
{
    struct sp_config c = defaults();
    check_ok(&c, "mode=fast");
    check_ok(&c, "signature.repeats=labelled");
    check_ok(&c, "text.scope=all");
    check_ok(&c, "partition.routing=bounded");
    check_ok(&c, "text.language=off");
    CU_ASSERT_EQUAL(c.mode, SP_CONFIG_MODE_FAST);
    CU_ASSERT_EQUAL(c.signature_repeats, SP_CONFIG_REPEATS_LABELLED);
    CU_ASSERT_EQUAL(c.text_scope, SP_CONFIG_SCOPE_ALL);
    CU_ASSERT_EQUAL(c.partition_routing, SP_CONFIG_ROUTING_BOUNDED);
    CU_ASSERT_EQUAL(c.text_language, SP_CONFIG_LANGUAGE_OFF);
    check_ok(&c, "mode=exact");
    CU_ASSERT_EQUAL(c.mode, SP_CONFIG_MODE_EXACT);
    check_refused("mode=FAST", "is none of exact|fast");
    check_refused("mode=exac", "is none of");
    check_refused("mode=exact|fast", "is none of");
    check_refused("mode=", "is none of");
}

TEST(sizes_take_units)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"1048576", 1 << 20}, {"1MiB", 1 << 20},     {"2 MiB", 2 << 20},
                 {"1.5MiB", 3 << 19},  {"4096KiB", 4 << 20},  {"3GiB", 3ull << 30},
                 {"2G", 2ull << 30},   {"8M", 8 << 20},       {"2048K", 2 << 20},
                 {" 1MiB ", 1 << 20},  {"1e6KiB", 1024000000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct sp_config c = defaults();
        char text[64];
        snprintf(text, sizeof text, "cache.bytes=%s", sizes[i].text);
        check_ok(&c, text);
        CU_ASSERT_EQUAL(c.cache_bytes, sizes[i].bytes);
    }
    check_refused("cache.bytes=1MB", "is not a size");
    check_refused("cache.bytes=MiB", "is not a size");
    check_refused("cache.bytes=1MiBs", "is not a size");
    check_refused("cache.bytes=", "is not a size");
    check_refused("cache.bytes=1KiB", "it must be 0, or from 1048576 to");
    check_refused("store.block_cache_bytes=0", "it must be from 1048576 to");
    check_refused("cache.bytes=-1MiB", "out of range");
    check_refused("cache.bytes=1.00000000001MiB", "whole number");
    check_refused("cache.bytes=nan", "is not a size");
    check_refused("cache.bytes=inf", "is not a size");
}

TEST(malformed_numbers_are_refused)
{
    check_refused("threads=two", "is not a number");
    check_refused("threads=", "is not a number");
    check_refused("threads=2x", "is not a number");
    check_refused("threads=2KiB", "is not a number");
    check_refused("threads=1.5", "whole number");
    check_refused("threads=-1", "from 0 to 256");
    check_refused("similarity.threshold=1.0001", "from 0 to 1");
    check_refused("similarity.threshold=nan", "is not a number");
    check_refused("similarity.threshold=0,8", "is not a number");
}

TEST(an_unknown_key_is_refused_with_the_nearest_one)
{
    check_refused("similarity.treshold=0.8", "\"similarity.threshold\"");
    check_refused("thread=1", "nearest is \"threads\"");
    check_refused("partition.cell=1", "\"partition.cells\"");
    check_refused("=1", "there is no setting");
    check_refused("no equals sign", "not of the form key=value");
    {
        struct sp_config c;
        struct sp_fault fault = {0};
        sp_config_default(&c);
        CU_ASSERT_EQUAL(sp_config_assign(&c, "kafka.sasl.password: hunter2", &fault), SP_INVALID);
        CU_ASSERT_PTR_NULL(strstr(fault.text, "hunter2"));
        sp_config_done(&c);
    }
    check_refused("", "not of the form key=value");
}

TEST(very_long_keys_and_values_are_refused)
{
    struct sp_config c = defaults();
    static char text[5000];
    struct sp_fault fault = {""};
    memset(text, 'x', sizeof text - 1);
    text[2000] = '=';
    CU_ASSERT_EQUAL(sp_config_assign(&c, text, &fault), SP_INVALID);
    memcpy(text, "mode=exact", 10);
    CU_ASSERT_EQUAL(sp_config_assign(&c, text, &fault), SP_INVALID);
    /* The first hundred characters are a number, the whole is not. */
    memset(text, '0', sizeof text - 1);
    memcpy(text, "threads=", 8);
    text[4000] = 'x';
    CU_ASSERT_EQUAL(sp_config_assign(&c, text, &fault), SP_INVALID);
}

/* ---- files ---- */

static const char *file_of(const char *text)
{
    static char name[64];
    snprintf(name, sizeof name, "/tmp/samepage-config-XXXXXX");
    int fd = mkstemp(name);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return name;
}

TEST(a_file_sets_what_it_names_and_leaves_the_rest)
{
    struct sp_config c = defaults();
    struct sp_fault fault = {""};
    check_ok(&c, "threads=3");
    const char *file = file_of("# comment\n\n  mode = fast  \r\n\tsimilarity.threshold=0.9\n"
                               "#mode = exact\ncache.bytes = 1 GiB\nbarrier.pages=1\n"
                               "barrier.pages = 2");
    CU_ASSERT_EQUAL(sp_config_load(&c, file, &fault), SP_OK);
    unlink(file);
    CU_ASSERT_EQUAL(c.mode, SP_CONFIG_MODE_FAST);
    CU_ASSERT_EQUAL(c.similarity_threshold, 0.9);
    CU_ASSERT_EQUAL(c.cache_bytes, 1ull << 30);
    CU_ASSERT_EQUAL(c.barrier_pages, 2);
    CU_ASSERT_EQUAL(c.threads, 3);
}

TEST(a_byte_order_mark_before_the_first_setting_is_passed_over)
{
    struct sp_config c = defaults();
    struct sp_fault fault = {""};
    const char *file = file_of("\xef\xbb\xbfmode = fast\r\n");
    CU_ASSERT_EQUAL(sp_config_load(&c, file, &fault), SP_OK);
    unlink(file);
    CU_ASSERT_EQUAL(c.mode, SP_CONFIG_MODE_FAST);
}

TEST(a_mistake_in_a_file_is_named_with_file_and_line)
{
    struct sp_config c = defaults();
    struct sp_fault fault = {""};
    char place[128];
    const char *file = file_of("mode = fast\n\n# comment\nthreads = many\n");
    CU_ASSERT_EQUAL(sp_config_load(&c, file, &fault), SP_INVALID);
    unlink(file);
    snprintf(place, sizeof place, "%s:4: threads: \"many\"", file);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, place));
    CU_ASSERT_EQUAL(sp_config_load(&c, "/nowhere/samepage.properties", &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "/nowhere/samepage.properties"));
}

TEST(what_is_no_file_of_settings_is_refused)
{
    struct sp_config c = defaults();
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(sp_config_load(&c, "/", &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "/: the configuration cannot be read: Is a"));
    CU_ASSERT_EQUAL(sp_config_load(&c, "/dev/zero", &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "longer than 1048576 bytes"));
}

/* "contain-changelog" is the longest of the names that follow it. */
TEST(a_prefix_leaves_room_for_the_names_of_topics)
{
    enum { MOST = 249 - 17 };
    char text[SP_CONFIG_TEXT] = "topics.prefix=";
    struct sp_config c = defaults();
    struct sp_fault fault = {""};
    size_t n = strlen(text);
    memset(text + n, 'p', MOST);
    CU_ASSERT_EQUAL(sp_config_assign(&c, text, &fault), SP_OK);
    text[n + MOST] = 'p';
    CU_ASSERT_EQUAL(sp_config_assign(&c, text, &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "longer than 232 bytes"));
}

TEST(the_generated_properties_are_a_file_of_the_defaults)
{
    struct sp_config c = defaults(), expected = c;
    struct sp_buf out = {0};
    struct sp_fault fault = {""};
    sp_config_put_properties(&out);
    sp_buf_put_u8(&out, 0);
    check_ok(&c, "mode=fast");
    check_ok(&c, "similarity.threshold=0.31");
    check_ok(&c, "cache.bytes=1MiB");
    const char *file = file_of(out.data);
    CU_ASSERT_EQUAL(sp_config_load(&c, file, &fault), SP_OK);
    unlink(file);
    CU_ASSERT_EQUAL(memcmp(&c, &expected, sizeof c), 0);
    sp_buf_done(&out);
}

TEST(every_generated_text_has_every_setting)
{
    void (*const puts[])(struct sp_buf *) = {sp_config_put_properties, sp_config_put_markdown,
                                             sp_config_put_help};
    for (size_t k = 0; k < 3; k++) {
        struct sp_buf out = {0};
        puts[k](&out);
        sp_buf_put_u8(&out, 0);
        for (size_t i = 0; i < sp_option_count; i++)
            CU_ASSERT_PTR_NOT_NULL(strstr(out.data, sp_options[i].key));
        sp_buf_done(&out);
    }
}

/* ---- the fingerprint ---- */

TEST(the_fingerprint_holds_the_settings_that_give_a_state_its_meaning_and_no_others)
{
    struct sp_buf usual = {0};
    struct sp_config c = defaults();
    sp_config_fingerprint(&c, &usual);
    CU_ASSERT_PTR_NULL(strstr(usual.data, "containment.")); /* a disabled feature */
    CU_ASSERT_PTR_NULL(strstr(usual.data, "partition.languages="));
    sp_buf_reset(&usual);
    check_ok(&c, "containment.threshold=0.9");
    check_ok(&c, "partition.languages=en");
    sp_config_fingerprint(&c, &usual);
    CU_ASSERT_EQUAL(strlen(usual.data), usual.len);
    CU_ASSERT_PTR_NOT_NULL(strstr(usual.data, "mode=exact\n"));
    for (size_t i = 0; i < sp_option_count; i++) {
        const struct sp_option *o = &sp_options[i];
        char text[256];
        struct sp_buf changed = {0};
        c = defaults();
        check_ok(&c, "containment.threshold=0.9");
        check_ok(&c, "partition.languages=en");
        if (o->type == SP_OPTION_TEXT)
            snprintf(text, sizeof text, "%s=another", o->key);
        else if (o->type == SP_OPTION_CHOICE) {
            const char *second = strchr(o->choices, '|') + 1;
            snprintf(text, sizeof text, "%s=%.*s", o->key, (int)strcspn(second, "|"), second);
        } else
            snprintf(text, sizeof text, "%s=%.17g", o->key, o->most);
        check_ok(&c, text);
        sp_config_fingerprint(&c, &changed);
        CU_ASSERT_EQUAL(strcmp(changed.data, usual.data) != 0, o->identity);
        snprintf(text, sizeof text, "%s=", o->key);
        CU_ASSERT_EQUAL(strstr(usual.data, text) != NULL, o->identity);
        sp_buf_done(&changed);
    }
    sp_buf_done(&usual);
}

/* ---- texts, librdkafka's properties, the environment ---- */

TEST(texts_are_kept_as_they_are_and_too_long_ones_refused)
{
    struct sp_config c = defaults();
    char text[400] = "instance=";
    check_ok(&c, "instance = a b=c ");
    CU_ASSERT_STRING_EQUAL(c.instance, "a b=c");
    check_ok(&c, "instance=");
    CU_ASSERT_STRING_EQUAL(c.instance, "");
    memset(text + 9, 'x', 300);
    check_refused(text, "longer than 255 bytes");
}

TEST(settings_of_librdkafka_are_passed_on_and_the_last_one_counts)
{
    struct sp_config c = defaults();
    check_ok(&c, "kafka.bootstrap.servers=a:1");
    check_ok(&c, "kafka.sasl.password=p=q");
    check_ok(&c, "kafka.bootstrap.servers=b:2");
    CU_ASSERT_EQUAL_FATAL(c.kafka_count, 2);
    CU_ASSERT_STRING_EQUAL(c.kafka[0].key, "bootstrap.servers");
    CU_ASSERT_STRING_EQUAL(c.kafka[0].value, "b:2");
    CU_ASSERT_STRING_EQUAL(c.kafka[1].value, "p=q");
    sp_config_done(&c);
}

TEST(the_environment_sets_what_it_names_and_nothing_else)
{
    static const char *const environment[] = {"PATH=/bin",
                                              "SAMEPAGE_SET_COMMIT_INTERVAL_MS=250",
                                              "SAMEPAGE_SET_SIMILARITY_LCS_MIN=0.7",
                                              "SAMEPAGE_SET_KAFKA_BOOTSTRAP_SERVERS=h:9",
                                              "SAMEPAGE_KAFKA=x",
                                              NULL};
    static const char *const wrong[] = {"SAMEPAGE_SET_NO_SUCH_THING=1", NULL};
    struct sp_config c = defaults();
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(sp_config_environment(&c, environment, &fault), SP_OK);
    CU_ASSERT_EQUAL(c.commit_interval_ms, 250);
    CU_ASSERT_EQUAL(c.similarity_lcs_min, 0.7);
    CU_ASSERT_EQUAL_FATAL(c.kafka_count, 1);
    CU_ASSERT_STRING_EQUAL(c.kafka[0].key, "bootstrap.servers");
    CU_ASSERT_EQUAL(sp_config_environment(&c, wrong, &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "no.such.thing"));
    sp_config_done(&c);
}

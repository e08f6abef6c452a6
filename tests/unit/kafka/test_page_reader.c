/* The signature stage's reading of pages that other programs write, as JSON or Avro. */
#include "kafka/page_reader.h"

#include "codec/codec.h"
#include "harness.h"

static struct sp_stage_options usual(void)
{
    struct sp_stage_options o = {.pages_schema_id = 0};
    sp_input_options_default(&o.input);
    sp_text_options_default(&o.text);
    return o;
}

/* Returns what is wrong with the page, or NULL. */
static const char *read_bytes(const struct sp_stage_options *o, struct sp_view page)
{
    struct sp_page_reader *reader = sp_page_reader_new(o);
    struct sp_worker_reading r;
    enum sp_err err = sp_page_reader_read(reader, sp_view_str("key"), page, &r);
    CU_ASSERT_EQUAL(err == SP_OK, r.message != NULL);
    if (r.message)
        sp_message_free(r.message);
    sp_page_reader_free(reader);
    return err == SP_OK ? NULL : r.why;
}

static const char *read_page(const struct sp_stage_options *o, const char *json)
{
    return read_bytes(o, sp_view_str(json));
}

TEST(pages_have_the_fields_of_a_line_of_a_file)
{
    struct sp_stage_options o = usual();
    CU_ASSERT_PTR_NULL(read_page(&o, "{\"url\":\"http://a.example/\",\"content\":\"a b c\"}"));
    const char *why = read_page(&o, "{\"url\":\"http://a.example/\",\"other\":\"a b c\"}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(why);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "input.text_field"));
}

TEST(fields_have_the_names_of_the_settings)
{
    struct sp_stage_options o = usual();
    o.input.fields.text = "body";
    CU_ASSERT_PTR_NULL(read_page(&o, "{\"url\":\"http://a.example/\",\"body\":\"a b c\"}"));
    CU_ASSERT_PTR_NOT_NULL(read_page(&o, "{\"url\":\"http://a.example/\",\"content\":\"a\"}"));
}

/* The message blamed the schema id also of a page that has the right one. */
TEST(it_is_said_whether_the_schema_of_a_page_or_its_content_is_wrong)
{
    static const char seventh[] = "\0\0\0\0\7\2a", ninth[] = "\0\0\0\0\11\2a";
    static const char other[] = "\xc3\1"
                                "12345678"
                                "a";
    struct sp_page_record empty = {.url = sp_view_str("http://a.example/")};
    struct sp_buf page = {0};
    struct sp_stage_options o = usual();
    o.pages_schema_id = 9;
    CU_ASSERT_PTR_NOT_NULL(strstr(read_bytes(&o, sp_view(seventh, 7)), "another schema id"));
    CU_ASSERT_PTR_NOT_NULL(strstr(read_bytes(&o, sp_view(ninth, 7)), "has the right schema id"));
    CU_ASSERT_PTR_NOT_NULL(strstr(read_bytes(&o, sp_view(other, 11)), "of a known schema"));
    sp_page_encode(&empty, NULL, &page);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(read_bytes(&o, sp_view(page.data, page.len - 1)), "but is damaged"));
    sp_buf_done(&page);
}

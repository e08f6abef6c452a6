/* The signature stage's reading of pages that other programs write as JSON. */
#include "kafka/page_reader.h"

#include "harness.h"

static struct sp_stage_options usual(void)
{
    struct sp_stage_options o = {.pages_schema_id = 0};
    sp_input_options_default(&o.input);
    sp_text_options_default(&o.text);
    return o;
}

/* Returns what is wrong with the page, or NULL. */
static const char *read_page(const struct sp_stage_options *o, const char *json)
{
    struct sp_page_reader *reader = sp_page_reader_new(o);
    struct sp_worker_reading r;
    enum sp_err err = sp_page_reader_read(reader, sp_view_str("key"), sp_view_str(json), &r);
    CU_ASSERT_EQUAL(err == SP_OK, r.message != NULL);
    if (r.message)
        sp_message_free(r.message);
    sp_page_reader_free(reader);
    return err == SP_OK ? NULL : r.why;
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

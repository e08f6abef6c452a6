/* simdjson's ondemand parser behind C functions. Fields in any order; unknown ones are passed over;
 * null counts as absent. */
#include "input/json.h"

#include <cmath>
#include <simdjson.h>
#include <utility>

using namespace simdjson;

static void *make()
{
    return new ondemand::parser;
}

static void release(void *parser)
{
    delete static_cast<ondemand::parser *>(parser);
}

/* Whether the value is null; false where it only begins like it (*ret_failed: `nul`, `nope`). */
static bool is_null(ondemand::value value, bool *ret_failed)
{
    bool null = false;
    *ret_failed = value.is_null().get(null) != SUCCESS;
    return null && !*ret_failed;
}

static bool get_string(ondemand::value value, struct sp_view *ret)
{
    bool failed;
    if (is_null(value, &failed) || failed)
        return !failed;
    std::string_view text;
    if (value.get_string().get(text))
        return false;
    *ret = sp_view(text.data(), text.size());
    return true;
}

static bool get_number(ondemand::value value, double *ret)
{
    bool failed;
    if (is_null(value, &failed) || failed)
        return !failed;
    return !value.get_double().get(*ret);
}

/* Whole numbers, also when written as 1.7e12 or 200.0. */
static bool get_integer(ondemand::value value, int64_t *ret)
{
    double x = (double)*ret;
    int64_t exact;
    bool failed;
    if (is_null(value, &failed) || failed)
        return !failed;
    if (!value.get_int64().get(exact)) {
        *ret = exact;
        return true;
    }
    if (value.get_double().get(x) || !(std::fabs(x) < 9e15) || x != std::floor(x))
        return false;
    *ret = (int64_t)x;
    return true;
}

enum field { FIELD_OTHER, URL, FETCH_TIME, STATUS, REDIRECT, TYPE, POPULARITY, CONTENT };

static enum field field_of(std::string_view key)
{
    if (key == "url")
        return URL;
    if (key == "fetch_time_ms")
        return FETCH_TIME;
    if (key == "http_status")
        return STATUS;
    if (key == "redirect_url")
        return REDIRECT;
    if (key == "content_type")
        return TYPE;
    if (key == "popularity")
        return POPULARITY;
    if (key == "content")
        return CONTENT;
    return FIELD_OTHER;
}

static const char *read_field(ondemand::field f, struct sp_page_record *page)
{
    std::string_view key;
    int64_t status = page->http_status;
    if (f.unescaped_key().get(key))
        return "a key of the object is not a string";
    ondemand::value value = f.value();
    switch (field_of(key)) {
    case URL:
        return get_string(value, &page->url) ? nullptr : "url is not a string";
    case FETCH_TIME:
        return get_integer(value, &page->fetch_time_ms) ? nullptr
                                                        : "fetch_time_ms is not a whole number";
    case STATUS:
        if (!get_integer(value, &status) || status < 0 || status > 999)
            return "http_status is not a number from 0 to 999";
        page->http_status = (int32_t)status;
        return nullptr;
    case REDIRECT:
        return get_string(value, &page->redirect_url) ? nullptr : "redirect_url is not a string";
    case TYPE:
        return get_string(value, &page->content_type) ? nullptr : "content_type is not a string";
    case POPULARITY:
        return get_number(value, &page->popularity) ? nullptr : "popularity is not a number";
    case CONTENT:
        return get_string(value, &page->content) ? nullptr : "content is not a string";
    default:
        return nullptr;
    }
}

static enum sp_err parse(void *parser, struct sp_view line, struct sp_page_record *ret_page,
                         const char **ret_why)
{
    ondemand::document document;
    ondemand::object object;
    *ret_page = sp_page_record{};
    ret_page->fetch_time_ms = -1;
    ret_page->http_status = 200;
    ret_page->content_is_utf8 = true;
    *ret_why = "the line is not a JSON object";
    if (static_cast<ondemand::parser *>(parser)
            ->iterate(padded_string_view(line.data, line.len, line.len + SIMDJSON_PADDING))
            .get(document) ||
        document.get_object().get(object))
        return SP_MALFORMED;
    for (auto member : object) {
        ondemand::field f;
        if (std::move(member).get(f))
            return SP_MALFORMED;
        const char *why = read_field(f, ret_page);
        if (why) {
            *ret_why = why;
            return SP_MALFORMED;
        }
    }
    const char *behind;
    if (document.current_location().get(behind) != OUT_OF_BOUNDS)
        return SP_MALFORMED; /* something follows the object */
    if (ret_page->url.len == 0) {
        *ret_why = "the line has no url";
        return SP_NO_URL;
    }
    return SP_OK;
}

extern "C" const struct sp_json_ops SP_JSON_OPS = {make, release, parse};

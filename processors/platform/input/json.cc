/* simdjson's ondemand parser behind C functions. Fields in any order; unknown ones are passed over;
 * null counts as absent. */
#include "input/json.h"

#include <cmath>
#include <cstring>
#include <simdjson.h>
#include <string>
#include <utility>

#include "base/utf8.h"

using namespace simdjson;

enum field { FIELD_OTHER, URL, FETCH_TIME, STATUS, REDIRECT, TYPE, POPULARITY, CONTENT, FIELDS };

struct reader {
    ondemand::parser json;
    std::string replaced; /* the line's content, if simdjson could not unescape it */
    const struct sp_input_fields *fields;
    std::string_view names[FIELDS];
    int url_like; /* of the line: the field that may be meant for what is missing */
    int content_like;
    bool bad_id; /* of the line: it has an `id` or a `text` that cannot be what a dataset means */
    bool bad_text;
};

static void *make(const struct sp_input_fields *fields)
{
    reader *r = new reader;
    r->fields = fields;
    r->names[URL] = fields->id;
    r->names[FETCH_TIME] = fields->time;
    r->names[STATUS] = fields->status;
    r->names[REDIRECT] = fields->redirect;
    r->names[TYPE] = fields->content_type;
    r->names[POPULARITY] = fields->popularity;
    r->names[CONTENT] = fields->text;
    return r;
}

static void release(void *parser)
{
    delete static_cast<reader *>(parser);
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

/* Reads four hexadecimal digits; -1: they are none. */
static int32_t code_unit(const char *from)
{
    int32_t x = 0;
    for (int i = 0; i < 4; i++) {
        char c = from[i], lower = (char)(c | 0x20);
        bool decimal = c >= '0' && c <= '9';
        if (!decimal && (lower < 'a' || lower > 'f'))
            return -1;
        x = x << 4 | (decimal ? c - '0' : lower - 'a' + 10);
    }
    return x;
}

/* Unescapes \u and its digits at `*at`, which is behind them afterwards. */
static bool unescape_code(const char **at, std::string *out)
{
    char bytes[4];
    int32_t x = code_unit(*at + 2);
    if (x < 0)
        return false;
    *at += 6;
    if (x >= 0xD800 && x < 0xE000) {
        int32_t low = x < 0xDC00 && (*at)[0] == '\\' && (*at)[1] == 'u' ? code_unit(*at + 2) : -1;
        bool pair = low >= 0xDC00 && low < 0xE000;
        *at += pair ? 6 : 0;
        x = pair ? 0x10000 + ((x - 0xD800) << 10) + (low - 0xDC00) : (int32_t)SP_REPLACEMENT;
    }
    out->append(bytes, sp_utf8_put(bytes, (uint32_t)x));
    return true;
}

/* Unescapes the string whose first byte is at `at`, with U+FFFD for halves of surrogate pairs: a
 * text that was cut in the middle of a character, or bytes that were no UTF-8, end as such halves
 * in the JSON of Python and JavaScript. Quotation marks end the string; simdjson has found them. */
static bool unescape(const char *at, std::string *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    out->clear();
    while (*at != '"') {
        if ((unsigned char)*at < ' ')
            return false;
        if (*at != '\\') {
            out->push_back(*at++);
        } else if (at[1] == 'u') {
            if (!unescape_code(&at, out))
                return false;
        } else {
            const char *found = at[1] ? std::strchr(from, at[1]) : nullptr;
            if (!found)
                return false;
            out->push_back(to[found - from]);
            at += 2;
        }
    }
    return true;
}

static bool get_content(reader *r, ondemand::value value, struct sp_view *ret)
{
    ondemand::json_type type;
    if (value.type().get(type) || type != ondemand::json_type::string)
        return get_string(value, ret);
    std::string_view token = value.raw_json_token();
    if (get_string(value, ret))
        return true;
    if (!unescape(token.data() + 1, &r->replaced))
        return false;
    *ret = sp_view(r->replaced.data(), r->replaced.size());
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

/* An id may be a whole number, which is then taken as it is written. */
static bool get_id(const reader *r, ondemand::value value, struct sp_view *ret)
{
    ondemand::json_type type;
    if (!(r->fields->any_id || r->fields->dataset) || value.type().get(type) ||
        type != ondemand::json_type::number)
        return get_string(value, ret);
    std::string_view token = value.raw_json_token();
    while (!token.empty() && (unsigned char)token.back() <= ' ')
        token.remove_suffix(1);
    *ret = sp_view(token.data(), token.size());
    return true;
}

static bool get_time(const reader *r, ondemand::value value, int64_t *ret)
{
    const double seconds_below = 1e11; /* as ms that is a day of 1973 */
    ondemand::json_type type;
    std::string_view text;
    double x;
    if (value.type().get(type))
        return false;
    if (type == ondemand::json_type::string)
        return !value.get_string().get(text) &&
               sp_input_time(sp_view(text.data(), text.size()), ret);
    if (!r->fields->any_time || type != ondemand::json_type::number)
        return get_integer(value, ret);
    if (value.get_double().get(x) || !(std::fabs(x) < 9e15))
        return false;
    *ret = (int64_t)(x < seconds_below ? x * 1000 : x);
    return true;
}

static enum field field_of(const reader *r, std::string_view key, const struct sp_page_record *page)
{
    for (int f = URL; f < FIELDS; f++)
        if (key == r->names[f])
            return (enum field)f;
    if (r->fields->dataset && key == "text" && page->content.len == 0)
        return CONTENT;
    if (r->fields->dataset && key == "id" && page->url.len == 0)
        return URL;
    return FIELD_OTHER;
}

/* Names under which data sets keep what we call url and content. */
static const char *const like_url[] = {"id",   "doc_id", "docid", "document_id", "_id",
                                       "uuid", "uri",    "link",  "URL"};
static const char *const like_content[] = {"text",        "html",         "body",    "markdown",
                                           "raw_content", "page_content", "document"};
enum { URLS = std::size(like_url), CONTENTS = std::size(like_content) };

static void note(const char *const *names, int count, std::string_view key, int *found)
{
    for (int i = 0; *found == count && i < count; i++)
        if (key == names[i])
            *found = i;
}

static std::string suggest(int url, int content)
{
    std::string lacks, has, give;
    if (url < URLS) {
        lacks = "the line has no \"url\"";
        has = "\"" + std::string(like_url[url]) + "\"";
        give = std::string(" --id-field ") + like_url[url];
    }
    if (content < CONTENTS) {
        lacks = url < URLS ? lacks + " and no \"content\"" : "the page has no \"content\"";
        has += (url < URLS ? " and \"" : "\"") + std::string(like_content[content]) + "\"";
        give += std::string(" --text-field ") + like_content[content];
    }
    const char *rename = url < URLS && content < CONTENTS ? "rename them" : "rename it";
    return lacks + "; it has " + has + ", which may be what is meant: " + rename + ", or give" +
           give;
}

/* What to say where these fields may be meant for `url` or `content` or both. The reason for a dead
 * letter is kept by its address, so that all texts are made once, and last. */
static const char *suggestion(int url, int content)
{
    static const struct suggestions {
        std::string of[URLS + 1][CONTENTS + 1];
        suggestions()
        {
            for (int u = 0; u <= URLS; u++)
                for (int c = 0; c <= CONTENTS; c++)
                    of[u][c] = suggest(u, c);
        }
    } all;
    return all.of[url][content].c_str();
}

static const char *lacks_url(const reader *r, const struct sp_page_record *page)
{
    if (r->names[URL] != "url")
        return "the line has no field of the name that --id-field gives";
    if (r->url_like == URLS)
        return "the line has no \"url\", nor a field that looks like an id: --id-field NAME names "
               "one; `samepage dedup` reads documents without ids";
    return suggestion(r->url_like, page->content.data ? (int)CONTENTS : r->content_like);
}

/* A dataset's `id` and `text` may be other things if there is a `url` or a `content`, which may
 * come later; so only what is still missing at the end makes them wrong. */
static const char *read_id(reader *r, bool named, ondemand::value value, struct sp_view *ret)
{
    struct sp_view id = {nullptr, 0};
    bool good = get_id(r, value, &id);
    r->bad_id |= !good && !named;
    if (id.len > 0 || !ret->data)
        *ret = id;
    return good || !named      ? nullptr
           : r->fields->any_id ? "the id is not a string or a whole number"
                               : "url is not a string";
}

static const char *read_content(reader *r, bool named, ondemand::value value, struct sp_view *ret)
{
    struct sp_view text = {nullptr, 0};
    bool good = get_content(r, value, &text);
    r->bad_text |= !good && !named;
    if (text.len > 0 || !ret->data)
        *ret = text;
    return good || !named ? nullptr : "content is not a string";
}

static const char *read_field(reader *r, ondemand::field f, struct sp_page_record *page)
{
    std::string_view key;
    int64_t status = page->http_status;
    if (f.unescaped_key().get(key))
        return "a key of the object is not a string";
    ondemand::value value = f.value();
    switch (field_of(r, key, page)) {
    case URL:
        return read_id(r, key == r->names[URL], value, &page->url);
    case FETCH_TIME:
        return get_time(r, value, &page->fetch_time_ms) ? nullptr
               : r->fields->any_time ? "the time is not a number or a date of ISO 8601"
                                     : "fetch_time_ms is not a whole number or a date of ISO 8601";
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
        return read_content(r, key == r->names[CONTENT], value, &page->content);
    case FIELD_OTHER:
        if (r->names[CONTENT] == "content")
            note(like_content, CONTENTS, key, &r->content_like);
        note(like_url, URLS, key, &r->url_like);
        break;
    case FIELDS:
        break;
    }
    return nullptr;
}

static enum sp_err parse(void *parser, struct sp_view line, struct sp_page_record *ret_page,
                         const char **ret_why)
{
    reader *r = static_cast<reader *>(parser);
    ondemand::document document;
    ondemand::object object;
    *ret_page = sp_page_record{};
    ret_page->fetch_time_ms = -1;
    ret_page->http_status = 200;
    ret_page->content_is_utf8 = true;
    r->url_like = URLS;
    r->content_like = CONTENTS;
    r->bad_id = r->bad_text = false;
    *ret_why = "the line is not a JSON object";
    error_code error =
        r->json.iterate(padded_string_view(line.data, line.len, line.len + SIMDJSON_PADDING))
            .get(document);
    if (error == UTF8_ERROR)
        *ret_why = "the line is not UTF-8";
    if (error || document.get_object().get(object))
        return SP_MALFORMED;
    for (auto member : object) {
        ondemand::field f;
        if (std::move(member).get(f))
            return SP_MALFORMED;
        const char *why = read_field(r, f, ret_page);
        if (why) {
            *ret_why = why;
            return SP_MALFORMED;
        }
    }
    const char *behind;
    if (document.current_location().get(behind) != OUT_OF_BOUNDS)
        return SP_MALFORMED; /* something follows the object */
    bool no_id = r->bad_id && ret_page->url.len == 0;
    if (no_id || (r->bad_text && !ret_page->content.data)) {
        *ret_why = no_id ? "the id is not a string or a whole number" : "text is not a string";
        return SP_MALFORMED;
    }
    if (r->content_like < CONTENTS)
        ret_page->content_like = suggestion(URLS, r->content_like);
    if (r->names[CONTENT] != "content")
        ret_page->content_like = "the page has no field of the name that --text-field gives";
    if (ret_page->url.len == 0) {
        *ret_why = lacks_url(r, ret_page);
        return SP_NO_URL;
    }
    return SP_OK;
}

static bool is_utf8(struct sp_view text)
{
    return validate_utf8(text.data, text.len);
}

extern "C" const struct sp_json_ops SP_JSON_OPS = {make, release, parse, is_utf8};

/* See cdxj.h. */
#include "archive/cdxj.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/json_write.h"
#include "input/header.h"

enum { PARAMETERS_MOST = 256 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static void put_lower(struct sp_buf *out, struct sp_view text)
{
    char *to = sp_buf_reserve(out, text.len + 1);
    for (size_t i = 0; i < text.len; i++) /* a key has no spaces and no line breaks */
        to[i] = (unsigned char)text.data[i] <= ' ' ? '+' : lower(text.data[i]);
    out->len += text.len;
}

static bool drop(struct sp_view *text, const char *prefix)
{
    size_t n = strlen(prefix);
    if (text->len < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (lower(text->data[i]) != prefix[i])
            return false;
    *text = sp_view(text->data + n, text->len - n);
    return true;
}

/* Removes "www.", "www2." and so on, as the surt library does. */
static struct sp_view without_www(struct sp_view host)
{
    struct sp_view rest = host;
    if (!drop(&rest, "www"))
        return host;
    while (rest.len > 0 && rest.data[0] >= '0' && rest.data[0] <= '9')
        rest = sp_view(rest.data + 1, rest.len - 1);
    return drop(&rest, ".") && rest.len > 0 ? rest : host;
}

static void put_host(struct sp_buf *out, struct sp_view authority, bool https)
{
    struct sp_view rest = authority, host = sp_view_cut(&rest, ":");
    host = without_www(host);
    for (size_t end = host.len; end > 0;) {
        size_t start = end;
        while (start > 0 && host.data[start - 1] != '.')
            start--;
        put_lower(out, sp_view(host.data + start, end - start));
        end = start > 0 ? start - 1 : 0;
        if (start > 0)
            sp_buf_put_u8(out, ',');
    }
    if (rest.len > 1 && !sp_view_eq(rest, https ? sp_view_str(":443") : sp_view_str(":80")))
        put_lower(out, rest);
    sp_buf_put_u8(out, ')');
}

static int by_bytes(const void *a, const void *b)
{
    const struct sp_view *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int order = n ? memcmp(x->data, y->data, n) : 0;
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Appends the parameters, which are in lower case, in sorted order. If there are more than
 * PARAMETERS_MOST, they keep their order. */
static void put_query(struct sp_buf *out, struct sp_view query)
{
    struct sp_view parts[PARAMETERS_MOST], rest = query;
    size_t n = 0;
    for (bool more = true; more && n < PARAMETERS_MOST; n++) {
        parts[n] = sp_view_cut(&rest, "&");
        more = drop(&rest, "&");
    }
    if (rest.len > 0) {
        sp_buf_put_view(out, query);
        return;
    }
    qsort(parts, n, sizeof *parts, by_bytes);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            sp_buf_put_u8(out, '&');
        sp_buf_put_view(out, parts[i]);
    }
}

/* Appends the path in lower case, without repeated slashes. */
static void put_path(struct sp_buf *out, struct sp_view path)
{
    size_t start = 0;
    for (size_t i = 0; i < path.len; i++)
        if (path.data[i] == '/' && i > 0 && path.data[i - 1] == '/') {
            put_lower(out, sp_view(path.data + start, i - start));
            start = i + 1;
        }
    put_lower(out, path.len ? sp_view(path.data + start, path.len - start) : sp_view_str("/"));
}

void sp_cdxj_key(struct sp_view url, struct sp_buf *out)
{
    struct sp_buf query = {0};
    struct sp_view rest = url;
    bool https = drop(&rest, "https://");
    if (!https && !drop(&rest, "http://")) {
        put_lower(out, url);
        return;
    }
    struct sp_view authority = sp_view_cut(&rest, "/?#"), path = sp_view_cut(&rest, "?#"),
                   user = authority;
    sp_view_cut(&user, "@");
    if (drop(&user, "@"))
        authority = user;
    put_host(out, authority, https);
    while (path.len > 1 && path.data[path.len - 1] == '/')
        path.len--;
    put_path(out, path);
    if (drop(&rest, "?")) {
        put_lower(&query, sp_view_cut(&rest, "#"));
        if (query.len > 0) {
            sp_buf_put_u8(out, '?');
            put_query(out, sp_buf_view(&query));
        }
    }
    sp_buf_done(&query);
}

static void put_member(struct sp_buf *out, const char *name, struct sp_view value)
{
    if (value.len == 0)
        return;
    sp_buf_put_str(out, name);
    sp_json_put_string(out, value);
}

/* Appends the 14 digits of a WARC-Date (2020-01-31T10:20:30Z); missing digits are 0. */
static void put_stamp(struct sp_buf *out, struct sp_view date)
{
    char digits[15] = "00000000000000";
    size_t n = 0;
    for (size_t i = 0; i < date.len && n < 14; i++)
        if (date.data[i] >= '0' && date.data[i] <= '9')
            digits[n++] = date.data[i];
    sp_buf_put(out, digits, 14);
}

void sp_cdxj_line(const struct sp_cdxj *r, struct sp_buf *out)
{
    char text[96], name[SP_SEGMENT_NAME_BYTES];
    sp_cdxj_key(r->url, out);
    sp_buf_put_u8(out, ' ');
    put_stamp(out, r->date);
    sp_buf_put_str(out, " {\"url\": ");
    sp_json_put_string(out, r->url);
    put_member(out, ", \"mime\": ", r->mime);
    put_member(out, ", \"status\": ", r->status);
    put_member(out, ", \"digest\": ", r->digest);
    snprintf(text, sizeof text, ", \"length\": \"%llu\", \"offset\": \"%llu\", \"filename\": ",
             (unsigned long long)r->length, (unsigned long long)r->place.offset);
    sp_buf_put_str(out, text);
    sp_segment_name(r->place.segment, name);
    sp_json_put_string(out, sp_view_str(name));
    sp_buf_put_str(out, "}\n");
}

/* Returns the value of the last member of that name: digits, or a name without escapes. */
static struct sp_view last_value(struct sp_view line, const char *member)
{
    size_t n = strlen(member);
    for (size_t at = line.len; at > n; at--)
        if (memcmp(line.data + at - n, member, n) == 0) {
            struct sp_view rest = sp_view(line.data + at, line.len - at);
            return sp_view_cut(&rest, "\"");
        }
    return sp_view(line.data, 0);
}

static bool place_of(struct sp_view line, struct sp_place *ret_place)
{
    struct sp_buf place = {0};
    sp_buf_put_view(&place, last_value(line, "\"filename\": \""));
    sp_buf_put_u8(&place, '@');
    sp_buf_put_view(&place, last_value(line, "\"offset\": \""));
    bool good = sp_place_parse(sp_buf_view(&place), ret_place);
    sp_buf_done(&place);
    return good;
}

bool sp_cdxj_member(struct sp_view line, struct sp_place *ret_place, uint64_t *ret_length)
{
    return place_of(line, ret_place) &&
           sp_header_number(last_value(line, "\"length\": \""), ret_length);
}

bool sp_cdxj_place(struct sp_view line, struct sp_view url, struct sp_place *ret_place)
{
    struct sp_buf start = {0};
    sp_cdxj_key(url, &start);
    size_t key = start.len;
    sp_buf_put_str(&start, " {\"url\": ");
    sp_json_put_string(&start, url);
    size_t stamp = 15, rest = start.len - key; /* of the line, after the time stamp */
    bool good = line.len >= start.len + stamp && memcmp(line.data, start.data, key) == 0 &&
                memcmp(line.data + key + stamp, start.data + key, rest) == 0;
    good = good && place_of(line, ret_place);
    sp_buf_done(&start);
    return good;
}

/* Canonical URLs and relative references, with the examples of RFC 3986, section 5.4. */
#include "base/url.h"
#include "harness.h"

static bool canonical_is(const char *url, const char *expected)
{
    struct sp_buf out = {0};
    enum sp_err err = sp_url_canonical(sp_view_str(url), &out);
    bool same = expected ? err == SP_OK && sp_view_eq(sp_buf_view(&out), sp_view_str(expected))
                         : err == SP_NO_URL && out.len == 0;
    sp_buf_done(&out);
    return same;
}

TEST(canonical_urls_touch_only_what_is_safe)
{
    CU_ASSERT(canonical_is("HTTP://Example.COM:80/A/b?Q=1#top", "http://example.com/A/b?Q=1"));
    CU_ASSERT(canonical_is("https://example.com", "https://example.com/"));
    CU_ASSERT(canonical_is("https://example.com:443?x", "https://example.com/?x"));
    CU_ASSERT(canonical_is("http://example.com:8080/", "http://example.com:8080/"));
    CU_ASSERT(canonical_is("ftp://Me@Example.com:/x", "ftp://Me@example.com/x"));
}

TEST(urls_without_scheme_or_host_are_refused)
{
    CU_ASSERT(canonical_is("", NULL));
    CU_ASSERT(canonical_is("example.com/x", NULL));
    CU_ASSERT(canonical_is("mailto:x@example.com", NULL));
    CU_ASSERT(canonical_is("http://", NULL));
    CU_ASSERT(canonical_is("http:///x", NULL));
    CU_ASSERT(canonical_is("http://a b/", NULL));
    CU_ASSERT(canonical_is("http://a/\n", NULL));
    char *huge = sp_alloc(SP_URL_MAX_BYTES + 2);
    memset(huge, 'a', SP_URL_MAX_BYTES + 1);
    memcpy(huge, "http://", 7);
    huge[SP_URL_MAX_BYTES + 1] = 0;
    CU_ASSERT(canonical_is(huge, NULL));
    sp_free(huge);
}

TEST(references_resolve_as_in_rfc_3986)
{
    static const char *const cases[][2] = {
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"https://h/x", "https://h/x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_buf out = {0};
        CU_ASSERT(sp_url_resolve(sp_view_str("http://a/b/c/d;p?q"), sp_view_str(cases[i][0]),
                                 &out) == SP_OK);
        CU_ASSERT(sp_view_eq(sp_buf_view(&out), sp_view_str(cases[i][1])));
        sp_buf_done(&out);
    }
    struct sp_buf out = {0};
    CU_ASSERT(sp_url_resolve(sp_view_str("x"), sp_view_str("y"), &out) == SP_NO_URL);
    CU_ASSERT(out.len == 0);
}

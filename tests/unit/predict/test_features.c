/* Which URLs make a pair, and by which feature. */
#include "harness.h"
#include "predict/features.h"

/* Whether the two make a pair by a feature of this kind; SP_FEATURE_KINDS: of any kind. */
static bool are_pair(const char *a, const char *b, enum sp_feature_kind kind)
{
    struct sp_feature x[SP_PREDICT_FEATURES], y[SP_PREDICT_FEATURES];
    size_t n = sp_features(sp_view_str(a), x), m = sp_features(sp_view_str(b), y);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            if (x[i].kind == y[k].kind && sp_id_eq(x[i].rest, y[k].rest) &&
                (kind == SP_FEATURE_KINDS || x[i].kind == kind))
                return sp_view_eq(x[i].name, y[k].name);
    return false;
}

TEST(pairs_differ_in_one_feature)
{
    CU_ASSERT_TRUE(are_pair("http://a.example/x", "https://a.example/x", SP_FEATURE_SCHEME));
    CU_ASSERT_TRUE(are_pair("http://a.example/x", "http://b.example/x", SP_FEATURE_HOST));
    CU_ASSERT_TRUE(
        are_pair("http://a.example/X/y?A=b", "http://a.example/x/Y?a=B", SP_FEATURE_CASE));
    CU_ASSERT_TRUE(are_pair("http://a.example/x/", "http://a.example/x", SP_FEATURE_INDEX));
    CU_ASSERT_TRUE(
        are_pair("http://a.example/x/", "http://a.example/x/index.html", SP_FEATURE_INDEX));
    CU_ASSERT_TRUE(
        are_pair("http://a.example/d/x.html.en", "http://a.example/d/x", SP_FEATURE_EXTENSION));
    CU_ASSERT_TRUE(
        are_pair("http://a.example/x?a=1&b=2", "http://a.example/x?b=2&a=3", SP_FEATURE_PARAMETER));
    CU_ASSERT_TRUE(
        are_pair("http://a.example/x?a=1&b=2", "http://a.example/x?a=3&b=4", SP_FEATURE_QUERY));
    CU_ASSERT_TRUE(are_pair("http://a.example/d/v1/x.html", "http://a.example/d/v2/x.html",
                            SP_FEATURE_SEGMENT));
    CU_ASSERT_TRUE(
        are_pair("http://a.example/x;s=1?q", "http://a.example/x?q", SP_FEATURE_SESSION));
}

TEST(others_are_no_pairs)
{
    CU_ASSERT_FALSE(are_pair("http://a.example/x/1", "http://b.example/x/2", SP_FEATURE_KINDS));
    CU_ASSERT_FALSE(
        are_pair("http://a.example/x/1?a=1", "http://a.example/x/2?a=2", SP_FEATURE_KINDS));
    CU_ASSERT_FALSE(are_pair("http://a.example/a/b/c", "http://a.example/a/c/b", SP_FEATURE_KINDS));
    CU_ASSERT_FALSE(are_pair("http://a.example/a/b", "http://a.example/a/b/c", SP_FEATURE_KINDS));
    CU_ASSERT_FALSE(are_pair("mailto:x", "mailto:x", SP_FEATURE_KINDS));
    CU_ASSERT_FALSE(are_pair("", "", SP_FEATURE_KINDS));
    CU_ASSERT_FALSE(are_pair("http://", "http://", SP_FEATURE_KINDS));
}

TEST(a_url_without_a_parameter_is_found_by_one_with_it)
{
    struct sp_feature f[SP_PREDICT_FEATURES];
    size_t n = sp_features(sp_view_str("http://a.example/x?a=1&sid=2"), f);
    struct sp_id bare = sp_features_bare(sp_view_str("http://a.example/x?a=1"));
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += f[i].kind == SP_FEATURE_PARAMETER && sp_id_eq(f[i].bare, bare) &&
                 sp_view_eq(f[i].name, sp_view_str("sid"));
    CU_ASSERT_EQUAL(found, 1);
}

/* The number of features is limited, for URLs of any length. */
TEST(features_are_bounded)
{
    struct sp_feature f[SP_PREDICT_FEATURES];
    struct sp_buf url = {0};
    sp_buf_put_str(&url, "http://a.example");
    for (int i = 0; i < 300; i++)
        sp_buf_put_str(&url, "/s");
    for (int i = 0; i < 300; i++)
        sp_buf_put_str(&url, i ? "&p=1" : "?p=1");
    size_t n = sp_features(sp_buf_view(&url), f);
    CU_ASSERT_TRUE(n > 20 && n <= SP_PREDICT_FEATURES);
    for (size_t len = 0; len < url.len; len += 7) /* cut at any byte */
        CU_ASSERT_TRUE(sp_features(sp_view(url.data, len), f) <= SP_PREDICT_FEATURES);
    sp_buf_done(&url);
}

/* The features of a URL. Private to this folder. */
#ifndef SP_PREDICT_FEATURES_H
#define SP_PREDICT_FEATURES_H

#include "predict/predict.h"

struct sp_feature {
    enum sp_feature_kind kind;
    struct sp_id rest; /* the URL without the feature; equal for both URLs of a pair */
    struct sp_id bare; /* of a parameter: sp_features_bare of the URL without it; otherwise zero */
    struct sp_view name;
    struct sp_view value;
};

/* The features of a canonical URL: views into it, or into `number` for a segment's name. At most
 * SP_PREDICT_FEATURES; further parameters and segments are ignored. Returns 0 for doc:ID,
 * which has no parts. */
size_t sp_features(struct sp_view url, struct sp_feature ret_features[SP_PREDICT_FEATURES]);

/* The key under which URLs with one more parameter find the page. */
struct sp_id sp_features_bare(struct sp_view url);

/* The host with its port; empty if there is none. */
struct sp_view sp_feature_host(struct sp_view url);

#endif

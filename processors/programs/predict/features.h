/* The features of a URL. Private to this folder. */
#ifndef SP_PREDICT_FEATURES_H
#define SP_PREDICT_FEATURES_H

#include "predict/predict.h"

struct sp_feature {
    enum sp_feature_kind kind;
    struct sp_id rest; /* the URL without it: equal ones make a pair */
    struct sp_id bare; /* of a parameter: sp_features_bare of the URL without it; else zero */
    struct sp_view name;
    struct sp_view value;
};

/* Of a canonical URL; views into it, or into `number` for a segment's name. At most
 * SP_PREDICT_FEATURES: of more parameters and segments the first count. 0: it is not one of http or
 * https. */
size_t sp_features(struct sp_view url, struct sp_feature ret_features[SP_PREDICT_FEATURES]);

/* Under this a page is found by those that have one parameter more. */
struct sp_id sp_features_bare(struct sp_view url);

/* The host, port included; empty where there is none. */
struct sp_view sp_feature_host(struct sp_view url);

#endif

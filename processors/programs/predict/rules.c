/* Prints rules: names, order, JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "predict/predict.h"

static const char *const names[SP_FEATURE_KINDS] = {
    "scheme", "host", "case", "index", "extension", "query", "parameter", "segment", "session"};

enum sp_feature_kind sp_rule_kind(const char *name)
{
    enum sp_feature_kind kind = 0;
    while (kind < SP_FEATURE_KINDS && strcmp(names[kind], name) != 0)
        kind++;
    return kind;
}

/* The lower end of the 95 % confidence interval of the true share (Wilson 1927). */
double sp_rule_confidence(const struct sp_rule *rule)
{
    const double z = 1.96;
    double n = rule->support + rule->against;
    if (n <= 0)
        return 0;
    double p = rule->support / n, middle = p + z * z / (2 * n);
    double width = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return fmax(0, (middle - width) / (1 + z * z / n));
}

void sp_rule_put(struct sp_buf *out, const struct sp_rule *rule)
{
    sp_buf_put_str(out, "{\"host\":");
    sp_json_put_text(out, rule->host);
    sp_buf_put_str(out, ",\"kind\":");
    sp_json_put_text(out, names[rule->kind]);
    sp_buf_put_str(out, ",\"name\":");
    sp_json_put_text(out, rule->name);
    sp_buf_put_str(out, ",\"from\":");
    sp_json_put_text(out, rule->any ? NULL : rule->from);
    sp_buf_put_str(out, ",\"to\":");
    sp_json_put_text(out, rule->any ? NULL : rule->to);
    sp_buf_put_str(out, ",\"confidence\":");
    sp_json_put_float(out, (float)sp_rule_confidence(rule));
    sp_buf_put_str(out, ",\"support\":");
    sp_json_put_i64(out, (int64_t)rule->pairs[1]);
    sp_buf_put_str(out, ",\"against\":");
    sp_json_put_i64(out, (int64_t)rule->pairs[0]);
    sp_buf_put_str(out, ",\"example\":[");
    sp_json_put_text(out, rule->example[0]);
    sp_buf_put_u8(out, ',');
    sp_json_put_text(out, rule->example[1]);
    sp_buf_put_str(out, "],\"recent_support\":");
    sp_json_put_float(out, (float)rule->support);
    sp_buf_put_str(out, ",\"recent_against\":");
    sp_json_put_float(out, (float)rule->against);
    sp_buf_put_str(out, "}\n");
}

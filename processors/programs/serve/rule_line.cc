/* See rule_line.h. A topic can contain anything, so every member is checked. */
#include "serve/rule_line.h"

#include <cmath>
#include <simdjson.h>

using namespace simdjson;

struct sp_rule_reader {
    dom::parser parser;
};

static const double EVIDENCE_MAX = 1e9; /* more than any rule has: evidence fades */

sp_rule_reader *sp_rule_reader_new(void)
{
    return new sp_rule_reader;
}

void sp_rule_reader_free(sp_rule_reader *reader)
{
    delete reader;
}

void sp_rule_done(struct sp_rule *rule)
{
    char *const texts[] = {rule->host, rule->name,       rule->from,
                           rule->to,   rule->example[0], rule->example[1]};
    for (char *text : texts)
        sp_free(text);
}

/* False: it is neither a text without NUL nor, where that is allowed, null. */
static bool read_text(simdjson_result<dom::element> member, bool can_be_null, char **ret_text)
{
    std::string_view text;
    dom::element element;
    if (member.get(element))
        return false;
    if (element.is_null())
        return can_be_null;
    if (element.get_string().get(text) || text.find('\0') != std::string_view::npos)
        return false;
    *ret_text = sp_view_dup(sp_view(text.data(), text.size()));
    return true;
}

static bool read_evidence(simdjson_result<dom::element> member, double *ret_pairs)
{
    return !member.get_double().get(*ret_pairs) && *ret_pairs >= 0 && *ret_pairs <= EVIDENCE_MAX;
}

static bool read_kind(simdjson_result<dom::element> member, enum sp_feature_kind *ret_kind)
{
    const char *text;
    if (member.get_c_str().get(text))
        return false;
    *ret_kind = sp_rule_kind(text);
    return *ret_kind != SP_FEATURE_KINDS;
}

static bool read_members(dom::object line, struct sp_rule *r)
{
    bool good = read_kind(line["kind"], &r->kind) && read_text(line["host"], false, &r->host) &&
                read_text(line["name"], false, &r->name) &&
                read_text(line["from"], true, &r->from) && read_text(line["to"], true, &r->to) &&
                !r->from == !r->to;
    r->any = !r->from;
    return good && read_text(line["example"].at(0), true, &r->example[0]) &&
           read_text(line["example"].at(1), true, &r->example[1]) &&
           !line["support"].get_uint64().get(r->pairs[1]) &&
           !line["against"].get_uint64().get(r->pairs[0]) &&
           read_evidence(line["recent_support"], &r->support) &&
           read_evidence(line["recent_against"], &r->against);
}

enum sp_err sp_rule_read(sp_rule_reader *reader, struct sp_view line, struct sp_rule *ret_rule)
{
    struct sp_rule rule = {};
    dom::object object;
    if (!reader->parser.parse(line.data, line.len).get_object().get(object) &&
        read_members(object, &rule)) {
        *ret_rule = rule;
        return SP_OK;
    }
    sp_rule_done(&rule);
    return SP_MALFORMED;
}

/* Lists of what was removed, kept or put together, as deduplicators write them; by simdjson. */
#include <cstring>
#include <simdjson.h>
#include <string>

#include "audit/internal.h"

using namespace simdjson;

namespace
{

struct lines {
    dom::parser parser;
    std::string id_field;
    std::string text_field;
    std::string padded;
    uint64_t arrays = 0; /* clusters without a name are numbered */
};

struct texts {
    std::string id, survivor, cluster;
    uint64_t text = 0;
    enum sp_audit_said said = SP_AUDIT_LISTED;
};

/* A text, or a number as it is written. */
std::string text_of(dom::element e)
{
    std::string_view s;
    if (!e.get_string().get(s))
        return std::string(s);
    if (e.is_number())
        return simdjson::to_string(e);
    return {};
}

template <size_t N> std::string first_of(dom::object o, const char *const (&names)[N])
{
    for (const char *name : names) {
        dom::element e;
        if (!o[name].get(e)) {
            std::string text = text_of(e);
            if (!text.empty())
                return text;
        }
    }
    return {};
}

std::string id_of(const lines *l, dom::element e)
{
    dom::object o;
    if (e.get_object().get(o))
        return text_of(e);
    const char *const names[] = {l->id_field.c_str(), "id", "url"};
    return first_of(o, names);
}

/* The hash of the document in the line, if it is there. */
uint64_t hash_of(const lines *l, dom::object o)
{
    const char *const names[] = {l->text_field.c_str(), "content", "text"};
    std::string_view text;
    for (const char *name : names)
        if (*name && !o[name].get_string().get(text))
            return sp_audit_text_hash(sp_view(text.data(), text.size()));
    return 0;
}

enum sp_audit_said said_of(dom::object o)
{
    dom::element winner;
    std::string_view status, reason;
    if (o["winner_url"].get(winner))
        return SP_AUDIT_LISTED;
    if (o["status"].get_string().get(status))
        return SP_AUDIT_STATUS;
    if (status == "unique" || status == "winner")
        return SP_AUDIT_STATUS_KEPT;
    bool redirect = !o["reason"].get_string().get(reason) && reason == "redirect";
    return status == "loser" && !redirect ? SP_AUDIT_STATUS_REMOVED : SP_AUDIT_STATUS_NEITHER;
}

struct sp_view view(const std::string &s)
{
    return sp_view(s.data(), s.size());
}

} // namespace

extern "C" void *sp_audit_lines_new(const char *id_field, const char *text_field)
{
    lines *l = new lines;
    l->id_field = id_field;
    l->text_field = text_field;
    return l;
}

extern "C" void sp_audit_lines_free(void *state)
{
    delete static_cast<lines *>(state);
}

extern "C" bool sp_audit_lines_read(void *state, const char *line, size_t len,
                                    void (*each)(void *arg, const struct sp_audit_entry *entry),
                                    void *arg)
{
    static const char *const survivors[] = {"kept", "survivor", "duplicate_of", "winner_url"};
    static const char *const clusters[] = {"cluster", "cluster_id", "__cluster__",
                                           "minhash_cluster_id"};
    lines *l = static_cast<lines *>(state);
    dom::element e;
    dom::array array;
    dom::object o, metadata;
    bool named = false;
    auto give = [&](const texts &t) {
        sp_audit_entry entry = {view(t.id), view(t.survivor), view(t.cluster), t.text, t.said};
        if (t.id.empty())
            return;
        named = true;
        each(arg, &entry);
    };
    if (l->parser.parse(line, len).get(e)) {
        give({std::string(line, len)});
        return named;
    }
    if (!e.get_array().get(array)) {
        std::string cluster = "line " + std::to_string(++l->arrays);
        for (dom::element member : array)
            give({id_of(l, member), {}, cluster});
        return named || array.size() == 0;
    }
    if (e.get_object().get(o)) {
        give({text_of(e)});
        return named;
    }
    if (!o["removed"].get_array().get(array)) {
        std::string kept = first_of(o, survivors);
        give({kept, {}, kept, 0, SP_AUDIT_HEAD});
        for (dom::element member : array)
            give({id_of(l, member), kept, kept});
        return named;
    }
    texts t = {id_of(l, e), first_of(o, survivors), first_of(o, clusters), hash_of(l, o),
               said_of(o)};
    if (t.cluster.empty() && !o["metadata"].get_object().get(metadata))
        t.cluster = first_of(metadata, clusters);
    give(t);
    return named;
}

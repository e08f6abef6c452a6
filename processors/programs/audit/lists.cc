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
    std::string padded;
    uint64_t arrays = 0; /* clusters without a name are numbered */
};

struct texts {
    std::string id, survivor, cluster;
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

struct sp_view view(const std::string &s)
{
    return sp_view(s.data(), s.size());
}

} // namespace

extern "C" void *sp_audit_lines_new(const char *id_field)
{
    lines *l = new lines;
    l->id_field = id_field;
    return l;
}

extern "C" void sp_audit_lines_free(void *state)
{
    delete static_cast<lines *>(state);
}

extern "C" void sp_audit_lines_read(void *state, const char *line, size_t len,
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
    auto give = [&](const texts &t) {
        sp_audit_entry entry = {view(t.id), view(t.survivor), view(t.cluster)};
        if (!t.id.empty())
            each(arg, &entry);
    };
    if (l->parser.parse(line, len).get(e)) {
        give({std::string(line, len), {}, {}});
        return;
    }
    if (!e.get_array().get(array)) {
        std::string cluster = "line " + std::to_string(++l->arrays);
        for (dom::element member : array)
            give({id_of(l, member), {}, cluster});
        return;
    }
    if (e.get_object().get(o)) {
        give({text_of(e), {}, {}});
        return;
    }
    if (!o["removed"].get_array().get(array)) {
        std::string kept = first_of(o, survivors);
        give({kept, {}, kept});
        for (dom::element member : array)
            give({id_of(l, member), kept, kept});
        return;
    }
    texts t = {id_of(l, e), first_of(o, survivors), first_of(o, clusters)};
    if (t.cluster.empty() && !o["metadata"].get_object().get(metadata))
        t.cluster = first_of(metadata, clusters);
    give(t);
}

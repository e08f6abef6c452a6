/* The audit as JSON. */
#include <errno.h>
#include <stdio.h>

#include "audit/internal.h"
#include "base/json_write.h"

static void put_count(struct sp_buf *out, const char *name, uint64_t n)
{
    char text[64];
    snprintf(text, sizeof text, "%s\"%s\":%llu", out->data[out->len - 1] == '{' ? "" : ",", name,
             (unsigned long long)n);
    sp_buf_put_str(out, text);
}

static void put_list(struct sp_buf *out, const char *name)
{
    sp_buf_put_str(out, ",\"");
    sp_buf_put_str(out, name);
    sp_buf_put_str(out, "\":[");
}

static void put_sources(struct sp_buf *out, const struct sp_audit *a)
{
    put_list(out, "sources");
    for (uint32_t i = 0; i < a->source_count; i++) {
        const struct sp_audit_source *s = &a->sources[i];
        sp_buf_put_str(out, i ? ",{\"source\":" : "{\"source\":");
        sp_json_put_text(out, a->ids.data + s->name);
        put_count(out, "documents", s->documents);
        put_count(out, "removed", s->removed);
        put_count(out, "lost", s->unjustified);
        put_count(out, "bytes", s->bytes);
        put_count(out, "removed_bytes", s->removed_bytes);
        sp_buf_put_u8(out, '}');
    }
    sp_buf_put_u8(out, ']');
}

static void put_bins(struct sp_buf *out, const struct sp_audit *a)
{
    put_list(out, "removed_by_similarity");
    for (int i = 0; i <= SP_AUDIT_BINS; i++) {
        sp_buf_put_str(out, i ? ",{\"from\":" : "{\"from\":");
        sp_json_put_double(out, (double)i / SP_AUDIT_BINS);
        put_count(out, "documents", a->bins[i]);
        sp_buf_put_u8(out, '}');
    }
    sp_buf_put_u8(out, ']');
}

static void put_counts(struct sp_buf *out, const struct sp_audit *a)
{
    const struct sp_audit_result *r = a->result;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < a->cluster_count; i++)
        largest = a->clusters[i].size > largest ? a->clusters[i].size : largest;
    put_count(out, "documents", r->documents);
    put_count(out, "dead_letters", r->dead_letters);
    put_count(out, "bytes", r->bytes);
    put_count(out, "removed", r->removed);
    put_count(out, "removed_bytes", r->removed_bytes);
    put_count(out, "removed_rightly", r->right);
    put_count(out, "removed_in_chains", r->by_chain);
    put_count(out, "removed_wrongly", r->wrong);
    put_count(out, "removed_without_words", r->wordless);
    put_count(out, "survivors_named", r->survivor_known);
    put_count(out, "survivors_unknown", r->survivor_unknown);
    put_count(out, "survivors_removed", r->survivor_gone);
    put_count(out, "survivors_unlike", r->survivor_unlike);
    put_count(out, "missed_documents", r->missed);
    put_count(out, "missed_pairs", r->missed_pairs);
    put_count(out, "unknown_ids", r->unknown);
    put_count(out, "ambiguous_ids", r->ambiguous);
    put_count(out, "superseded", r->superseded);
    put_count(out, "clusters", r->clusters);
    put_count(out, "clusters_lost", r->clusters_lost);
    put_count(out, "largest_cluster", largest);
}

enum sp_err sp_audit_summary(struct sp_audit *a, struct sp_fault *fault)
{
    const char *name = a->options->json;
    struct sp_buf out = {0};
    bool to_stdout = strcmp(name, "-") == 0;
    FILE *file = to_stdout ? stdout : fopen(name, "w");
    sp_buf_put_u8(&out, '{');
    put_counts(&out, a);
    sp_buf_put_str(&out, ",\"threshold\":");
    sp_json_put_double(&out, a->options->similarity.threshold);
    if (a->result->missed_pairs_at_least)
        sp_buf_put_str(&out, ",\"missed_pairs_at_least\":true");
    put_bins(&out, a);
    put_sources(&out, a);
    sp_buf_put_str(&out, "}\n");
    bool good = file && fwrite(out.data, 1, out.len, file) == out.len;
    if (file)
        good &= (to_stdout ? fflush(file) : fclose(file)) == 0;
    sp_buf_done(&out);
    return good ? SP_OK
                : sp_fault_set(fault, SP_IO, "%s: cannot be written: %s", name, strerror(errno));
}

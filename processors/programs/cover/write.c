/* See write.h. */
#include "cover/write.h"

#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "relation/relation.h"

enum { BLOCK_BYTES = 1 << 18, MEASURES = 4 };

struct writer {
    const struct sp_documents *documents;
    const struct sp_relation *relation;
    struct sp_node measures[MEASURES]; /* the relation's measures, each once */
    const char *names[MEASURES];
    size_t measure_count;
    struct sp_buf lines;
};

static void note_measures(struct writer *w, const struct sp_node *n)
{
    for (size_t i = 0; i < 2; i++)
        if (n->kid[i])
            note_measures(w, n->kid[i]);
    if (!sp_op_measures(n->op))
        return;
    bool turned = n->op == SP_OP_CONTAINMENT && n->document == 1;
    const char *name = turned ? "containment_of_by" : sp_op_text(n->op);
    for (size_t i = 0; i < w->measure_count; i++)
        if (strcmp(w->names[i], name) == 0)
            return;
    w->names[w->measure_count] = name;
    w->measures[w->measure_count++] = *n;
}

static void put_document(struct writer *w, const char *prefix, uint32_t i)
{
    static const char *const names[] = {"record\":", "url\":", "fetch_time_ms\":"};
    int64_t time_ms;
    struct sp_view url = sp_document_url(w->documents, i, &time_ms);
    for (size_t f = 0; f < 3; f++) {
        sp_buf_put_str(&w->lines, f || *prefix ? ",\"" : "{\"");
        sp_buf_put_str(&w->lines, prefix);
        sp_buf_put_str(&w->lines, names[f]);
        if (f == 1)
            sp_json_put_string(&w->lines, url);
        else if (f == 2 && time_ms < 0)
            sp_buf_put_str(&w->lines, "null");
        else
            sp_json_put_i64(&w->lines, f ? time_ms : (int64_t)w->documents->items[i].number);
    }
}

static void put_dropped(struct writer *w, uint32_t i, uint32_t by, uint32_t overlap)
{
    struct sp_relation_pair pair = sp_documents_pair(w->documents, i, by, overlap);
    SP_ASSERT(sp_relation_holds(w->relation->root, &pair));
    sp_buf_put_str(&w->lines, ",\"status\":\"dropped\"");
    put_document(w, "by_", by);
    for (size_t m = 0; m < w->measure_count; m++) {
        sp_buf_put_str(&w->lines, ",\"");
        sp_buf_put_str(&w->lines, w->names[m]);
        sp_buf_put_str(&w->lines, "\":");
        sp_json_put_double(&w->lines, sp_relation_number(&w->measures[m], &pair));
    }
    sp_buf_put_str(&w->lines, "}\n");
}

static void put_kept(struct writer *w, uint32_t covers)
{
    sp_buf_put_str(&w->lines, ",\"status\":\"kept\",\"covers\":");
    sp_json_put_i64(&w->lines, covers);
    sp_buf_put_str(&w->lines, "}\n");
}

static enum sp_err fail(const char *name, struct sp_fault *fault)
{
    return sp_fault_set(fault, SP_IO, "%s: cannot be written: %s", name, strerror(errno));
}

static bool flush(struct writer *w, FILE *out, size_t least)
{
    if (w->lines.len < least)
        return true;
    bool good =
        !out || !w->lines.len || fwrite(w->lines.data, 1, w->lines.len, out) == w->lines.len;
    sp_buf_reset(&w->lines);
    return good;
}

enum sp_err sp_cover_write(const struct sp_write_options *o, const struct sp_decisions *decisions,
                           struct sp_write_stats *stats, struct sp_fault *fault)
{
    const struct sp_documents *documents = o->documents;
    struct writer w = {.documents = documents, .relation = o->relation};
    bool to_file = o->output && strcmp(o->output, "-") != 0, good = true;
    FILE *out = to_file ? fopen(o->output, "w") : o->output ? stdout : NULL;
    if (to_file && !out)
        return fail(o->output, fault);
    uint32_t *covers = sp_calloc(documents->count + 1, sizeof *covers);
    note_measures(&w, o->relation->root);
    for (size_t i = 0; i < documents->count; i++)
        if (decisions->covered_by[i] < SP_LEFT_OUT)
            covers[decisions->covered_by[i]]++;
    for (uint32_t i = 0; i < documents->count && good; i++) {
        bool kept = decisions->covered_by[i] == SP_KEPT;
        put_document(&w, "", i);
        if (decisions->covered_by[i] == SP_LEFT_OUT)
            sp_buf_put_str(&w.lines, ",\"status\":\"left_out\"}\n");
        else if (kept)
            put_kept(&w, covers[i]);
        else
            put_dropped(&w, i, decisions->covered_by[i], decisions->overlap[i]);
        stats->bytes += documents->items[i].bytes;
        stats->kept += kept;
        stats->kept_bytes += kept ? documents->items[i].bytes : 0;
        good = flush(&w, out, BLOCK_BYTES);
        if (i % 4096 == 0 && o->progress)
            o->progress(o->progress_arg, i, documents->count);
    }
    good = good && flush(&w, out, 0) && (!out || fflush(out) == 0);
    enum sp_err err = good ? SP_OK : fail(o->output, fault);
    if (to_file && fclose(out) != 0 && err == SP_OK)
        err = fail(o->output, fault);
    sp_buf_done(&w.lines);
    sp_free(covers);
    return err;
}

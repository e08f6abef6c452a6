/* Decides which removals were right by what near.c found of the contents. */
#include "audit/internal.h"

/* ---- the contents ---- */

static void count_contents(struct sp_audit *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const struct sp_audit_document *d = &a->documents[i];
        struct sp_audit_content *c = &a->contents[d->content];
        if (d->superseded)
            continue;
        if (c->kept + c->removed == 0)
            c->first = i;
        if (d->removed) {
            c->removed++;
            continue;
        }
        if (c->kept++ == 0)
            c->first_kept = i;
    }
}

static void count_missed(struct sp_audit *a)
{
    for (uint32_t i = 0; i < a->content_count; i++) {
        const struct sp_audit_content *c = &a->contents[i];
        if (c->kept == 0 || a->signatures[i]->shingle_total == 0)
            continue;
        a->result->missed_pairs += (uint64_t)c->kept * (c->kept - 1) / 2;
        a->result->missed += c->kept - (c->missed ? 0 : 1);
    }
}

/* ---- the removed ---- */

/* Of the documents with that id: the kept one that the removed document resembles most; if it
 * resembles none, whichever of them is the most similar. */
static uint32_t survivor_of(const struct sp_audit *a, uint32_t removed, uint32_t id)
{
    enum { LOOKED = 64 };
    uint32_t best = id, looked = 0;
    double most = -1;
    for (uint32_t i = id; i != SP_AUDIT_NONE && most < 2 && looked++ < LOOKED;
         i = a->documents[i].next) {
        if (i == removed || a->documents[i].superseded)
            continue;
        double similarity = sp_audit_similarity(a, removed, i);
        if (!a->documents[i].removed && similarity >= a->options->similarity.threshold)
            similarity += 1;
        if (similarity > most) {
            most = similarity;
            best = i;
        }
    }
    return best;
}

static void judge_survivor(struct sp_audit *a, uint32_t document)
{
    struct sp_audit_document *d = &a->documents[document];
    struct sp_audit_cluster *c = d->cluster == SP_AUDIT_NONE ? NULL : &a->clusters[d->cluster];
    uint32_t survivor = d->survivor;
    if (survivor == SP_AUDIT_NONE && c)
        survivor = c->first_kept;
    if (survivor == SP_AUDIT_NONE)
        return;
    double similarity = sp_audit_similarity(a, document, survivor);
    bool unlike = similarity < a->options->similarity.threshold;
    a->result->survivor_known++;
    a->result->survivor_gone += a->documents[survivor].removed;
    a->result->survivor_unlike += unlike;
    if (unlike)
        sp_audit_add_example(a, SP_AUDIT_UNLIKE, document, survivor, similarity);
    if (c && similarity < c->least)
        c->least = similarity;
    if (c)
        c->unlike += unlike;
}

static void show_chain(struct sp_audit *a, uint32_t document)
{
    double similarity;
    if (a->example_count[SP_AUDIT_CHAIN] == SP_AUDIT_EXAMPLES)
        return; /* the nearest is found by comparing all */
    uint32_t nearest = sp_audit_nearest(a, a->documents[document].content, &similarity);
    if (nearest != SP_AUDIT_NONE)
        sp_audit_add_example(a, SP_AUDIT_CHAIN, document, a->contents[nearest].first, similarity);
}

static void judge_removed(struct sp_audit *a, uint32_t document)
{
    struct sp_audit_document *d = &a->documents[document];
    const struct sp_audit_content *c = &a->contents[d->content];
    struct sp_audit_source *source = &a->sources[d->source];
    double best = c->kept ? 1 : c->best;
    a->result->removed++;
    a->result->removed_bytes += d->bytes;
    source->removed++;
    source->removed_bytes += d->bytes;
    if (a->signatures[d->content]->shingle_total == 0) {
        a->result->wordless++;
        return;
    }
    if (d->survivor != SP_AUDIT_NONE)
        d->survivor = survivor_of(a, document, d->survivor);
    judge_survivor(a, document);
    a->bins[(size_t)(best * SP_AUDIT_BINS)]++;
    if (c->kept || c->right) {
        a->result->right++;
        return;
    }
    source->unjustified++;
    if (c->removed > 1 || c->alike) {
        a->result->by_chain++;
        if (c->alike)
            show_chain(a, document);
    } else {
        a->result->wrong++;
        sp_audit_add_example(
            a, SP_AUDIT_WRONG, document, d->survivor,
            d->survivor == SP_AUDIT_NONE ? 0 : sp_audit_similarity(a, document, d->survivor));
    }
}

static void count_clusters(struct sp_audit *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const struct sp_audit_document *d = &a->documents[i];
        struct sp_audit_cluster *c = d->cluster == SP_AUDIT_NONE ? NULL : &a->clusters[d->cluster];
        if (!c || d->superseded)
            continue;
        c->size++;
        if (!d->removed && c->kept++ == 0)
            c->first_kept = i;
    }
    a->result->clusters = a->cluster_count;
    /* A list of removed documents that names their clusters lacks the kept ones. */
    bool whole = a->options->clusters || a->options->kept;
    for (uint32_t i = 0; whole && a->clusters && i < a->cluster_count; i++)
        a->result->clusters_lost += a->clusters[i].kept == 0;
}

enum sp_err sp_audit_judge(struct sp_audit *a, struct sp_fault *fault)
{
    count_contents(a);
    count_clusters(a);
    enum sp_err err = sp_audit_compare(a);
    if (err != SP_OK)
        return sp_fault_set(fault, err, "the documents cannot be compared: %s", sp_err_text(err));
    count_missed(a);
    for (uint32_t i = 0; i < a->count; i++) {
        const struct sp_audit_document *d = &a->documents[i];
        a->result->bytes += d->bytes;
        a->sources[d->source].documents++;
        a->sources[d->source].bytes += d->bytes;
        a->result->superseded += d->superseded;
        if (d->removed && !d->superseded)
            judge_removed(a, i);
    }
    a->result->documents = a->count;
    return SP_OK;
}

/* See agreement.h. */
#include "kafka/agreement.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"

/* Versions before this note wrote only the name. */
#define NAME "samepage"
enum { NAME_LEN = sizeof NAME - 1, HASH_LEN = 9 }; /* a space and eight digits */

/* How lines begin. A trained map counts by its dictionary. */
static const char *const of_signatures[] = {
    "signature.", "text.", "similarity.method=", "similarity.languages=", "partition.map: ", NULL};
/* What signatures depend on, and which of them are similar and in which cell. */
static const char *const of_tiers[] = {
    "signature.",          "text.", "similarity.", "partition.map: ", "partition.cells",
    "partition.languages", NULL};

static bool is_one_of(const char *line, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (strncmp(line, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

/* Of the lines that begin so. */
static uint32_t hash_of(const char *fingerprint, const char *const *beginnings)
{
    struct sp_buf lines = {0};
    for (const char *line = fingerprint; *line;) {
        size_t len = strcspn(line, "\n");
        len += line[len] != '\0';
        if (is_one_of(line, beginnings))
            sp_buf_put(&lines, line, len);
        line += len;
    }
    uint32_t hash = lines.len ? (uint32_t)sp_hash64(lines.data, lines.len) : 0;
    sp_buf_done(&lines);
    return hash;
}

void sp_agreement_of(const char *fingerprint, struct sp_agreement *ret_agreement)
{
    struct sp_agreement a = {.all = (uint32_t)sp_hash64(fingerprint, strlen(fingerprint)),
                             .tiers = hash_of(fingerprint, of_tiers),
                             .signatures = hash_of(fingerprint, of_signatures)};
    snprintf(a.note, sizeof a.note, NAME " %08" PRIx32 " %08" PRIx32 " %08" PRIx32, a.all, a.tiers,
             a.signatures);
    *ret_agreement = a;
}

void sp_agreement_note(const struct sp_agreement *agreement, rd_kafka_topic_partition_t *offset)
{
    offset->metadata = sp_strdup(agreement->note); /* the list frees it */
    offset->metadata_size = strlen(agreement->note);
}

/* What signatures depend on is part of what the tiers share, and that of all. */
enum sp_noted sp_agreement_look(const struct sp_agreement *agreement,
                                const rd_kafka_topic_partition_t *offset)
{
    const size_t len = strlen(agreement->note);
    const char *note = offset->metadata;
    if (offset->metadata_size < NAME_LEN || memcmp(note, NAME, NAME_LEN) != 0)
        return SP_NOTED_ELSEWHERE;
    if (offset->metadata_size != len)
        return SP_NOTED_SAME;
    enum sp_noted noted = SP_NOTED_SIGNATURES;
    for (size_t at = len - HASH_LEN; memcmp(note + at, agreement->note + at, HASH_LEN) == 0;
         at -= HASH_LEN)
        if (noted-- == SP_NOTED_SETTINGS)
            return SP_NOTED_SAME;
    return noted;
}

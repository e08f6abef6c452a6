/* See recent.h.
 *
 * A table has one place for each hash of a text; the text that was signed last has it. Signatures
 * are in a ring, from which the oldest is removed first. They are copied there only while texts
 * repeat: each text seen for the second time pays for those of the next PAID texts. A collection
 * without duplicates pays only for the look-up of a mark, a part of the hash. Marks are apart from
 * the places, because they all fit into a processor's cache. */
#include "text/recent.h"

#include "base/mem.h"

enum {
    PLACE_BITS = 14,
    RING_BYTES = 4 << 20,
    MOST_BYTES = RING_BYTES / 64, /* of one signature */
    PAID = 16,
    PAID_MOST = 256
};

struct place {
    struct sp_id text;
    uint64_t at; /* of its signature: position in the ring, as if it were endless */
    uint32_t word_count;
};

struct sp_recent {
    uint64_t end;                         /* of the ring */
    unsigned paid;                        /* signatures that may be copied */
    uint32_t marks[1 << PLACE_BITS];      /* of the texts that were signed last */
    struct place places[1 << PLACE_BITS]; /* of texts whose signatures were copied */
    char ring[RING_BYTES];
};

struct sp_recent *sp_recent_new(void)
{
    struct sp_recent *r = sp_calloc(1, sizeof *r);
    r->end = 2ull * RING_BYTES; /* so that position 0 is one that was overwritten */
    return r;
}

void sp_recent_free(struct sp_recent *r)
{
    sp_free(r);
}

static size_t place_of(struct sp_id text)
{
    return text.hi >> (64 - PLACE_BITS);
}

static struct sp_signature *copy(const struct sp_signature *from)
{
    struct sp_signature *s = sp_signature_alloc(from->shingle_count, from->sentence_count);
    memcpy(s, from, sp_signature_bytes(from));
    s->refs = 1;
    return s;
}

struct sp_signature *sp_recent_find(struct sp_recent *r, struct sp_id text,
                                    uint32_t *ret_word_count)
{
    const struct place *place = &r->places[place_of(text)];
    if (r->marks[place_of(text)] != (uint32_t)text.lo)
        return NULL;
    r->paid = r->paid + PAID < PAID_MOST ? r->paid + PAID : PAID_MOST;
    if (!sp_id_eq(place->text, text) || place->at + RING_BYTES < r->end)
        return NULL;
    *ret_word_count = place->word_count;
    return copy((const void *)(r->ring + place->at % RING_BYTES));
}

void sp_recent_add(struct sp_recent *r, struct sp_id text, const struct sp_signature *signature,
                   uint32_t word_count)
{
    size_t bytes = (sp_signature_bytes(signature) + 7) / 8 * 8, at = r->end % RING_BYTES;
    r->marks[place_of(text)] = (uint32_t)text.lo;
    if (r->paid == 0 || bytes > MOST_BYTES)
        return;
    r->paid--;
    if (at + bytes > RING_BYTES) {
        r->end += RING_BYTES - at;
        at = 0;
    }
    r->places[place_of(text)] = (struct place){text, r->end, word_count};
    memcpy(r->ring + at, signature, sp_signature_bytes(signature));
    r->end += bytes;
}

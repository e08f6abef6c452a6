/* Messages between the group stage and the contain stage. */
#include "codec/note.h"

#include "base/mem.h"
#include "codec/codec.h"
#include "harness.h"
#include "made_up.h"

static struct sp_signature *some_signature(uint32_t count)
{
    struct sp_signature *s = made_up((struct sp_id){3, count}, count);
    for (uint32_t i = 0; i < count; i++)
        s->hashes[i] = 7 * i + 1;
    return s;
}

static void each_note(void (*with)(const struct sp_note *note))
{
    struct sp_signature *s = some_signature(40);
    const struct sp_note notes[] = {
        {.kind = SP_NOTE_FETCHED, .page = {1, 2}, .signature = s},
        {.kind = SP_NOTE_FETCHED, .page = {1, 2}},
        {.kind = SP_NOTE_SAID, .page = {9, 0}, .content = {3, 4}, .url = "http://a.example/"},
        {.kind = SP_NOTE_SAID, .page = {9, 0}, .content = {3, 4}},
        {.kind = SP_NOTE_SAID, .page = {9, 0}},
        {.kind = SP_NOTE_FOUND, .page = {0, 5}, .url = "http://b.example/", .containment = 0.75f},
        {.kind = SP_NOTE_FOUND, .page = {0, 5}}};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        with(&notes[i]);
    sp_signature_unref(s);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void survives(const struct sp_note *note)
{
    struct sp_buf out = {0}, again = {0};
    struct sp_note back;
    sp_note_encode(note, &out);
    CU_ASSERT(sp_note_is(sp_buf_view(&out)));
    CU_ASSERT_EQUAL(sp_message_peek(sp_buf_view(&out)), 0);
    CU_ASSERT_EQUAL_FATAL(sp_note_decode(sp_buf_view(&out), &back), SP_OK);
    CU_ASSERT_EQUAL(back.kind, note->kind);
    CU_ASSERT(sp_id_eq(back.page, note->page) && sp_id_eq(back.content, note->content));
    CU_ASSERT(same_text(back.url, note->url) && back.containment == note->containment);
    CU_ASSERT((back.signature != NULL) == (note->signature != NULL));
    sp_note_encode(&back, &again);
    CU_ASSERT(sp_view_eq(sp_buf_view(&again), sp_buf_view(&out)));
    sp_note_done(&back);
    sp_buf_done(&out);
    sp_buf_done(&again);
}

TEST(notes_encode_and_decode_unchanged)
{
    each_note(survives);
}

static void is_refused_when_cut(const struct sp_note *note)
{
    struct sp_buf out = {0};
    struct sp_note back;
    sp_note_encode(note, &out);
    for (size_t len = 0; len < out.len; len++) {
        char *copy = sp_memdup(out.data, len);
        CU_ASSERT(sp_note_decode(sp_view(copy, len), &back) != SP_OK);
        sp_free(copy);
    }
    sp_buf_put_u8(&out, 0);
    CU_ASSERT_EQUAL(sp_note_decode(sp_buf_view(&out), &back), SP_MALFORMED);
    sp_buf_done(&out);
}

TEST(notes_cut_short_or_followed_by_bytes_are_refused)
{
    each_note(is_refused_when_cut);
}

/* Flips each bit: the note is refused, or encodes to the bytes that were read. */
static void is_refused_or_understood(const struct sp_note *note)
{
    struct sp_buf out = {0}, again = {0};
    sp_note_encode(note, &out);
    for (size_t bit = 0; bit < 8 * out.len; bit++) {
        struct sp_note back;
        char *copy = sp_memdup(out.data, out.len);
        copy[bit / 8] ^= (char)(1u << bit % 8);
        if (sp_note_decode(sp_view(copy, out.len), &back) == SP_OK) {
            sp_buf_reset(&again);
            sp_note_encode(&back, &again);
            CU_ASSERT(sp_view_eq(sp_buf_view(&again), sp_view(copy, out.len)));
            sp_note_done(&back);
        }
        sp_free(copy);
    }
    sp_buf_done(&out);
    sp_buf_done(&again);
}

TEST(flipped_bits_in_notes_are_refused_or_understood)
{
    each_note(is_refused_or_understood);
}

TEST(a_share_without_a_container_is_no_note)
{
    struct sp_buf out = {0};
    struct sp_note back, note = {.kind = SP_NOTE_FOUND, .page = {0, 5}, .containment = 0.5f};
    sp_note_encode(&note, &out);
    CU_ASSERT_EQUAL(sp_note_decode(sp_buf_view(&out), &back), SP_MALFORMED);
    sp_buf_done(&out);
}

TEST(messages_of_the_tiers_are_no_notes)
{
    struct sp_buf out = {0};
    struct sp_message *m = sp_message_new(SP_MSG_ERASE);
    struct sp_note back;
    m->erase.url = sp_strdup("http://a.example/");
    sp_message_encode(m, &out);
    CU_ASSERT(!sp_note_is(sp_buf_view(&out)));
    CU_ASSERT_EQUAL(sp_note_decode(sp_buf_view(&out), &back), SP_UNKNOWN_SCHEMA);
    sp_message_free(m);
    sp_buf_done(&out);
}

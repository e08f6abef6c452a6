/* See note.h. */
#include "codec/note.h"

#include "base/mem.h"
#include "codec/fingerprints.h"
#include "codec/parts.h"

void sp_note_encode(const struct sp_note *note, struct sp_buf *out)
{
    sp_codec_put_frame(out, NULL, SP_FINGERPRINT_CONTAIN);
    sp_codec_put_count(out, note->kind);
    sp_codec_put_id(out, note->page);
    switch (note->kind) {
    case SP_NOTE_FETCHED:
        sp_codec_put_some_signature(out, note->signature);
        break;
    case SP_NOTE_SAID:
        sp_codec_put_some_id(out, note->content);
        sp_codec_put_some_text(out, note->url);
        break;
    case SP_NOTE_FOUND:
        sp_codec_put_some_text(out, note->url);
        sp_codec_put_float(out, note->containment);
        break;
    }
}

static struct sp_decoder open_frame(struct sp_view in)
{
    return sp_codec_open_frame(in, NULL, SP_FINGERPRINT_CONTAIN);
}

bool sp_note_is(struct sp_view in)
{
    return open_frame(in).err == SP_OK;
}

enum sp_err sp_note_decode(struct sp_view in, struct sp_note *ret_note)
{
    struct sp_decoder d = open_frame(in);
    struct sp_note note = {.kind = (enum sp_note_kind)sp_codec_get_count(&d, SP_NOTE_FOUND)};
    note.page = sp_codec_get_id(&d);
    switch (note.kind) {
    case SP_NOTE_FETCHED:
        note.signature = sp_codec_get_some_signature(&d);
        break;
    case SP_NOTE_SAID:
        note.content = sp_codec_get_some_id(&d);
        note.url = sp_codec_get_some_text(&d);
        break;
    case SP_NOTE_FOUND:
        note.url = sp_codec_get_some_text(&d);
        note.containment = sp_codec_get_float(&d);
        if (!note.url && note.containment != 0)
            sp_codec_refuse(&d, SP_MALFORMED);
        break;
    }
    enum sp_err err = sp_codec_finish(&d);
    if (err == SP_OK)
        *ret_note = note;
    else
        sp_note_done(&note);
    return err;
}

void sp_note_done(struct sp_note *note)
{
    sp_signature_unref(note->signature);
    sp_free((char *)(uintptr_t)note->url);
    note->signature = NULL;
    note->url = NULL;
}

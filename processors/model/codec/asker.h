/* Shared by the kinds of message that hold a struct sp_link. Private to codec. */
#ifndef SP_CODEC_ASKER_H
#define SP_CODEC_ASKER_H

#include "codec/parts.h"

/* The page, its content version, its edges, and the URL of the target of a redirect. */
void sp_codec_put_asker(struct sp_buf *out, const struct sp_message *m);
void sp_codec_get_asker(struct sp_decoder *d, struct sp_message *m);

/* The rows of the members that move. */
void sp_codec_put_rows(struct sp_buf *out, const struct sp_link *link);
void sp_codec_get_rows(struct sp_decoder *d, struct sp_link *link);

/* rules.c: whether the message, which was just read, is as the actors assume. */
bool sp_codec_keeps_rules(const struct sp_message *m);

#endif

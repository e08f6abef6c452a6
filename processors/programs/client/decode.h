/* A record of the status topic as the public client's event. Private to this folder. */
#ifndef SP_CLIENT_DECODE_H
#define SP_CLIENT_DECODE_H

#include "codec/codec.h"
#include "samepage/status.h"

/* Any bytes, in either framing. The event's texts are in `text`, which is reset, and in `group_id`.
 * Fails as sp_status_decode does; *out is untouched then. */
enum sp_err sp_client_decode(struct sp_view value, struct sp_buf *text,
                             char group_id[SP_GROUP_ID_TEXT], struct samepage_status_event *out);

#endif

/* How notes between the group stage and the contain stage travel. Private to kafka. */
#ifndef SP_KAFKA_NOTES_H
#define SP_KAFKA_NOTES_H

#include "codec/note.h"
#include "kafka/worker.h"

/* To the page's partition of tier 1, or to the only one of the contain stage. `bytes`: room to
 * encode it in. */
void sp_notes_send(struct sp_worker *w, enum sp_topic topic, struct sp_buf *bytes,
                   const struct sp_note *note);

#endif

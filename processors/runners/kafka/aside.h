/* Messages for cells of a partition map that is newer than those of the stage. They are put aside
 * in the stage's state until the stage is opened with that map, so that no message of ours is lost,
 * and a message that another program wrote for a map that does not exist does not stop the stage.
 * Their number is limited, because an instance must not run without end on an old map while all
 * others use a newer one.
 *
 *   'W' number  -> the message, as in the topic */
#ifndef SP_KAFKA_ASIDE_H
#define SP_KAFKA_ASIDE_H

#include "page/message.h"
#include "partition/maps.h"
#include "store/store.h"

enum { SP_ASIDE_MOST = 256, SP_ASIDE_BYTES = 1 << 20 };

struct sp_aside {
    struct sp_store *store;
    const struct sp_maps *maps;
    uint64_t numbers[SP_ASIDE_MOST]; /* ascending */
    uint32_t count;
    bool due; /* some may have been waiting for the present maps */
    enum sp_err err;
};

/* Reads which there are. */
enum sp_err sp_aside_load(struct sp_aside *a, struct sp_store *store, const struct sp_maps *maps);
/* Adds one to the open batch. False: it is too large, or there are too many. */
bool sp_aside_put(struct sp_aside *a, struct sp_view message);
/* To be called before any message that comes later: gives `handle`, which owns them, those that
 * were there when they were read, in their order. One whose map is still to come stays; one for a
 * cell that its map turned out not to have is dropped, because no program of ours wrote it. A
 * failure stays. */
enum sp_err sp_aside_take(struct sp_aside *a,
                          enum sp_err (*handle)(void *arg, struct sp_message *m), void *arg);

#endif

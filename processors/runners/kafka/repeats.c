/* See repeats.h. The least recent line makes room for a new one. */
#include "kafka/repeats.h"

#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/hash.h"

enum { MOST = 32 };

static struct {
    struct sp_id line;
    int64_t at_ms;
} said[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct sp_id id_of(const char *facility, const char *line)
{
    const char *end = strstr(line, " (after ");
    struct sp_id id = sp_hash128(line, end ? (size_t)(end - line) : strlen(line));
    struct sp_id kind = sp_hash128(facility, strlen(facility));
    return (struct sp_id){id.hi ^ kind.hi, id.lo ^ kind.lo};
}

bool sp_repeats(const char *facility, const char *line)
{
    struct sp_id id = id_of(facility, line);
    int64_t now_ms = sp_clock_ms();
    int oldest = 0;
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST && !found; i++) {
        found =
            said[i].at_ms && sp_id_eq(said[i].line, id) && now_ms - said[i].at_ms < SP_REPEATS_MS;
        oldest = said[i].at_ms < said[oldest].at_ms ? i : oldest;
    }
    if (!found) {
        said[oldest].line = id;
        said[oldest].at_ms = now_ms;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

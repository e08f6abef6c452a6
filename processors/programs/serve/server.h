/* The server, which its files share.
 *
 *   serve.c      start and stop
 *   ticker.c     once a second: follows the state, closes useless connections
 *   threads.c    the data of each thread that handles requests
 *   desk.c       threads for responses that may take long
 *   http.c       libmicrohttpd: requests, responses, connections, limits
 *   routes.c     the function for each path; which requests are allowed
 *   request.cc   the body of a filter request, by simdjson
 *   handler.c    what handlers share: errors, arguments
 *   handlers/    a file for each path, or for a few that belong together
 *   state.c      the state directory, read while a run may write to it
 *   statuses.c   the status topic on Kafka, in memory
 *   rosters.c    which of its pages are in which group
 *   members.c    a group, copied out of the state
 *   index.c      documents of known pages
 *   overview.c   the counts of /v1/overview: a thread
 *   predictions.c  rules about URLs, learned from all pages
 *   followed.c   rules that others have learned: a thread
 *   rule_line.cc  one of these, by simdjson
 *   census.c     the counts and groups of the overview
 *   catalogue.c  the URLs of all pages, by host
 *   live.c       the latest status events
 *   log.c        follows the files to which a run writes its status events
 *   streams.c    connections to which these events are sent
 *   texts.c      finds the text of a page in the inputs of a run
 *   kept.c       texts of files that cannot be read from the middle
 *   assets.c     files that are part of the program
 *
 * Private to this folder. */
#ifndef SP_SERVE_SERVER_H
#define SP_SERVE_SERVER_H

#include <microhttpd.h>
#include <pthread.h>

#include "base/service.h"
#include "serve/followed.h"
#include "serve/index.h"
#include "serve/live.h"
#include "serve/log.h"
#include "serve/overview.h"
#include "serve/serve.h"
#include "serve/state.h"
#include "serve/texts.h"

enum { SP_HISTORY = 300 };

enum { SP_ROUTES = 24 };

/* All atomic. */
struct sp_serve_counters {
    uint64_t requests[SP_ROUTES + 1]; /* by route; the last: no route */
    uint64_t refused[SP_ROUTES + 1];  /* answered with 400 and above */
    uint64_t microseconds[SP_ROUTES + 1];
    uint64_t connections;
    uint64_t closed; /* by us: too slow, or to make room */
    uint64_t body_bytes;
    uint64_t refresh_failures;
    int64_t refreshed_ms; /* by the monotonic clock */
    int64_t changed_ms;
    uint64_t filtered;
    uint64_t dropped;
};

/* How many records the run had handled, when. */
struct sp_history_point {
    int64_t at_ms;
    uint64_t records;
};

struct sp_history {
    pthread_mutex_t lock;
    struct sp_history_point points[SP_HISTORY]; /* a ring */
    size_t first;
    size_t count;
    uint64_t records;
    bool ended; /* the inputs are read to their end */
};

struct sp_ticker { /* ticker.c */
    struct sp_state_reader *reader;
    uint64_t seen;            /* version of the state in the history */
    int64_t refresh_after_ms; /* not before */
    struct sp_service service;
};

struct sp_connections; /* http.c */
struct sp_desk;        /* desk.h */
struct sp_streams;     /* streams.h */
struct sp_route;       /* handler.h */
struct sp_serve_thread;

struct sp_serve {
    struct sp_serve_options options;
    struct sp_buf token; /* what the header must be: "Bearer ..." */
    struct MHD_Daemon *daemon;
    uint16_t port;
    bool loopback;
    const struct sp_route *routes; /* the counters' */
    size_t route_count;            /* at most SP_ROUTES */
    struct sp_state *state;
    struct sp_index *index;
    struct sp_followed *followed; /* NULL: rules are its own */
    struct sp_overview *overview;
    struct sp_texts *texts; /* NULL: no inputs are named */
    struct sp_live *live;   /* NULL: there is no source of events */
    struct sp_log *log;     /* NULL: no files of statuses are named */
    struct sp_streams *streams;
    struct sp_history history;
    struct sp_ticker ticker;
    struct sp_connections *connections;
    struct sp_desk *desk;
    struct sp_serve_counters counters;
    int64_t failure_told_ms; /* atomic; 0: never */
    pthread_mutex_t threads_lock;
    struct sp_serve_thread *threads;
};

#endif

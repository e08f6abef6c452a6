/* A client for the status topic: the statuses of your pages, event by event.
 *
 *     const char *properties[] = {"bootstrap.servers", "127.0.0.1:9092", NULL};
 *     char error[256];
 *     struct samepage_status_client *client =
 *         samepage_status_open(properties, "status", "my-indexer", error, sizeof error);
 *     struct samepage_status_event event;
 *     for (int got; (got = samepage_status_next(client, 1000, &event)) > SAMEPAGE_FATAL;) {
 *         if (got != SAMEPAGE_EVENT)
 *             continue;
 *         ... what event.status means for event.url ...
 *         samepage_status_commit(client, error, sizeof error);
 *     }
 *     samepage_status_close(client);
 *
 * The events of one url come in the order in which they were written, and the latest counts;
 * those of different urls come in any order. Only committed events are seen. After a crash, or
 * when members join or leave the group, events since the last commit come again: let applying one
 * twice do no harm.
 *
 * SAMEPAGE_REMADE says that what you keep may be of pages that the topic no longer has: drop it,
 * and read the topic from its beginning (a new client without a group, or with another one). It is
 * noticed where the new topic is shorter than what was read of the old one, and while a client is
 * open. Programs that do not know it may go on as after SAMEPAGE_NONE.
 *
 * Thread rule: a client belongs to one thread at a time; different clients are independent.
 * Running out of memory ends the process. */
#ifndef SP_SAMEPAGE_STATUS_H
#define SP_SAMEPAGE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SAMEPAGE_API __attribute__((visibility("default")))
#else
#define SAMEPAGE_API
#endif

enum samepage_status {
    SAMEPAGE_STATUS_UNIQUE = 1, /* similar to no other page */
    SAMEPAGE_STATUS_WINNER = 2, /* keep it: it stands for others */
    SAMEPAGE_STATUS_LOSER = 3,  /* a near-duplicate: winner_url stands for it */
    SAMEPAGE_STATUS_GONE = 4    /* its server says so, or its redirect leads to no content */
};

/* Why a page is in its group. */
enum samepage_reason {
    SAMEPAGE_REASON_NONE = 0,
    SAMEPAGE_REASON_CONTENT = 1,  /* similar content */
    SAMEPAGE_REASON_REDIRECT = 2, /* it redirects to the winner, perhaps over others */
    SAMEPAGE_REASON_EXACT = 3     /* equal content */
};

/* What puts a loser's winner before it. */
enum samepage_rule {
    SAMEPAGE_RULE_NONE = 0,       /* no loser, or a redirect */
    SAMEPAGE_RULE_POPULARITY = 1, /* the winner is more popular */
    SAMEPAGE_RULE_STATIC = 2,     /* its URL has no query */
    SAMEPAGE_RULE_SHORT = 3,      /* its URL is shorter */
    SAMEPAGE_RULE_MARKET = 4,     /* it is of the market */
    SAMEPAGE_RULE_ID = 5,         /* they rank the same: the order of page ids */
    SAMEPAGE_RULE_OVERRIDE = 6    /* it ranks behind: winner.relation or winner.margin */
};

/* One event; schemas/status.avsc says more of each field. Texts are UTF-8 and end in a NUL; they
 * belong to the client. */
struct samepage_status_event {
    const char *url;             /* the page, as given by the crawler */
    int64_t version_ms;          /* the fetch this speaks of: its time, or a counter */
    enum samepage_status status; /* the verdict */
    const char *winner_url;      /* NULL: none */
    float similarity;            /* of the page to its winner; 0 without winner_url */
    enum samepage_reason reason;
    const char *group_id; /* never used twice; current for a kept page; a loser's: see its winner */
    int64_t group_size;   /* members when this was written; of a kept page never off by two times */
    int64_t epoch;        /* grows each time the page moves to another group */
    enum samepage_rule rule; /* at the time of the event: alone it causes none */
    /* Of a kept page, if containment is on: a larger kept page that contains nearly all of its
     * text; NULL: none. */
    const char *contained_in;
    float containment; /* the share that it has; 0 without contained_in */
};

/* What samepage_status_next and samepage_status_commit return. */
enum samepage_result {
    SAMEPAGE_EVENT = 1,  /* next: there is an event */
    SAMEPAGE_REMADE = 2, /* next: the topic was deleted and made again; call again for its events */
    SAMEPAGE_NONE = 0,   /* next: none came in time, or a page was erased; commit: done */
    SAMEPAGE_RETRY = -1, /* a temporary error: call again */
    SAMEPAGE_BAD = -2,   /* skipped a record that is not a status event: call again */
    SAMEPAGE_INVALID = -3, /* commit of a client without a group */
    SAMEPAGE_FATAL = -10   /* close this client */
};

struct samepage_status_client;

/* Connects and looks at the topic; waits at most ten seconds for a broker.
 *
 * properties: keys and values in turns, NULL at the end; NULL for none. They go to librdkafka as
 *   they are ("bootstrap.servers", "sasl.password", ...). Of its defaults the client changes
 *   bootstrap.servers (127.0.0.1:9092) and auto.offset.reset (earliest); isolation.level and
 *   enable.auto.commit are not yours to set.
 * topic: its full name, with your prefix.
 * group: the consumer group whose members share the partitions and whose commits are kept.
 *   NULL: this client reads all partitions there are now from auto.offset.reset on, where the end
 *   is that of the moment of this call, and cannot commit.
 * error, size: room for a message that says what is wrong; it is truncated to fit. NULL and 0
 *   are allowed.
 *
 * Returns NULL if a property is wrong, no broker is reachable or there is no such topic. The caller
 * closes the client. */
SAMEPAGE_API struct samepage_status_client *samepage_status_open(const char *const *properties,
                                                                 const char *topic,
                                                                 const char *group, char *error,
                                                                 size_t size);

/* Waits for the next event, at most timeout_ms (0: not at all; -1: as long as it takes). Returns an
 * enum samepage_result; samepage_status_error explains a negative one. *out is set if the
 * result is SAMEPAGE_EVENT, and its texts are valid until the next call with this client. Call it
 * at least once every five minutes (max.poll.interval.ms), or the group gives your partitions
 * away. */
SAMEPAGE_API int samepage_status_next(struct samepage_status_client *client, int timeout_ms,
                                      struct samepage_status_event *out);

/* The canonical URL of the page that was erased (`samepage forget`), if that is why the last
 * samepage_status_next returned SAMEPAGE_NONE; otherwise NULL. What you keep of the page should go.
 * Several calls in a row may name the same page. Valid until the next call with this client. */
SAMEPAGE_API const char *samepage_status_erased(const struct samepage_status_client *client);

/* Tells the group that every event returned so far has been handled: the next reader of its
 * partition, after a close or a crash, starts after it. Waits for the broker. SAMEPAGE_NONE: done,
 * or there was nothing new. SAMEPAGE_RETRY: nothing was committed, for instance since the partition
 * has another reader by now; those events may come again, there or here. */
SAMEPAGE_API int samepage_status_commit(struct samepage_status_client *client, char *error,
                                        size_t size);

/* The sentence for the last negative result or SAMEPAGE_REMADE of samepage_status_next; empty
 * before. Valid until the next call with this client. */
SAMEPAGE_API const char *samepage_status_error(const struct samepage_status_client *client);

/* "unique", "winner", "loser", "gone"; NULL for any other number. */
SAMEPAGE_API const char *samepage_status_name(enum samepage_status status);

/* "content", "redirect", "exact"; NULL for none and any other number. */
SAMEPAGE_API const char *samepage_reason_name(enum samepage_reason reason);

/* "popularity", "static", "short", "market", "id", "override"; NULL for none and any other
 * number. */
SAMEPAGE_API const char *samepage_rule_name(enum samepage_rule rule);

/* Leaves the group and frees the client. Commits nothing. NULL is allowed. */
SAMEPAGE_API void samepage_status_close(struct samepage_status_client *client);

#ifdef __cplusplus
}
#endif

#endif

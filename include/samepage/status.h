/* A client for the status topic on Kafka. Status events are asynchronous: samepage writes one
 * whenever the verdict on a page changes (Zhu et al., WWW 2012, section 3), and the client returns
 * them one by one.
 *
 *     const char *properties[] = {"bootstrap.servers", "127.0.0.1:9092", NULL};
 *     char error[256];
 *     struct samepage_status_client *client =
 *         samepage_status_open(properties, "samepage.status", "my-indexer", error, sizeof error);
 *     if (!client)
 *         ... error says why ...
 *     struct samepage_status_event event;
 *     for (int got; (got = samepage_status_next(client, 1000, &event)) > SAMEPAGE_FATAL;) {
 *         if (got != SAMEPAGE_EVENT)
 *             continue;
 *         ... apply event.status to event.url ...
 *         samepage_status_commit(client, error, sizeof error);
 *     }
 *     samepage_status_close(client);
 *
 * Events of one page arrive in the order in which they were written; the latest one is the status.
 * Texts spell a page as its crawler did; if that spells a page in several ways, key your data by
 * samepage_url_canonical (url.h). Events of different pages arrive in any order. Only committed
 * events are returned. After a crash, or when members join or leave the consumer group, events
 * since the last commit are delivered again, so applying an event must be idempotent. The broker
 * notices a crash when session.timeout.ms (45 seconds by default) has passed; until then, a program
 * that is started again with the same group gets no events.
 *
 * SAMEPAGE_REMADE says that the topic was deleted and recreated, so you may keep data about
 * pages that it does not have: drop your data, and read the topic from its beginning (with a new
 * client without a group, or with another group). An open client notices this because the offset of
 * the last event that it read is beyond the end, or has another event. If no client is open at that
 * time, none can notice it: the broker deletes the group's offsets with the topic, and the group
 * starts like a new one. A program that does not know SAMEPAGE_REMADE may continue as after
 * SAMEPAGE_NONE.
 *
 * Thread rule: a client belongs to one thread at a time; different clients are independent.
 * Running out of memory ends the process. */
#ifndef SP_SAMEPAGE_STATUS_H
#define SP_SAMEPAGE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "samepage/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum samepage_status {
    SAMEPAGE_STATUS_UNIQUE = 1, /* the only member of its group */
    SAMEPAGE_STATUS_WINNER = 2, /* keep the page: it represents others of its group */
    SAMEPAGE_STATUS_LOSER = 3,  /* a near duplicate or a redirect: winner_url represents it */
    SAMEPAGE_STATUS_GONE = 4    /* a 404 or 410, or a redirect that leads to no content */
};

/* How a loser is connected with its winner. */
enum samepage_reason {
    SAMEPAGE_REASON_NONE = 0,     /* the page is not a loser */
    SAMEPAGE_REASON_CONTENT = 1,  /* their contents are similar */
    SAMEPAGE_REASON_REDIRECT = 2, /* the page redirects, directly or through others */
    SAMEPAGE_REASON_EXACT = 3     /* their contents are equal */
};

/* Which rule ranks a loser's winner before the loser (Zhu et al., WWW 2012, section 5). */
enum samepage_rule {
    SAMEPAGE_RULE_NONE = 0,       /* the page is not a loser, or it redirects */
    SAMEPAGE_RULE_POPULARITY = 1, /* the winner is more popular */
    SAMEPAGE_RULE_STATIC = 2,     /* the winner's URL is static: it has no query */
    SAMEPAGE_RULE_SHORT = 3,      /* the winner's URL is shorter */
    SAMEPAGE_RULE_MARKET = 4,     /* the winner belongs to the market; not written at present */
    SAMEPAGE_RULE_ID = 5,         /* both rank equally; the order of page ids decides */
    SAMEPAGE_RULE_OVERRIDE = 6    /* the loser ranks first; winner.relation or .margin decided */
};

/* One status event. schemas/status.avsc describes each field. Texts are UTF-8, terminated by NUL,
 * and belong to the client. */
struct samepage_status_event {
    const char *url;             /* the page, as its last fetch spelled it */
    int64_t version_ms;          /* the fetch that the event is about: its time, or a counter */
    enum samepage_status status; /* the verdict */
    const char *winner_url;      /* the page that represents a loser; otherwise NULL */
    float similarity;            /* 0 to 1: of the page to its winner; 0 without winner_url */
    enum samepage_reason reason;
    const char *group_id;    /* never reused; of a loser maybe old: see its winner's latest event */
    int64_t group_size;      /* members when the event was written; the latest event of a kept page
                              * is never off by a factor of two or more */
    int64_t epoch;           /* grows each time the page moves to another group */
    enum samepage_rule rule; /* when the event was written; a new rule alone causes no event */
    /* Of a kept page, with containment.threshold: a larger kept page that contains nearly all of
     * its text; otherwise NULL. */
    const char *contained_in;
    float containment; /* the share of the text that is contained; 0 without contained_in */
};

/* The results of samepage_status_next and samepage_status_commit. */
enum samepage_result {
    SAMEPAGE_EVENT = 1,    /* next: *out is an event */
    SAMEPAGE_REMADE = 2,   /* next: the topic was deleted and recreated; call next again */
    SAMEPAGE_NONE = 0,     /* next: time-out, or a page was erased; commit: done */
    SAMEPAGE_RETRY = -1,   /* next: a temporary error, call again; commit: see there */
    SAMEPAGE_BAD = -2,     /* a record that is not a status event was skipped: call again */
    SAMEPAGE_INVALID = -3, /* commit: the client has no group */
    SAMEPAGE_FATAL = -10   /* a permanent error: close this client */
};

struct samepage_status_client;

/* Connects to a broker and checks the topic; waits at most ten seconds.
 *
 * properties: an array of alternating keys and values that ends with NULL, or NULL for none. They
 *   are passed to librdkafka unchanged ("bootstrap.servers", "sasl.password", ...). The defaults of
 *   bootstrap.servers (127.0.0.1:9092) and auto.offset.reset (earliest) differ from librdkafka's;
 *   isolation.level and enable.auto.commit cannot be set.
 * topic: the full name of the topic, prefix included.
 * group: the consumer group, whose members share the partitions and whose committed offsets are
 *   kept by the broker. NULL: this client reads all present partitions, starting as
 *   auto.offset.reset says (`latest`: at their ends at the time of this call), and cannot commit.
 * error, size: room for a message, truncated to fit. NULL and 0 are allowed.
 *
 * Returns NULL, with a message in `error`, if a property is wrong, no broker is reachable or the
 * topic does not exist. The caller closes the client. */
SAMEPAGE_API struct samepage_status_client *samepage_status_open(const char *const *properties,
                                                                 const char *topic,
                                                                 const char *group, char *error,
                                                                 size_t size);

/* Waits for the next event, at most timeout_ms (0: does not wait; -1: no limit). Returns an enum
 * samepage_result; samepage_status_error explains a negative one. *out is set if the result is
 * SAMEPAGE_EVENT; its texts are valid until the next call with this client. Call this function at
 * least once every five minutes (max.poll.interval.ms), or the group assigns the partitions to
 * another member. */
SAMEPAGE_API int samepage_status_next(struct samepage_status_client *client, int timeout_ms,
                                      struct samepage_status_event *out);

/* If the last samepage_status_next returned SAMEPAGE_NONE because a page was erased
 * (`samepage forget`), returns the canonical URL of that page, so that you can delete your data
 * about it; otherwise NULL. A page may be reported several times. Valid until the next call with
 * this client. */
SAMEPAGE_API const char *samepage_status_erased(const struct samepage_status_client *client);

/* Commits the offsets of all events returned so far to the consumer group: after a close or a
 * crash, the next reader of a partition starts after them. Waits for the broker, at most ten
 * seconds. Returns SAMEPAGE_NONE (done, or nothing to commit), SAMEPAGE_RETRY (nothing was
 * committed, for example because the partition was assigned to another member; or the broker has
 * not replied in time, and may still commit; in both cases the events may be delivered again, to
 * this or another member, and a second call has nothing to commit until there are new events),
 * SAMEPAGE_INVALID or SAMEPAGE_FATAL; `error` is as above. */
SAMEPAGE_API int samepage_status_commit(struct samepage_status_client *client, char *error,
                                        size_t size);

/* Returns a message about the last negative result, or the last SAMEPAGE_REMADE, of
 * samepage_status_next; empty if there was none. Valid until the next call with this client. */
SAMEPAGE_API const char *samepage_status_error(const struct samepage_status_client *client);

/* Returns "unique", "winner", "loser" or "gone"; NULL for any other number. */
SAMEPAGE_API const char *samepage_status_name(enum samepage_status status);

/* Returns "content", "redirect" or "exact"; NULL for SAMEPAGE_REASON_NONE and any other number. */
SAMEPAGE_API const char *samepage_reason_name(enum samepage_reason reason);

/* Returns "popularity", "static", "short", "market", "id" or "override"; NULL for
 * SAMEPAGE_RULE_NONE and any other number. */
SAMEPAGE_API const char *samepage_rule_name(enum samepage_rule rule);

/* Leaves the consumer group and frees the client, without a commit. Waits for the broker, at most
 * ten seconds: if it does not reply, it will take this member for crashed, and librdkafka's threads
 * end when their requests have timed out (socket.timeout.ms). NULL is allowed. */
SAMEPAGE_API void samepage_status_close(struct samepage_status_client *client);

#ifdef __cplusplus
}
#endif

#endif

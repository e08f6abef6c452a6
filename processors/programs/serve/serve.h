/* Asking samepage over HTTP: `samepage serve`. docs/openapi.json describes every path.
 *
 * The state is the directory of a `samepage run`, which may be writing to it meanwhile: responses
 * show the state of some commit. The directory is read again about once a second, or less often if
 * opening it takes long. Nothing here writes to it. Or the state is the status topic on Kafka,
 * which has no signatures: two pages can then only be related through their statuses.
 *
 * No request can do harm: bodies, URLs, lists and the memory of all requests are bounded, a
 * connection that finishes no request in SP_SERVE_PATIENCE_SECONDS is closed, and when all places
 * are taken the connection whose last finished request is longest ago makes room. */
#ifndef SP_SERVE_SERVE_H
#define SP_SERVE_SERVE_H

#include "base/fault.h"
#include "similarity/similarity.h"
#include "text/text.h"

enum {
    SP_SERVE_CONNECTIONS = 512,
    SP_SERVE_STREAMS = 16, /* of these, that follow the statuses */
    SP_SERVE_PATIENCE_SECONDS = 10,
    SP_SERVE_LIST = 1000,                  /* documents of a list */
    SP_SERVE_BODY_BYTES = 8 << 20,         /* of one request */
    SP_SERVE_ALL_BODIES_BYTES = 128 << 20, /* of all requests under way */
    SP_SERVE_TEXT_BYTES = 1 << 20          /* of one text that is sent along */
};

/* Where rules about URLs come from that others have learned. */
struct sp_serve_rules_source {
    /* Appends all rules, as sp_serve_rules writes them, if they may have changed since the last
     * call; from a thread of the server, at the start and every few seconds. An error: what was
     * read before stays, and it is called again. NULL: there is no such source. */
    enum sp_err (*read)(void *arg, struct sp_buf *lines, bool *ret_changed, struct sp_fault *fault);
    void *arg;
};

struct sp_serve_options {
    const char *listen; /* base/listen.h */
    const char *token;  /* NULL: none, allowed on loopback only */
    const char *state;  /* directory; NULL: the statuses of `topic` */
    const char *topic;
    const char *const *properties; /* of librdkafka, as samepage_status_open wants them */
    /* Called for an event of the topic that cannot be read, the first one and then ever fewer, from
     * a thread of the server; `count`: how many there were. NULL: nobody is told. */
    void (*passed_over)(const char *why, uint64_t count);
    /* Called from a thread of the server: when the topic was recreated or cannot be read, once for
     * equal texts, until an event is read again; when the state cannot be read, at most once a
     * minute. NULL: nobody is told. */
    void (*told)(const char *what);
    uint32_t threads;                        /* 0: one a core */
    uint32_t tier1;                          /* partitions of the group stage in that state */
    struct sp_similarity_options similarity; /* of that state; the filter compares sets:
                                              * sp_serve_can */
    /* Of the filter, if the request gives none. Sentences can be compared if that state's
     * signatures hold some. */
    double filter_threshold;
    bool filter_sentences;
    const struct sp_relation *winner_relation; /* of that state; NULL: none */
    uint64_t cache_bytes;                      /* for documents of the filter */
    struct sp_text_options text;               /* as that state's signatures were made */
    const char *const *pages; /* inputs in which the texts of pages are looked for */
    size_t page_count;
    const char *const *statuses; /* files that the run writes its status events to */
    size_t status_count;
    bool predict;   /* learns rules about URLs: about 1 KiB of memory a page */
    double explore; /* share of the predicted fetches to be made all the same: predict.explore */
    /* Called with the rules of at least SP_SERVE_RULE_CONFIDENCE, as sp_serve_rules writes them,
     * each time that they were learned from all pages, from a thread of the server. If it returns
     * false, it is called again after some seconds. NULL: rules are not passed on. With `predict`
     * only. */
    bool (*learned)(void *arg, const struct sp_buf *lines);
    void *learned_arg;
    struct sp_serve_rules_source rules; /* predicts by these; with `predict` only */
};

static const double SP_SERVE_RULE_CONFIDENCE = 0.5;

/* Whether signatures of that method hold a set that the filter can compare. */
bool sp_serve_can(enum sp_method method);

struct sp_serve;

/* SP_INVALID, SP_IO, SP_STORE, SP_STATE_FORMAT, errors of rules.read: the fault says what and what
 * to do. Texts of the options are borrowed until the stop. Start and stop in one thread. */
enum sp_err sp_serve_start(const struct sp_serve_options *options, struct sp_serve **ret_serve,
                           struct sp_fault *fault);
uint16_t sp_serve_port(const struct sp_serve *serve);
/* Ends all connections and threads. NULL is allowed. */
void sp_serve_stop(struct sp_serve *serve);

/* Appends the rules about URLs that follow from the state's groups, a line of JSON each, with at
 * least that confidence, the surest first. `tier1`: partitions of the group stage in that state. */
enum sp_err sp_serve_rules(const char *state, uint32_t tier1, double confidence, struct sp_buf *out,
                           struct sp_fault *fault);

#endif

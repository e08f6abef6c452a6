/* The self-audit of a run (shadow/shadow.h). Its findings and the pages that it watches are stored
 * with the state, so that the next run continues it. docs/AUDIT.md.
 *
 * Rows of the meta store: "audit", the report, and an empty row for each page watched ("A", page
 * id). What is known of such a page is read from the rows of the stages. Thread rule: one thread.
 */
#ifndef SP_LOCAL_WATCHING_H
#define SP_LOCAL_WATCHING_H

#include "local/bus.h"
#include "shadow/shadow.h"

enum { SP_WATCHING_EXAMPLES = 20 };

/* What was found, over all runs of a state. */
struct sp_watching_report {
    uint64_t missing;
    uint64_t wrong;
    uint64_t judged;
    uint64_t pages;
    uint64_t suspects;
    int64_t late_ms;
    double asked;           /* audit.share */
    double share;           /* in effect: halved while there are more pages than audit.pages */
    uint32_t example_count; /* the first alarms */
    struct sp_buf examples; /* a JSON object each, with commas between them */
};

void sp_watching_report_done(struct sp_watching_report *report);
/* SP_NOT_FOUND: the state was never audited. On failure nothing is held. */
enum sp_err sp_watching_load(struct sp_store *meta, struct sp_watching_report *ret_report);
/* Appends the members of a JSON object. */
void sp_watching_put_json(const struct sp_watching_report *report, struct sp_buf *out);

/* Pages that are about to be forgotten are not watched, and the examples, which name pages, go: in
 * the open batch. While nothing is watched. */
enum sp_err sp_watching_forget(struct sp_store *meta, const struct sp_id *pages, size_t count);

struct sp_watching;

/* `tier1`, with the partitions, and `options` without its functions; reads what the state says. The
 * bus outlives it. *ret_watching NULL where options->share is 0. */
enum sp_err sp_watching_new(const struct sp_shadow_options *options, struct sp_db *db,
                            uint32_t tier1, struct sp_local_bus *bus,
                            struct sp_watching **ret_watching);
void sp_watching_free(struct sp_watching *w); /* NULL is allowed, here and below */

/* As those of the shadow: around each feed, and at the end. */
void sp_watching_fetch(struct sp_watching *w, const struct sp_message *crawled);
void sp_watching_status(struct sp_watching *w, const struct sp_status_event *event);
void sp_watching_judge(struct sp_watching *w);
void sp_watching_settle(struct sp_watching *w);

/* Into the open batch of the meta store. */
void sp_watching_save(struct sp_watching *w);
/* Of all runs so far; the examples stay its own. All zero for NULL. */
void sp_watching_report(const struct sp_watching *w, struct sp_watching_report *ret_report);

#endif

/* A summary of the state: counts, sizes, cells, the groups to look at first. A thread makes it,
 * reading all pages at the start and whenever the state has changed. Private to this folder. */
#ifndef SP_SERVE_OVERVIEW_H
#define SP_SERVE_OVERVIEW_H

#include "serve/catalogue.h"
#include "serve/followed.h"
#include "serve/serve.h"

struct sp_overview;

/* NULL: no thread could be started. `followed`: the rules to predict by; NULL: those that it
 * learns. `options`: predict and learned of serve.h. */
struct sp_overview *sp_overview_start(struct sp_state *state, struct sp_followed *followed,
                                      const struct sp_serve_options *options);
/* NULL is allowed. */
void sp_overview_stop(struct sp_overview *overview);
/* Appends the members of a JSON object; false, and nothing appended, while there is none yet. */
bool sp_overview_put(struct sp_overview *overview, struct sp_buf *out);

/* The URLs of its last pass, for the caller to unref; NULL while there are none yet. */
struct sp_catalogue *sp_overview_catalogue(struct sp_overview *overview);

/* Appends what the rules of the state say of a URL (predictions.h); false, and nothing appended,
 * while there are none yet. */
bool sp_overview_predict(struct sp_overview *overview, struct sp_view url, double confidence,
                         double explore, struct sp_buf *out);

#endif

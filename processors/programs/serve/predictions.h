/* Rules about URLs, learned from the pages of a state (predict/predict.h). Private to this folder.
 */
#ifndef SP_SERVE_PREDICTIONS_H
#define SP_SERVE_PREDICTIONS_H

#include "predict/predict.h"
#include "serve/state.h"

/* Inside begin and end. Learns from all pages with content, in the order of their last fetches: two
 * are one page if they have one winner. O(pages log pages); about 1 KiB a page, for as long as
 * the predictor lives. */
enum sp_err sp_predictions_learn(struct sp_state_reader *r, struct sp_predictor **ret_predictor);

/* Appends the rules with at least that confidence, a line of JSON each, the surest first. */
void sp_predictions_put_rules(const struct sp_predictor *p, double confidence, struct sp_buf *out);

/* Appends the prediction for a canonical URL as a JSON object. `explore`: the share of predicted
 * duplicates that should be fetched nevertheless. */
void sp_predictions_put(const struct sp_predictor *p, struct sp_view url, double confidence,
                        double explore, struct sp_buf *out);

#endif

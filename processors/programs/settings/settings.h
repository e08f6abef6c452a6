/* From the configuration's table to the options of texts and of similarity, for the program and for
 * the libraries. Thread rule: any thread. */
#ifndef SP_SETTINGS_SETTINGS_H
#define SP_SETTINGS_SETTINGS_H

#include "config/config.h"
#include "similarity/similarity.h"
#include "text/text.h"

enum sp_method sp_settings_method(const struct sp_config *config);

/* Without the dictionary of a trained map. */
void sp_settings_text(const struct sp_config *config, struct sp_text_options *ret_options);

/* A threshold of 0 is the method's own. */
void sp_settings_similarity(const struct sp_config *config,
                            struct sp_similarity_options *ret_options);

#endif

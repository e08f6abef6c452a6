/* A client of a schema registry with the interface of Confluent's: Confluent Schema Registry,
 * Karapace, Apicurio (its ccompat API), Redpanda.
 *
 * Each call asks the registry and is bounded in time: at most SP_REGISTRY_URLS addresses, one after
 * another until one responds, a few seconds each. Nothing is cached here; callers do that.
 *
 *   SP_OK            as asked
 *   SP_NOT_FOUND     it has no such schema
 *   SP_BUSY          no response, or 5xx or 429: the same call may succeed later
 *   SP_INVALID       refused: credentials, a schema that is not compatible, no registry at all;
 *                    somebody must do something
 *
 * In all but the first the fault says what and why; addresses are shown without credentials.
 * Thread rule: one thread at a time; the first sp_registry_new before there are threads. */
#ifndef SP_REGISTRY_REGISTRY_H
#define SP_REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fault.h"

enum { SP_REGISTRY_URLS = 4, SP_REGISTRY_CONNECT_MS = 2000, SP_REGISTRY_RESPONSE_MS = 5000 };

/* Texts are copied; an empty one is not given. */
struct sp_registry_options {
    const char *urls;      /* http or https, with commas between them */
    const char *user_info; /* USER:PASSWORD */
    const char *ca;        /* files in PEM: whom to trust instead of the system's list */
    const char *certificate;
    const char *key;
    const char *key_password;
    bool registers; /* sp_registry_id registers what is missing */
};

struct sp_registry;

/* Sends no request. SP_INVALID: these are not addresses. */
enum sp_err sp_registry_new(const struct sp_registry_options *options,
                            struct sp_registry **ret_registry, struct sp_fault *fault);
/* NULL is allowed. */
void sp_registry_free(struct sp_registry *r);

/* Whether the registry responds and accepts our credentials. */
enum sp_err sp_registry_reach(struct sp_registry *r, struct sp_fault *fault);

/* The text of the Avro schema with that id, into ret_schema (which is reset). SP_UNKNOWN_SCHEMA: it
 * is not Avro. */
enum sp_err sp_registry_schema(struct sp_registry *r, uint32_t id, struct sp_buf *ret_schema,
                               struct sp_fault *fault);

/* The id of this Avro schema under the subject; where it is not there, it is registered or
 * SP_NOT_FOUND, as the options say. */
enum sp_err sp_registry_id(struct sp_registry *r, const char *subject, struct sp_view schema,
                           uint32_t *ret_id, struct sp_fault *fault);

#endif

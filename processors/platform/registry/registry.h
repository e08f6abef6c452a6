/* A client of a schema registry with the interface of Confluent's: Confluent Schema Registry,
 * Karapace, Apicurio (its ccompat API), Redpanda.
 *
 * Each call sends a request. It tries the addresses in turn until one responds, and waits at most
 * SP_REGISTRY_CONNECT_MS for a connection and SP_REGISTRY_RESPONSE_MS in all for each. Nothing is
 * cached here; callers do that.
 *
 *   SP_OK            done
 *   SP_NOT_FOUND     the registry has no such schema
 *   SP_BUSY          no response, or status 5xx or 429: the same call may succeed later
 *   SP_INVALID       the registry refused the request (credentials, an incompatible schema), or the
 *                    server is no registry: an operator must act
 *
 * On any error the fault says what failed and why; it shows addresses without credentials.
 * Thread rule: one thread at a time for each client; make the first client before starting
 * threads, because that initialises libcurl. */
#ifndef SP_REGISTRY_REGISTRY_H
#define SP_REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fault.h"

enum { SP_REGISTRY_URLS = 4, SP_REGISTRY_CONNECT_MS = 2000, SP_REGISTRY_RESPONSE_MS = 5000 };

/* Texts are copied. All but `urls` may be NULL or empty: not set. */
struct sp_registry_options {
    const char *urls;        /* http or https, separated by commas; up to SP_REGISTRY_URLS */
    const char *user_info;   /* USER:PASSWORD, for basic authentication */
    const char *ca;          /* PEM file of the trusted authorities, instead of the system's list */
    const char *certificate; /* PEM file of the client's certificate */
    const char *key;         /* PEM file of its key */
    const char *key_password;
    bool registers; /* sp_registry_id registers schemas that are missing */
};

struct sp_registry;

/* Makes a client; sends no request. SP_INVALID: an address is wrong, or there are too many.
 * SP_NO_MEMORY: libcurl could not be initialised. */
enum sp_err sp_registry_new(const struct sp_registry_options *options,
                            struct sp_registry **ret_registry, struct sp_fault *fault);
/* NULL is allowed. */
void sp_registry_free(struct sp_registry *r);

/* Checks that the registry responds and accepts the credentials. */
enum sp_err sp_registry_reach(struct sp_registry *r, struct sp_fault *fault);

/* Replaces the content of ret_schema by the text of the Avro schema with that id.
 * SP_UNKNOWN_SCHEMA: the schema is not Avro. */
enum sp_err sp_registry_schema(struct sp_registry *r, uint32_t id, struct sp_buf *ret_schema,
                               struct sp_fault *fault);

/* Gets the id of this Avro schema under the subject. If it is missing there, it is registered if
 * options.registers is set; otherwise SP_NOT_FOUND. */
enum sp_err sp_registry_id(struct sp_registry *r, const char *subject, struct sp_view schema,
                           uint32_t *ret_id, struct sp_fault *fault);

#endif

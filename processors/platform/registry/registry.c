/* See registry.h. Source: Confluent Platform documentation, "Schema Registry API Reference". */
#include "registry/registry.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { BODY_MAX = 1 << 20, MESSAGE_MAX = 300 };

struct sp_registry {
    CURL *curl;
    char *urls[SP_REGISTRY_URLS]; /* without a slash at the end */
    size_t url_count;
    bool registers;
    struct curl_slist *headers;
    struct sp_buf body; /* of the last response */
};

/* ---- addresses ---- */

/* Returns the URL without "USER:PASSWORD@", for messages. */
static struct sp_fault shown(const char *url)
{
    struct sp_fault text;
    const char *host = strstr(url, "://"), *at = strrchr(url, '@');
    if (host && at)
        snprintf(text.text, sizeof text.text, "%.*s%s", (int)(host + 3 - url), url, at + 1);
    else
        snprintf(text.text, sizeof text.text, "%s", url);
    return text;
}

static enum sp_err add_url(struct sp_registry *r, struct sp_view url, struct sp_fault *fault)
{
    while (url.len && (url.data[0] == ' ' || url.data[0] == '\t'))
        url = sp_view(url.data + 1, url.len - 1);
    while (url.len && (url.data[url.len - 1] == ' ' || url.data[url.len - 1] == '/'))
        url.len--;
    bool http = url.len > 7 && memcmp(url.data, "http://", 7) == 0;
    bool https = url.len > 8 && memcmp(url.data, "https://", 8) == 0;
    if (!http && !https)
        return sp_fault_set(fault, SP_INVALID,
                            "schema.registry.url: each address begins with http:// or https://");
    if (r->url_count == SP_REGISTRY_URLS)
        return sp_fault_set(fault, SP_INVALID, "schema.registry.url: more than %d addresses",
                            SP_REGISTRY_URLS);
    r->urls[r->url_count++] = sp_view_dup(url);
    return SP_OK;
}

static enum sp_err add_urls(struct sp_registry *r, const char *urls, struct sp_fault *fault)
{
    enum sp_err err = SP_OK;
    for (const char *at = urls; err == SP_OK;) {
        size_t n = strcspn(at, ",");
        err = add_url(r, sp_view(at, n), fault);
        if (!at[n])
            break;
        at += n + 1;
    }
    return err;
}

/* ---- requests ---- */

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
    struct sp_buf *body = arg;
    if (body->len + size * count > BODY_MAX)
        return 0;
    sp_buf_put(body, data, size * count);
    return size * count;
}

/* Sends the request to one address. Returns true with the status if it responded. */
static bool ask(struct sp_registry *r, const char *base, const char *path, const char *post,
                long *ret_status, struct sp_fault *fault)
{
    char error[CURL_ERROR_SIZE] = "";
    struct sp_buf url = {0};
    sp_buf_put_str(&url, base);
    sp_buf_put(&url, path, strlen(path) + 1);
    sp_buf_reset(&r->body);
    curl_easy_setopt(r->curl, CURLOPT_URL, url.data);
    curl_easy_setopt(r->curl, CURLOPT_ERRORBUFFER, error);
    if (post)
        curl_easy_setopt(r->curl, CURLOPT_POSTFIELDS, post);
    else
        curl_easy_setopt(r->curl, CURLOPT_HTTPGET, 1L);
    CURLcode code = curl_easy_perform(r->curl);
    curl_easy_setopt(r->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, ret_status);
    sp_buf_done(&url);
    if (code == CURLE_OK && *ret_status < 500 && *ret_status != 429)
        return true;
    if (code == CURLE_OK)
        sp_fault_set(fault, SP_BUSY, "the schema registry %s responded with status %ld",
                     shown(base).text, *ret_status);
    else
        sp_fault_set(fault, SP_BUSY, "the schema registry %s does not respond: %s",
                     shown(base).text, *error ? error : curl_easy_strerror(code));
    return false;
}

/* Returns the error message in the registry's response, as one line. */
static struct sp_fault reason(const struct sp_registry *r)
{
    struct sp_fault text = {{0}};
    json_t *body = json_loadb(r->body.data ? r->body.data : "", r->body.len, 0, NULL);
    const char *message = json_string_value(json_object_get(body, "message"));
    if (message)
        snprintf(text.text, sizeof text.text, ": %.*s", MESSAGE_MAX, message);
    for (char *c = text.text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    json_decref(body);
    return text;
}

/* Tries the addresses in turn. `what` names, in messages, what is requested. */
static enum sp_err request(struct sp_registry *r, const char *path, const char *post,
                           const char *what, struct sp_fault *fault)
{
    long status = 0;
    size_t i = 0;
    while (i < r->url_count && !ask(r, r->urls[i], path, post, &status, fault))
        i++;
    if (i == r->url_count)
        return SP_BUSY;
    if (status >= 200 && status < 300)
        return SP_OK;
    if (status == 401 || status == 403)
        return sp_fault_set(fault, SP_INVALID,
                            "the schema registry %s refuses access (%ld); see "
                            "schema.registry.basic.auth.user.info%s",
                            shown(r->urls[i]).text, status, reason(r).text);
    enum sp_err err = status == 404 ? SP_NOT_FOUND : SP_INVALID;
    return sp_fault_set(fault, err, "%s: the schema registry %s responded with status %ld%s", what,
                        shown(r->urls[i]).text, status, reason(r).text);
}

static enum sp_err no_registry(const struct sp_registry *r, const char *what,
                               struct sp_fault *fault)
{
    return sp_fault_set(fault, SP_INVALID,
                        "%s: the server at %s is no schema registry, or has an interface that is "
                        "not Confluent's",
                        what, shown(r->urls[0]).text);
}

/* ---- the public side ---- */

static void set_up(struct sp_registry *r, const struct sp_registry_options *o)
{
    static const char type[] = "application/vnd.schemaregistry.v1+json";
    const struct {
        CURLoption option;
        const char *text;
    } texts[] = {{CURLOPT_USERPWD, o->user_info},
                 {CURLOPT_CAINFO, o->ca},
                 {CURLOPT_SSLCERT, o->certificate},
                 {CURLOPT_SSLKEY, o->key},
                 {CURLOPT_KEYPASSWD, o->key_password}};
    char header[96];
    snprintf(header, sizeof header, "Accept: %s", type);
    r->headers = curl_slist_append(NULL, header);
    snprintf(header, sizeof header, "Content-Type: %s", type);
    r->headers = curl_slist_append(r->headers, header);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text && *texts[i].text)
            curl_easy_setopt(r->curl, texts[i].option, texts[i].text);
    curl_easy_setopt(r->curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(r->curl, CURLOPT_HTTPHEADER, r->headers);
    curl_easy_setopt(r->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(r->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(r->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)SP_REGISTRY_CONNECT_MS);
    curl_easy_setopt(r->curl, CURLOPT_TIMEOUT_MS, (long)SP_REGISTRY_RESPONSE_MS);
    curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, &r->body);
}

enum sp_err sp_registry_new(const struct sp_registry_options *options,
                            struct sp_registry **ret_registry, struct sp_fault *fault)
{
    struct sp_registry *r = sp_calloc(1, sizeof *r);
    r->registers = options->registers;
    enum sp_err err = add_urls(r, options->urls, fault);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (err == SP_OK && !(r->curl = curl_easy_init()))
        err = sp_fault_set(fault, SP_NO_MEMORY, "libcurl cannot be started");
    if (err == SP_OK) {
        set_up(r, options);
        *ret_registry = r;
    } else {
        sp_registry_free(r);
    }
    return err;
}

void sp_registry_free(struct sp_registry *r)
{
    if (!r)
        return;
    curl_easy_cleanup(r->curl);
    curl_slist_free_all(r->headers);
    curl_global_cleanup();
    for (size_t i = 0; i < r->url_count; i++)
        sp_free(r->urls[i]);
    sp_buf_done(&r->body);
    sp_free(r);
}

enum sp_err sp_registry_reach(struct sp_registry *r, struct sp_fault *fault)
{
    enum sp_err err = request(r, "/schemas/types", NULL, "the kinds of schemas", fault);
    return err == SP_NOT_FOUND ? SP_OK : err; /* an old registry does not have this path */
}

enum sp_err sp_registry_schema(struct sp_registry *r, uint32_t id, struct sp_buf *ret_schema,
                               struct sp_fault *fault)
{
    char path[64], what[64];
    snprintf(path, sizeof path, "/schemas/ids/%u", id);
    snprintf(what, sizeof what, "schema id %u", id);
    enum sp_err err = request(r, path, NULL, what, fault);
    if (err != SP_OK)
        return err;
    json_t *body = json_loadb(r->body.data ? r->body.data : "", r->body.len, 0, NULL);
    const json_t *schema = json_object_get(body, "schema");
    const char *type = json_string_value(json_object_get(body, "schemaType"));
    if (!json_is_string(schema)) {
        err = no_registry(r, what, fault);
    } else if (type && strcmp(type, "AVRO") != 0) {
        err =
            sp_fault_set(fault, SP_UNKNOWN_SCHEMA, "%s is of the kind %.40s, not Avro", what, type);
    } else {
        sp_buf_reset(ret_schema);
        sp_buf_put(ret_schema, json_string_value(schema), json_string_length(schema));
    }
    json_decref(body);
    return err;
}

static int on_json(const char *data, size_t size, void *arg)
{
    sp_buf_put(arg, data, size);
    return 0;
}

enum sp_err sp_registry_id(struct sp_registry *r, const char *subject, struct sp_view schema,
                           uint32_t *ret_id, struct sp_fault *fault)
{
    json_t *post = json_pack("{s:s%}", "schema", schema.data, schema.len);
    struct sp_buf text = {0};
    char *name = curl_easy_escape(r->curl, subject, 0);
    struct sp_buf path = {0};
    char what[512];
    sp_buf_put_str(&path, "/subjects/");
    sp_buf_put_str(&path, name ? name : "");
    sp_buf_put_str(&path, r->registers ? "/versions" : "");
    sp_buf_put_u8(&path, 0);
    snprintf(what, sizeof what, "the schema of subject %.300s cannot be %s", subject,
             r->registers ? "registered" : "found");
    bool good = post && name && json_dump_callback(post, on_json, &text, 0) == 0;
    sp_buf_put_u8(&text, 0);
    enum sp_err err = good ? request(r, path.data, text.data, what, fault)
                           : sp_fault_set(fault, SP_INVALID, "%s: not UTF-8", what);
    json_t *body =
        err == SP_OK ? json_loadb(r->body.data ? r->body.data : "", r->body.len, 0, NULL) : NULL;
    json_int_t id = json_integer_value(json_object_get(body, "id"));
    if (err == SP_OK && (id < 1 || id > INT32_MAX))
        err = no_registry(r, what, fault);
    if (err == SP_OK)
        *ret_id = (uint32_t)id;
    json_decref(body);
    json_decref(post);
    sp_buf_done(&text);
    curl_free(name);
    sp_buf_done(&path);
    return err;
}

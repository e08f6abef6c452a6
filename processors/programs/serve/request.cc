/* See request.h: simdjson's ondemand parser. */
#include "serve/request.h"

#include <simdjson.h>
#include <string>

#include "base/url.h"

using namespace simdjson;

struct sp_json_lists {
    ondemand::parser parser;
    sp_list_item *items;
    size_t most;
    sp_list list;
    std::string why; /* with the name of an unknown field */
};

sp_json_lists *sp_json_lists_new(size_t most_items)
{
    sp_json_lists *lists = new sp_json_lists;
    lists->items = new sp_list_item[most_items];
    lists->most = most_items;
    return lists;
}

void sp_json_lists_free(sp_json_lists *lists)
{
    if (!lists)
        return;
    delete[] lists->items;
    delete lists;
}

static const char too_many[] = "the list is longer than allowed";

static bool get_text(ondemand::value value, struct sp_view *ret)
{
    std::string_view text;
    if (value.get_string().get(text))
        return false;
    *ret = sp_view(text.data(), text.size());
    return true;
}

static const char too_long[] = "a url is longer than 8,192 bytes";

static sp_list_item *next_item(sp_json_lists *l)
{
    if (l->list.count == l->most)
        return nullptr;
    sp_list_item *item = &l->items[l->list.count++];
    *item = {};
    return item;
}

/* A misspelt field that was passed over would change the result without a word. */
static const char *unknown(sp_json_lists *l, std::string_view key, const char *known)
{
    enum { SHOWN = 100 };
    l->why = "unknown field \"" + std::string(key.substr(0, SHOWN)) + "\": " + known;
    return l->why.c_str();
}

static const char *read_urls(sp_json_lists *l, ondemand::value value)
{
    ondemand::array urls;
    if (value.get_array().get(urls))
        return "urls is not an array";
    for (auto element : urls) {
        ondemand::value url;
        sp_list_item *item = next_item(l);
        if (!item)
            return too_many;
        if (element.get(url) || !get_text(url, &item->url))
            return "urls holds something that is not a string";
        if (item->url.len > SP_URL_MAX_BYTES)
            return too_long;
    }
    return nullptr;
}

static const char *read_document(sp_json_lists *l, sp_list_item *item, ondemand::object document)
{
    for (auto field : document) {
        std::string_view key;
        ondemand::value value;
        if (field.unescaped_key().get(key) || field.value().get(value))
            return "a document is not well formed";
        if (key == "url") {
            if (!get_text(value, &item->url))
                return "the url of a document is not a string";
            if (item->url.len > SP_URL_MAX_BYTES)
                return too_long;
        } else if (key == "text") {
            if (!get_text(value, &item->text))
                return "the text of a document is not a string";
        } else if (key == "content_type") {
            if (!get_text(value, &item->content_type))
                return "the content_type of a document is not a string";
        } else {
            return unknown(l, key, "a document has url, text and content_type");
        }
    }
    return item->url.data ? nullptr : "a document has no url";
}

static const char *read_documents(sp_json_lists *l, ondemand::value value)
{
    ondemand::array documents;
    if (value.get_array().get(documents))
        return "documents is not an array";
    for (auto element : documents) {
        ondemand::object document;
        sp_list_item *item = next_item(l);
        if (!item)
            return too_many;
        if (element.get_object().get(document))
            return "documents holds something that is not an object";
        const char *why = read_document(l, item, document);
        if (why)
            return why;
    }
    return nullptr;
}

static const char *read_body(sp_json_lists *l, ondemand::object body)
{
    bool found = false;
    for (auto field : body) {
        std::string_view key;
        ondemand::value value;
        const char *why = nullptr;
        if (field.unescaped_key().get(key) || field.value().get(value))
            return "the body is not well-formed JSON";
        if (key == "urls" || key == "documents") {
            if (found)
                return "the body has more than one list";
            found = true;
            why = key == "urls" ? read_urls(l, value) : read_documents(l, value);
        } else if (key == "threshold") {
            if (value.get_double().get(l->list.threshold) ||
                !(l->list.threshold > 0 && l->list.threshold <= 1))
                why = "threshold is not a number above 0 and at most 1";
        } else {
            why = unknown(l, key, "the body has urls or documents, and threshold");
        }
        if (why)
            return why;
    }
    return found ? nullptr : "the body has neither urls nor documents";
}

sp_err sp_json_lists_parse(sp_json_lists *l, struct sp_view body, const sp_list **ret_list,
                           const char **ret_why)
{
    ondemand::document document;
    ondemand::object object;
    l->list = {l->items, 0, 0};
    if (l->parser.iterate(body.data, body.len, body.len + SP_REQUEST_PADDING).get(document) ||
        document.get_object().get(object)) {
        *ret_why = "the body is not a JSON object";
        return SP_MALFORMED;
    }
    const char *why = read_body(l, object);
    const char *rest;
    if (!why && !document.current_location().get(rest))
        why = "there is more than one value in the body";
    if (why) {
        *ret_why = why;
        return why == too_many ? SP_TOO_LARGE : SP_MALFORMED;
    }
    *ret_list = &l->list;
    return SP_OK;
}

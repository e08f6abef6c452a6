/* Every setting, once. */
#include "config/options.h"

#define FIELD(name) offsetof(struct sp_config, name)
#define KIB 1024.0
#define GIB (1024.0 * 1024 * 1024)

const struct sp_option sp_options[] = {
    {"mode", SP_OPTION_CHOICE, FIELD(mode), true, "exact", 0, 0, "exact|fast",
     "exact: when everything is processed, groups equal the components computed from scratch. "
     "fast: "
     "the paper's approximations, for crawls of mostly unchanged pages"},
    {"fast.tier2", SP_OPTION_CHOICE, FIELD(fast_tier2), true, "skip", 0, 0, "skip|ask",
     "in mode fast: a changed page that is similar to its group's representative stays and is not "
     "compared in tier 2. ask: it is compared all the same"},
    {"fast.recheck", SP_OPTION_CHOICE, FIELD(fast_recheck), true, "off", 0, 0, "off|on",
     "in mode fast: whether a group is re-checked when a member has changed or left. off: the rest "
     "stays together"},
    {"similarity.method", SP_OPTION_CHOICE, FIELD(similarity_method), true, "shingles", 0, 0,
     "shingles|simhash|cosine|sentences|lcs|combined",
     "how pages are compared. shingles: Jaccard similarity of their 5-word shingles. simhash: equal "
     "bits of 64. cosine: of their term frequencies. sentences: Jaccard similarity of their stemmed "
     "sentences. lcs: longest common subsequence of their sentences. combined: as shingles, and "
     "where that is close the sentences decide. README.md has a table of what they find"},
    {"similarity.threshold", SP_OPTION_REAL, FIELD(similarity_threshold), true, "0", 0, 1, NULL,
     "tau: pages are near duplicates from this similarity on, at least 0.3 (simhash: 0.890625). 0: "
     "the method's own: shingles 0.8, simhash 0.953125 (61 bits of 64), cosine 0.98, sentences 0.5, "
     "lcs 0.5, combined 0.7"},
    {"similarity.band", SP_OPTION_REAL, FIELD(similarity_band), true, "0.1", 0, 1, NULL,
     "combined: where the similarity is less than this above the threshold, the sentences decide as "
     "well (similarity.lcs_min). 0: never"},
    {"similarity.lcs_min", SP_OPTION_REAL, FIELD(similarity_lcs_min), true, "0.5", 0, 1, NULL,
     "combined: inside the band, the least share of common sentences, LCS / (A + B - LCS) of the two "
     "sequences"},
    {"similarity.languages", SP_OPTION_CHOICE, FIELD(similarity_languages), true, "together", 0, 0,
     "together|apart",
     "apart: pages of different detected languages are never near duplicates, nor one of which none "
     "is detected and any other; of shingles and combined. The experiment `language` of samepage "
     "evaluate says what that would lose"},
    {"signature.repeats", SP_OPTION_CHOICE, FIELD(signature_repeats), true, "once", 0, 0,
     "once|labelled",
     "once: a shingle that a page repeats counts once. labelled: each occurrence counts, labelled "
     "with its number, so that pages must also agree in how often they repeat things"},
    {"signature.max_shingles", SP_OPTION_COUNT, FIELD(signature_max_shingles), true, "1024", 16,
     65536, NULL,
     "shingle hashes kept of a page: up to that many words the similarity is exact, above it an "
     "unbiased estimate; with cosine, distinct words"},
    {"signature.max_sentences", SP_OPTION_COUNT, FIELD(signature_max_sentences), true, "1024", 1,
     4096, NULL,
     "sentence hashes kept of a page, with similarity.method = sentences (the smallest), lcs or "
     "combined, or signature.sentences = keep (the first)"},
    {"signature.sentences", SP_OPTION_CHOICE, FIELD(signature_sentences), true, "needed", 0, 0,
     "needed|keep",
     "needed: sentence hashes are kept where similarity.method compares them. keep: with shingles as "
     "well, so that `serve --filter sentences` can compare result lists by them; pages are equal "
     "then where their sentences are"},
    {"signature.sentence_hash", SP_OPTION_CHOICE, FIELD(signature_sentence_hash), true, "xxh3", 0,
     0, "xxh3|crc32",
     "the 32 bits that stand for a sentence: of XXH3, or the CRC32 of Smith's paper"},
    {"text.scope", SP_OPTION_CHOICE, FIELD(text_scope), true, "main", 0, 0, "main|all",
     "main: a page's main content, without menus, headers and footers. all: everything a reader "
     "sees"},
    {"text.language", SP_OPTION_CHOICE, FIELD(text_language), false, "needed", 0, 0,
     "needed|detect|off",
     "needed: the language of a page is detected where something reads it (stemmed sentences, a "
     "relation of samepage cover, samepage similar). detect: always, and kept with the page's "
     "signature. off: only for stems"},
    {"text.max_bytes", SP_OPTION_BYTES, FIELD(text_max_bytes), true, "16MiB", KIB, GIB / 8, NULL,
     "of a page's content no more is read than that: the rest is cut off, and the page counted"},
    {"winner.margin", SP_OPTION_REAL, FIELD(winner_margin), true, "0", 0, 1e18, NULL,
     "popularity by which a page must exceed a living winner to replace it. 0: the best page "
     "always "
     "wins, and statuses do not depend on the order of events"},
    {"winner.popularity_tolerance", SP_OPTION_REAL, FIELD(winner_popularity_tolerance), true, "0",
     0, 1, NULL,
     "popularities that differ by no more than about this share are the same, and the next rule "
     "decides: static URLs, then short ones. They are rounded to ceil(1 / it) classes between two "
     "powers of two, so that the order stays one; two near a border of classes still differ. "
     "winner.margin and popularity in winner.relation see the rounded values. 0: none is the same"},
    {"winner.relation", SP_OPTION_TEXT, FIELD(winner_relation), true, "", 0, SP_CONFIG_TEXT, NULL,
     "coverage relation, as of samepage cover: a page a loses only to a similar winner b for which it "
     "holds, as a.host = b.host && a.timestamp <= b.timestamp. Fields: url, host, timestamp (first "
     "fetched with this content), popularity, shingles; measures: containment, jaccard, dice. Empty: "
     "to any similar winner"},
    {"partition.map", SP_OPTION_TEXT, FIELD(partition_map), false, "", 0, SP_CONFIG_TEXT, NULL,
     "file of a trained partition map (samepage train), the same for all stages; its dictionary is "
     "part of what a state means, its cells can change (partition.previous_map). Empty: an untrained map of partition.cells cells"},
    {"partition.previous_map", SP_OPTION_TEXT, FIELD(partition_previous_map), false, "", 0,
     SP_CONFIG_TEXT, NULL,
     "file of the map that partition.map replaces (samepage train --after), until all pages have moved "
     "to its cells; untrained: the map without a file. Empty: there is nothing to move"},
    {"partition.cells", SP_OPTION_COUNT, FIELD(partition_cells), true, "1", 1, 4096, NULL,
     "cells of the length space that tier 2 is divided into, where partition.map names no map"},
    {"partition.routing", SP_OPTION_CHOICE, FIELD(partition_routing), true, "lossless", 0, 0,
     "lossless|bounded",
     "lossless: a page visits every cell that may hold a near duplicate. bounded: the paper's "
     "condition, fewer cells, some pairs lost"},
    {"partition.rho", SP_OPTION_REAL, FIELD(partition_rho), true, "1.1", 1, 2, NULL,
     "the paper's rho, for bounded routing"},
    {"tier1.partitions", SP_OPTION_COUNT, FIELD(tier1_partitions), true, "1", 1, 1000, NULL,
     "partitions of the group stage; the local job gains nothing from more than one"},
    {"threads", SP_OPTION_COUNT, FIELD(threads), false, "0", 0, 256, NULL,
     "threads that turn pages into signatures. 1: everything in one thread. 0: one a core"},
    {"barrier.pages", SP_OPTION_COUNT, FIELD(barrier_pages), false, "2000", 1, 1e9, NULL,
     "records between two commits of state, input position and output length"},
    {"cache.bytes", SP_OPTION_BYTES, FIELD(cache_bytes), false, "512MiB", KIB *KIB, 1024 * GIB,
     NULL, "memory for pages, groups, rows and signatures kept between barriers"},
    {"store.block_cache_bytes", SP_OPTION_BYTES, FIELD(store_block_cache_bytes), false, "256MiB",
     KIB *KIB, 1024 * GIB, NULL, "RocksDB's cache of blocks"},
    {"store.memtable_bytes", SP_OPTION_BYTES, FIELD(store_memtable_bytes), false, "64MiB", KIB *KIB,
     16 * GIB, NULL,
     "each of RocksDB's up to three write buffers; on Kafka the databases of a process share it"},
    {"store.background_threads", SP_OPTION_COUNT, FIELD(store_background_threads), false, "2", 1,
     64, NULL, "RocksDB's threads for writing and merging files"},
    {"store.write_ahead_log", SP_OPTION_CHOICE, FIELD(store_write_ahead_log), false, "off", 0, 0,
     "off|on",
     "off: after a kill, reading goes on behind the last write buffer that reached the disk: "
     "nothing is "
     "lost, some pages are read again. on: behind the last barrier, for inputs that cannot be read "
     "again"},
    {"topics.prefix", SP_OPTION_TEXT, FIELD(topics_prefix), false, "samepage.", 0, SP_CONFIG_TEXT,
     NULL, "what the names of topics, consumer groups and transactional ids start with"},
    {"topics.pages_partitions", SP_OPTION_COUNT, FIELD(topics_pages_partitions), false, "4", 1,
     10000, NULL, "partitions of the topic of crawled pages"},
    {"topics.status_partitions", SP_OPTION_COUNT, FIELD(topics_status_partitions), false, "4", 1,
     10000, NULL, "partitions of the topic of statuses"},
    {"topics.pages_schema_id", SP_OPTION_COUNT, FIELD(topics_pages_schema_id), false, "0", 0,
     INT32_MAX, NULL,
     "without schema.registry.url, the id of schemas/page.avsc at a schema registry: pages in its "
     "framing are read as well, and written by `ingest`. 0: single-object encoding"},
    {"topics.status_schema_id", SP_OPTION_COUNT, FIELD(topics_status_schema_id), false, "0", 0,
     INT32_MAX, NULL,
     "without schema.registry.url, the id of schemas/status.avsc at a schema registry: statuses are "
     "written in its framing. 0: single-object encoding"},
    {"schema.registry.url", SP_OPTION_TEXT, FIELD(schema_registry_url), false, "", 0,
     SP_CONFIG_TEXT, NULL,
     "a schema registry with Confluent's interface; several addresses of it with commas between "
     "them. Statuses, and pages from `ingest`, are written in its framing, under the subjects "
     "TOPIC-value; pages are read in the schema that their id stands for. Empty: none is asked"},
    {"schema.registry.basic.auth.user.info", SP_OPTION_TEXT, FIELD(schema_registry_user_info),
     false, "", 0, SP_CONFIG_TEXT, NULL, "USER:PASSWORD for the schema registry"},
    {"schema.registry.ssl.ca.location", SP_OPTION_TEXT, FIELD(schema_registry_ca), false, "", 0,
     SP_CONFIG_TEXT, NULL,
     "a file (PEM) with the authorities to trust, instead of the system's list"},
    {"schema.registry.ssl.certificate.location", SP_OPTION_TEXT, FIELD(schema_registry_certificate),
     false, "", 0, SP_CONFIG_TEXT, NULL,
     "a file (PEM) with our certificate for the schema registry"},
    {"schema.registry.ssl.key.location", SP_OPTION_TEXT, FIELD(schema_registry_key), false, "", 0,
     SP_CONFIG_TEXT, NULL, "a file (PEM) with its key"},
    {"schema.registry.ssl.key.password", SP_OPTION_TEXT, FIELD(schema_registry_key_password), false,
     "", 0, SP_CONFIG_TEXT, NULL, "the password of that key"},
    {"schema.registry.auto.register.schemas", SP_OPTION_CHOICE, FIELD(schema_registry_registers),
     false, "true", 0, 0, "false|true",
     "true: our schemas are registered where they are missing. false: somebody has done so"},
    {"topics.replication", SP_OPTION_COUNT, FIELD(topics_replication), false, "1", 1, 9, NULL,
     "replicas of each topic; 3 for anything that matters"},
    {"tier2.partitions", SP_OPTION_COUNT, FIELD(tier2_partitions), true, "1", 1, 1000, NULL,
     "partitions of the compare stage on Kafka: at most one a cell, or machine of the map, has work"},
    {"instance", SP_OPTION_TEXT, FIELD(instance), false, "1", 0, SP_CONFIG_TEXT, NULL,
     "the name of this process among those of its stage; it must be its own, and the same after a "
     "restart"},
    {"state.directory", SP_OPTION_TEXT, FIELD(state_directory), false, "state", 0, SP_CONFIG_TEXT,
     NULL, "where a stage on Kafka keeps its local state"},
    {"commit.interval_ms", SP_OPTION_COUNT, FIELD(commit_interval_ms), false, "100", 1, 60000, NULL,
     "milliseconds between two transactions"},
    {"commit.messages", SP_OPTION_COUNT, FIELD(commit_messages), false, "20000", 1, 1e9, NULL,
     "messages after which a transaction ends early"},
    {"flow.max_lag", SP_OPTION_COUNT, FIELD(flow_max_lag), false, "100000", 0, 1e12, NULL,
     "the signature stage waits while the tiers are that many messages behind. 0: never"},
    {"http.listen", SP_OPTION_TEXT, FIELD(http_listen), false, "", 0, SP_CONFIG_TEXT, NULL,
     "address:port where a stage on Kafka answers /livez, /readyz and /metrics, as 127.0.0.1:8080, "
     "or :8080 for all addresses. Empty: nowhere"},
    {"log.format", SP_OPTION_CHOICE, FIELD(log_format), false, "plain", 0, 0, "plain|json",
     "the log of the commands on Kafka, on standard error. json: one object a line with time, level, "
     "stage and text"},
    {"input.max_record_bytes", SP_OPTION_BYTES, FIELD(input_max_record_bytes), false, "64MiB", KIB,
     GIB, NULL, "larger records become dead letters"},
    {"input.max_future_ms", SP_OPTION_COUNT, FIELD(input_max_future_ms), false, "0", 0, 1e13, NULL,
     "run: a fetch whose time is further ahead than that of the latest before it becomes a dead "
     "letter, instead of the last word on its page for as long; the hundredth in a row is accepted. "
     "For crawls in the order of time: 86400000 is a day. 0: any time before the year 2248"},
    {"input.max_unreadable", SP_OPTION_REAL, FIELD(input_max_unreadable), false, "1", 0, 1, NULL,
     "where more than this share of the records of a command's input could not be read its exit "
     "status is 1, after all that can be read was processed. 1: only where none could"},
    {"input.id_field", SP_OPTION_TEXT, FIELD(input_id_field), false, "url", 1, SP_CONFIG_TEXT, NULL,
     "what the field of the id is called in JSON and in tables. With another name than url the "
     "id need not be a URL: what is none becomes doc:ID"},
    {"input.text_field", SP_OPTION_TEXT, FIELD(input_text_field), false, "content", 1,
     SP_CONFIG_TEXT, NULL, "the same, of the text"},
    {"input.time_field", SP_OPTION_TEXT, FIELD(input_time_field), false, "fetch_time_ms", 1,
     SP_CONFIG_TEXT, NULL,
     "the same, of the time of the fetch: a number of ms since 1970 or a date of ISO 8601; "
     "with another name also of seconds"},
    {"input.status_field", SP_OPTION_TEXT, FIELD(input_status_field), false, "http_status", 1,
     SP_CONFIG_TEXT, NULL, "the same, of the HTTP status"},
    {"input.redirect_field", SP_OPTION_TEXT, FIELD(input_redirect_field), false, "redirect_url", 1,
     SP_CONFIG_TEXT, NULL, "the same, of the target of a redirect"},
    {"input.type_field", SP_OPTION_TEXT, FIELD(input_type_field), false, "content_type", 1,
     SP_CONFIG_TEXT, NULL, "the same, of the content type"},
    {"input.popularity_field", SP_OPTION_TEXT, FIELD(input_popularity_field), false, "popularity",
     1, SP_CONFIG_TEXT, NULL, "the same, of the popularity"},
    {"audit.share", SP_OPTION_REAL, FIELD(audit_share), false, "0", 0, 1, NULL,
     "run: the share of pages that is watched while the run goes on, by URL and by content; the "
     "statuses of those that resemble each other are checked (docs/AUDIT.md). 0: none"},
    {"audit.pages", SP_OPTION_COUNT, FIELD(audit_pages), false, "4096", 2, 1e6, NULL,
     "most pages that are watched: where there are more, audit.share is halved"},
    {"cover.memory_bytes", SP_OPTION_BYTES, FIELD(cover_memory_bytes), false, "2GiB", KIB *KIB,
     1024 * GIB, NULL,
     "cover: memory for the index of shingles and for sorting; what does not fit is done in several "
     "passes over a temporary file"},
    {"cover.exact_documents", SP_OPTION_COUNT, FIELD(cover_exact_documents), false, "256", 0, 4096,
     NULL,
     "cover: of up to that many documents that hang together the smallest cover is found exactly, of "
     "more a small one greedily"},
    {"cover.exact_steps", SP_OPTION_COUNT, FIELD(cover_exact_steps), false, "20000", 0, 1e12, NULL,
     "cover: steps of branch and bound after which the best cover found so far is taken"},
};

const size_t sp_option_count = sizeof sp_options / sizeof *sp_options;

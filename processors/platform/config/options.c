/* Every setting, once. */
#include "config/options.h"

#define FIELD(name) offsetof(struct sp_config, name)
#define KIB 1024.0
#define GIB (1024.0 * 1024 * 1024)
/* Kafka's 249 bytes of a topic's name without "contain-changelog". Cut names would be those of
 * other topics. */
#define PREFIX_BYTES (249 - 17 + 1)

const struct sp_option sp_options[] = {
    {"mode", SP_OPTION_CHOICE, FIELD(mode), true, "exact", 0, 0, "exact|fast",
     "exact: once all pages are processed, the groups equal those computed from scratch. "
     "fast: the paper's approximations: a changed page that is still similar to the content that "
     "its winner had (a winner: to its own earlier content) stays in its group; tier 2 stores its "
     "signature and searches no other cell. With one cell, the default, this saves nothing"},
    {"fast.recheck_share", SP_OPTION_REAL, FIELD(fast_recheck_share), false, "0", 0, 1, NULL,
     "in mode fast: after a change, a group is checked for being connected if more than this share "
     "of its pages is unlike its winner. 0: if any is; 1: never"},
    {"similarity.method", SP_OPTION_CHOICE, FIELD(similarity_method), true, "shingles", 0, 0,
     "shingles|simhash|cosine|sentences|lcs|combined",
     "how pages are compared. shingles: Jaccard similarity of their 5-word shingles. simhash: "
     "equal bits of 64. cosine: of their term frequencies. sentences: Jaccard similarity of "
     "their stemmed sentences. lcs: longest common subsequence of their sentences. combined: "
     "like shingles, but close to the threshold the sentences decide as well. README.md "
     "compares what they find"},
    {"similarity.threshold", SP_OPTION_REAL, FIELD(similarity_threshold), true, "0", 0, 1, NULL,
     "tau: pages at least this similar are near duplicates; the least is 0.3 (simhash: "
     "0.890625). 0: the default of the method: shingles 0.8, simhash 0.953125 (61 of 64 "
     "bits), cosine 0.98, sentences 0.5, lcs 0.5, combined 0.7"},
    {"similarity.band", SP_OPTION_REAL, FIELD(similarity_band), true, "0.1", 0, 1, NULL,
     "combined: if the similarity exceeds the threshold by less than this, the sentences "
     "decide as well (similarity.lcs_min). 0: never"},
    {"similarity.lcs_min", SP_OPTION_REAL, FIELD(similarity_lcs_min), true, "0.5", 0, 1, NULL,
     "combined: the least share of common sentences inside the band, LCS / (A + B - LCS) of "
     "the two sequences"},
    {"similarity.languages", SP_OPTION_CHOICE, FIELD(similarity_languages), true, "together", 0, 0,
     "together|apart",
     "together: language does not matter. apart: two pages are near duplicates only if the "
     "same language was detected in both, or none in either; with shingles and combined only. "
     "The experiment `language` of samepage evaluate measures which pairs that loses"},
    {"lcs.sets", SP_OPTION_CHOICE, FIELD(lcs_sets), false, "components", 0, 0, "components|paper",
     "pairs, with similarity.method = lcs. components: every pair that is found, and sets are what "
     "such pairs connect. paper: the sets of Huang, Wang and Li, in which a page is compared with "
     "later pages that have no set yet; its pairs are those of a page and the page that its set "
     "started from. evaluate measures both"},
    {"signature.repeats", SP_OPTION_CHOICE, FIELD(signature_repeats), true, "once", 0, 0,
     "once|labelled",
     "once: a shingle counts once, however often a page repeats it. labelled: each occurrence "
     "counts, so that pages must also agree in how often they repeat things"},
    {"signature.max_shingles", SP_OPTION_COUNT, FIELD(signature_max_shingles), true, "1024", 16,
     65536, NULL,
     "shingle hashes kept of a page (with cosine: distinct words). Up to this many the "
     "similarity is exact, beyond it an unbiased estimate"},
    {"signature.max_sentences", SP_OPTION_COUNT, FIELD(signature_max_sentences), true, "1024", 1,
     4096, NULL,
     "sentence hashes kept of a page: with similarity.method = sentences the smallest ones, "
     "with lcs, combined or signature.sentences = keep the first ones"},
    {"signature.sentences", SP_OPTION_CHOICE, FIELD(signature_sentences), true, "needed", 0, 0,
     "needed|keep",
     "needed: sentence hashes are kept if similarity.method compares them. keep: with "
     "shingles as well, so that `serve --filter sentences` can compare result lists by them; "
     "contents are then equal only if their sentences are"},
    {"signature.sentence_hash", SP_OPTION_CHOICE, FIELD(signature_sentence_hash), true, "xxh3", 0,
     0, "xxh3|crc32", "the 32-bit hash of a sentence: from XXH3, or the CRC32 of Smith's paper"},
    {"text.scope", SP_OPTION_CHOICE, FIELD(text_scope), true, "main", 0, 0, "main|all",
     "main: a page's main content, without menus, headers and footers. all: everything a reader "
     "sees"},
    {"text.language", SP_OPTION_CHOICE, FIELD(text_language), false, "needed", 0, 0,
     "needed|detect|off",
     "needed: a page's language is detected if something uses it (stemmed sentences, a "
     "relation of samepage cover, samepage similar). detect: always, and stored in the page's "
     "signature. off: only for stems"},
    {"text.max_bytes", SP_OPTION_BYTES, FIELD(text_max_bytes), true, "16MiB", KIB, GIB / 8, NULL,
     "bytes read of a page's content; the rest is cut off, and such pages are counted"},
    {"winner.margin", SP_OPTION_REAL, FIELD(winner_margin), true, "0", 0, 1e18, NULL,
     "how much more popular a page must be than the present winner to replace it. 0: the best "
     "page always wins, and statuses do not depend on the order of events"},
    {"winner.popularity_tolerance", SP_OPTION_REAL, FIELD(winner_popularity_tolerance), true, "0",
     0, 1, NULL,
     "popularities that differ by no more than about this share count as equal, so that the "
     "next rule decides: static URLs first, then short ones. Each power of two is divided "
     "into ceil(1 / tolerance) classes; two values near the border of a class can still "
     "differ. winner.margin and winner.relation use the rounded values. 0: no rounding"},
    {"winner.relation", SP_OPTION_TEXT, FIELD(winner_relation), true, "", 0, SP_CONFIG_TEXT, NULL,
     "coverage relation, written as for samepage cover: page a loses only to a similar winner "
     "b for which it holds, for example a.host = b.host && a.timestamp <= b.timestamp. "
     "Fields: url, host, timestamp (first fetch with this content), popularity, shingles; "
     "measures: containment, jaccard, dice. Empty: a page loses to any similar winner"},
    {"containment.threshold", SP_OPTION_REAL, FIELD(containment_threshold), true, "0", 0, 1, NULL,
     "run: a kept page that has at least this share of its shingles in common with a larger kept page gets "
     "contained_in and containment in its status (docs/CONTAINMENT.md). At least 0.5. 0: off, at no cost"},
    {"containment.boilerplate", SP_OPTION_REAL, FIELD(containment_boilerplate), true, "0.5", 0.1, 1,
     NULL,
     "shingles on more than this share of a host's pages do not count for containment, once the host "
     "has 16 pages. 1: all count"},
    {"partition.map", SP_OPTION_TEXT, FIELD(partition_map), false, "", 0, SP_CONFIG_TEXT, NULL,
     "file of a trained partition map (samepage train), the same for all stages. A state can "
     "move to other cells (partition.previous_map), but not to another dictionary. Empty: an "
     "untrained map of partition.cells cells"},
    {"partition.previous_map", SP_OPTION_TEXT, FIELD(partition_previous_map), false, "", 0,
     SP_CONFIG_TEXT, NULL,
     "file of the map that partition.map replaces (samepage train --after), until all pages "
     "have moved to the new cells; untrained: the map of partition.cells cells. Empty: no page "
     "has to move"},
    {"partition.cells", SP_OPTION_COUNT, FIELD(partition_cells), true, "1", 1, 4096, NULL,
     "cells that tier 2 divides the length space into if partition.map is empty"},
    {"partition.languages", SP_OPTION_TEXT, FIELD(partition_languages), true, "", 0, SP_CONFIG_TEXT,
     NULL,
     "languages whose pages have cells and machines of their own, as many as the map has: en,fr. "
     "Pages of other or unknown languages share one more set. Needs similarity.languages = apart; "
     "at most 4,096 cells in all. Empty: cells do not depend on the language"},
    {"partition.routing", SP_OPTION_CHOICE, FIELD(partition_routing), true, "lossless", 0, 0,
     "lossless|bounded",
     "lossless: a page is compared in every cell that may hold a near duplicate. bounded: the "
     "paper's condition, which visits fewer cells and loses some pairs"},
    {"partition.rho", SP_OPTION_REAL, FIELD(partition_rho), true, "1.1", 1, 2, NULL,
     "the paper's rho, for bounded routing"},
    {"tier1.partitions", SP_OPTION_COUNT, FIELD(tier1_partitions), true, "1", 1, 1000, NULL,
     "partitions of the group stage; `run` gains nothing from more than one"},
    {"threads", SP_OPTION_COUNT, FIELD(threads), false, "0", 0, 256, NULL,
     "threads that turn pages into signatures, in a run and in the signature stage. 1: one thread "
     "does everything but the commits of a state. 0: one thread per core"},
    {"barrier.pages", SP_OPTION_COUNT, FIELD(barrier_pages), false, "2000", 1, 1e9, NULL,
     "records between two commits of state, input position and output length"},
    {"cache.bytes", SP_OPTION_BYTES, FIELD(cache_bytes), false, "0", KIB *KIB, 1024 * GIB, NULL,
     "memory for the pages, groups, rows and signatures that are kept between barriers. 0: in `run` "
     "half of the memory of the machine, or of the limit that is set for the process, and less when "
     "caches and index would take more than three quarters; in each stage on Kafka 512 MiB"},
    {"store.block_cache_bytes", SP_OPTION_BYTES, FIELD(store_block_cache_bytes), false, "256MiB",
     KIB *KIB, 1024 * GIB, NULL, "RocksDB's block cache"},
    {"store.memtable_bytes", SP_OPTION_BYTES, FIELD(store_memtable_bytes), false, "0", KIB *KIB,
     16 * GIB, NULL,
     "size of each write buffer, of which there are up to two; on Kafka all databases of a process "
     "share them. 0: 64 MiB; in `run` a hundredth of the memory of the machine or of its limit "
     "(cache.bytes), at least 64 MiB and at most 256 MiB"},
    {"store.background_threads", SP_OPTION_COUNT, FIELD(store_background_threads), false, "2", 1,
     64, NULL,
     "RocksDB's threads for flushes and compactions; on Kafka also how many partitions are "
     "restored at a time, 16 at most"},
    {"store.write_ahead_log", SP_OPTION_CHOICE, FIELD(store_write_ahead_log), false, "off", 0, 0,
     "off|on",
     "off: after a kill, `run` continues from the last write buffer that reached the disk: "
     "nothing is lost, but some pages are read again. on: it continues from the last barrier, "
     "for inputs that cannot be read again"},
    {"topics.prefix", SP_OPTION_TEXT, FIELD(topics_prefix), false, "samepage.", 0, PREFIX_BYTES,
     NULL, "prefix of the names of topics, consumer groups and transactional ids"},
    {"topics.pages_partitions", SP_OPTION_COUNT, FIELD(topics_pages_partitions), false, "4", 1,
     10000, NULL, "partitions of the topic of crawled pages"},
    {"topics.status_partitions", SP_OPTION_COUNT, FIELD(topics_status_partitions), false, "4", 1,
     10000, NULL, "partitions of the topic of statuses"},
    {"topics.pages_schema_id", SP_OPTION_COUNT, FIELD(topics_pages_schema_id), false, "0", 0,
     INT32_MAX, NULL,
     "without schema.registry.url, the id of schemas/page.avsc at a schema registry: the signature "
     "stage then also reads pages in its framing, and `ingest` writes it. 0: single-object encoding"},
    {"topics.status_schema_id", SP_OPTION_COUNT, FIELD(topics_status_schema_id), false, "0", 0,
     INT32_MAX, NULL,
     "without schema.registry.url, the id of schemas/status.avsc at a schema registry: statuses are "
     "written in its framing. 0: single-object encoding"},
    {"schema.registry.url", SP_OPTION_TEXT, FIELD(schema_registry_url), false, "", 0,
     SP_CONFIG_TEXT, NULL,
     "a schema registry with Confluent's interface; several addresses of it with commas between "
     "them. Statuses, and pages from `ingest`, are written in its framing, under the subjects "
     "TOPIC-value; pages are read in the schema that their id stands for. Empty: no registry is used"},
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
     "true: schemas that are missing at the registry are registered. false: they must be there"},
    {"topics.replication", SP_OPTION_COUNT, FIELD(topics_replication), false, "1", 1, 9, NULL,
     "replicas of each topic; use 3 in production"},
    {"tier2.partitions", SP_OPTION_COUNT, FIELD(tier2_partitions), true, "1", 1, 1000, NULL,
     "partitions of the compare stage on Kafka; those beyond the number of cells, or of machines "
     "in the map, stay idle"},
    {"instance", SP_OPTION_TEXT, FIELD(instance), false, "1", 0, SP_CONFIG_TEXT, NULL,
     "name of this process, unique within its stage and the same after a restart"},
    {"state.directory", SP_OPTION_TEXT, FIELD(state_directory), false, "state", 0, SP_CONFIG_TEXT,
     NULL, "where a stage on Kafka keeps its local state"},
    {"commit.interval_ms", SP_OPTION_COUNT, FIELD(commit_interval_ms), false, "100", 1, 60000, NULL,
     "milliseconds from one transaction to the next: without a message for a tenth of that, a "
     "transaction ends early; while far more messages wait than it has taken, or commits are slow, "
     "it may last a second"},
    {"commit.messages", SP_OPTION_COUNT, FIELD(commit_messages), false, "20000", 1, 1e9, NULL,
     "messages after which a transaction ends early"},
    {"standby.replicas", SP_OPTION_COUNT, FIELD(standby_replicas), false, "0", 0, 16, NULL,
     "an instance of a stage on Kafka keeps copies of the states that it would get if so many "
     "other instances left at once, so that it takes over in seconds. 0: none; a take-over reads "
     "the whole changelog"},
    {"flow.max_lag", SP_OPTION_COUNT, FIELD(flow_max_lag), false, "100000", 0, 1e12, NULL,
     "the signature stage pauses while the other stages are this many messages behind. 0: it "
     "never pauses"},
    {"http.listen", SP_OPTION_TEXT, FIELD(http_listen), false, "", 0, SP_CONFIG_TEXT, NULL,
     "address:port at which a stage on Kafka serves /livez, /readyz and /metrics, for example "
     "127.0.0.1:8080, or :8080 for all addresses. Empty: no HTTP server"},
    {"log.format", SP_OPTION_CHOICE, FIELD(log_format), false, "plain", 0, 0, "plain|json",
     "format of the log that the stages on Kafka write to standard error. json: one object "
     "per line with time, level, stage and text"},
    {"input.max_record_bytes", SP_OPTION_BYTES, FIELD(input_max_record_bytes), false, "64MiB", KIB,
     GIB, NULL, "a record larger than this becomes a dead letter"},
    {"input.max_future_ms", SP_OPTION_COUNT, FIELD(input_max_future_ms), false, "0", 0, 1e13, NULL,
     "run: a fetch dated more than this after the latest fetch so far becomes a dead letter, "
     "because it would hide all later fetches of its page; the hundredth in a row is "
     "accepted. For crawls in order of time; 86400000 is a day. 0: any time before the year "
     "2248 is accepted"},
    {"input.max_unreadable", SP_OPTION_REAL, FIELD(input_max_unreadable), false, "1", 0, 1, NULL,
     "if more than this share of the records of the input cannot be read, the exit status is "
     "1; the other records are processed. 1: only if no record can be read"},
    {"input.quotes", SP_OPTION_CHOICE, FIELD(input_quotes), false, "on", 0, 0, "off|on",
     "on: a cell of a CSV or TSV file that begins with a quotation mark ends with one, and may hold "
     "separators, line ends and doubled marks. off: a quotation mark is an ordinary character"},
    {"input.id_field", SP_OPTION_TEXT, FIELD(input_id_field), false, "", 0, SP_CONFIG_TEXT, NULL,
     "name of the field or column with the id. If it is given, ids need not be URLs: an id "
     "that is not a URL becomes doc:ID. Empty: the field url, which must be a URL"},
    {"input.text_field", SP_OPTION_TEXT, FIELD(input_text_field), false, "content", 1,
     SP_CONFIG_TEXT, NULL, "name of the field or column with the text"},
    {"input.time_field", SP_OPTION_TEXT, FIELD(input_time_field), false, "fetch_time_ms", 1,
     SP_CONFIG_TEXT, NULL,
     "name of the field or column with the time of the fetch: milliseconds since 1970 or an "
     "ISO 8601 date. If another name is given here, seconds since 1970 are read as well"},
    {"input.status_field", SP_OPTION_TEXT, FIELD(input_status_field), false, "http_status", 1,
     SP_CONFIG_TEXT, NULL, "name of the field or column with the HTTP status"},
    {"input.redirect_field", SP_OPTION_TEXT, FIELD(input_redirect_field), false, "redirect_url", 1,
     SP_CONFIG_TEXT, NULL, "name of the field or column with the target of a redirect"},
    {"input.type_field", SP_OPTION_TEXT, FIELD(input_type_field), false, "content_type", 1,
     SP_CONFIG_TEXT, NULL, "name of the field or column with the content type"},
    {"input.popularity_field", SP_OPTION_TEXT, FIELD(input_popularity_field), false, "popularity",
     1, SP_CONFIG_TEXT, NULL, "name of the field or column with the popularity"},
    {"audit.share", SP_OPTION_REAL, FIELD(audit_share), false, "0", 0, 1, NULL,
     "run, signature, watch: the share of pages, by URL and by content, that is watched while the "
     "stages work; the statuses of those that are similar are checked (docs/AUDIT.md). On Kafka the "
     "signature stage copies their fetches for watch. 0: none"},
    {"audit.pages", SP_OPTION_COUNT, FIELD(audit_pages), false, "4096", 2, 1e6, NULL,
     "most pages that are watched; when there are more, audit.share is halved"},
    {"audit.patience", SP_OPTION_COUNT, FIELD(audit_patience), false, "300", 1, 1e9, NULL,
     "watch: a status that looks wrong is counted if it still looks wrong this many looks later. From one look "
     "to the next, at least a second passes and the stages process all messages that existed at the "
     "first one"},
    {"predict.explore", SP_OPTION_REAL, FIELD(predict_explore), false, "0.01", 0, 1, NULL,
     "serve --predict, evaluate: the share of fetches predicted to be duplicates that should be made "
     "nevertheless, chosen by a hash of the URL. Their results are the evidence for or against the "
     "rules (docs/PREDICT.md). 0: none"},
    {"cover.memory_bytes", SP_OPTION_BYTES, FIELD(cover_memory_bytes), false, "2GiB", KIB *KIB,
     1024 * GIB, NULL,
     "cover: memory for the shingle index and for sorting; an index that does not fit is "
     "built in several passes over a temporary file"},
    {"cover.coverers", SP_OPTION_COUNT, FIELD(cover_coverers), false, "256", 0, 1000000, NULL,
     "cover: a document that so many others cover is not tried as a cover of others. It bounds the "
     "work for a large group of near copies; groups of up to so many documents are not affected. "
     "0: no limit"},
    {"cover.exact_documents", SP_OPTION_COUNT, FIELD(cover_exact_documents), false, "256", 0, 4096,
     NULL,
     "cover: components of at most this many documents are solved exactly, larger ones "
     "greedily"},
};

const size_t sp_option_count = sizeof sp_options / sizeof *sp_options;

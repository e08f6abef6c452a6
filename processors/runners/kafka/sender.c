/* This file alone chooses the partitions of messages and statuses: a message goes to the partition
 * of its page or founder (tier 1), or of its cell's machine (tier 2); a status goes to the
 * partition of its page; notes for the contain stage all go to one partition, and so do the fetches
 * for the audit. All messages from one input partition to another keep their order, because they
 * have one producer and one log. */
#include "kafka/sender.h"

#include "base/url.h"
#include "kafka/notes.h"

static void dispatch(struct sp_sender *sender, struct sp_message *m, bool may_keep)
{
    bool tier1 = sp_message_tier(m) == SP_TIER_1;
    enum sp_topic topic = tier1 ? SP_TOPIC_TIER1 : SP_TOPIC_TIER2;
    struct sp_id home = tier1 ? sp_message_home(m) : (struct sp_id){0, sp_message_cell(m)};
    uint64_t at = tier1 ? home.lo : sp_maps_machine(sender->maps, (uint32_t)home.lo);
    uint64_t partitions = (uint64_t)sp_worker_partitions(sender->worker, topic);
    int32_t partition = (int32_t)(at % partitions);
    if (may_keep)
        sp_worker_count(sender->worker, m->kind);
    if (may_keep && sp_worker_keep(sender->worker, topic, partition, m))
        return;
    sp_buf_reset(&sender->bytes);
    sp_message_encode(m, &sender->bytes);
    sp_worker_emit(sender->worker, topic, partition, sp_view(&home, sizeof home),
                   sp_buf_view(&sender->bytes));
    sp_message_free(m);
}

void sp_sender_send(void *arg, struct sp_message *m)
{
    dispatch(arg, m, true);
}

void sp_sender_post(struct sp_sender *sender, struct sp_message *m)
{
    dispatch(sender, m, false);
}

void sp_sender_note_fetch(struct sp_sender *sender, const struct sp_message *m)
{
    if (m->crawled.page_kind == SP_PAGE_UNSEEN)
        return;
    sp_notes_send(sender->worker, SP_TOPIC_CONTAIN, &sender->bytes,
                  &(struct sp_note){
                      .kind = SP_NOTE_FETCHED, .page = m->page, .signature = m->crawled.signature});
}

static void note_status(struct sp_sender *sender, const struct sp_status_event *event)
{
    bool kept = sp_status_is_kept(event->status);
    if (sender->contains)
        sp_notes_send(sender->worker, SP_TOPIC_CONTAIN, &sender->bytes,
                      &(struct sp_note){.kind = SP_NOTE_SAID,
                                        .page = event->page,
                                        .content = event->content,
                                        .url = kept ? event->url : NULL});
}

/* The page's id was made from this URL, unless another program wrote the message that named it. */
static void put_key(struct sp_sender *sender, struct sp_view url)
{
    sp_buf_reset(&sender->key);
    if (sp_url_canonical(url, &sender->key) == SP_OK)
        return;
    sp_buf_reset(&sender->key);
    sp_buf_put_view(&sender->key, url);
}

/* Also deletes the status under the URL as it was spelled, which was the key of statuses before
 * 0.2. */
static void take_back(struct sp_sender *sender, const struct sp_status_event *event,
                      int32_t partition)
{
    struct sp_view url = sp_view_str(event->url), nothing = {0};
    put_key(sender, url);
    sp_worker_emit(sender->worker, SP_TOPIC_STATUS, partition, sp_buf_view(&sender->key), nothing);
    if (!sp_view_eq(sp_buf_view(&sender->key), url))
        sp_worker_emit(sender->worker, SP_TOPIC_STATUS, partition, url, nothing);
}

/* The key is the page's name, whatever the spelling in its last fetch, so that the topic keeps one
 * event for each page. */
void sp_sender_publish(void *arg, const struct sp_status_event *event)
{
    struct sp_sender *sender = arg;
    uint64_t partitions = (uint64_t)sp_worker_partitions(sender->worker, SP_TOPIC_STATUS);
    int32_t partition = (int32_t)(event->page.lo % partitions);
    note_status(sender, event);
    if (event->status == SP_STATUS_NONE) {
        take_back(sender, event, partition);
        return;
    }
    sp_buf_reset(&sender->bytes);
    sp_status_encode(event, &sender->statuses, &sender->bytes);
    put_key(sender, sp_view_str(event->url));
    sp_worker_emit(sender->worker, SP_TOPIC_STATUS, partition, sp_buf_view(&sender->key),
                   sp_buf_view(&sender->bytes));
}

void sp_sender_done(struct sp_sender *sender)
{
    sp_buf_done(&sender->bytes);
    sp_buf_done(&sender->key);
}

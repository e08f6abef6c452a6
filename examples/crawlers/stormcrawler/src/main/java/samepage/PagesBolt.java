package samepage;

import com.digitalpebble.stormcrawler.Constants;
import com.digitalpebble.stormcrawler.Metadata;
import com.digitalpebble.stormcrawler.persistence.Status;
import com.digitalpebble.stormcrawler.util.ConfUtils;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Tuple;

/**
 * Publishes what a topology fetches to samepage. It takes two streams and hands nothing on:
 *
 * <pre>
 * builder.setBolt("samepage", new PagesBolt())
 *     .localOrShuffleGrouping("fetcher")                                // contents
 *     .localOrShuffleGrouping("fetcher", Constants.StatusStreamName);   // redirects, pages that are gone
 * </pre>
 *
 * A tuple is acknowledged once Kafka has the page, and fails where Kafka cannot take it.
 * Configuration: samepage.topic (samepage.pages), and samepage.producer.* for Kafka's producer.
 */
public class PagesBolt extends BaseRichBolt {
    private static final long serialVersionUID = 1;
    private static final String SETTINGS = "samepage.producer.";

    private transient OutputCollector collector;
    private transient Pages pages;
    private transient Clock clock;

    @Override
    public void prepare(Map<String, Object> conf, TopologyContext context, OutputCollector output) {
        Map<String, Object> settings = new HashMap<>();
        conf.forEach((key, value) -> {
            if (key.startsWith(SETTINGS))
                settings.put(key.substring(SETTINGS.length()), value);
        });
        start(new Pages(ConfUtils.getString(conf, "samepage.topic", "samepage.pages"), settings), output,
                Clock.systemUTC());
    }

    /** For tests: with a producer and a clock of their own. */
    void start(Pages published, OutputCollector output, Clock now) {
        pages = published;
        collector = output;
        clock = now;
    }

    @Override
    public void execute(Tuple tuple) {
        Page page = Constants.StatusStreamName.equals(tuple.getSourceStreamId()) ? ended(tuple) : fetched(tuple);
        if (page == null) {
            collector.ack(tuple);
            return;
        }
        page.fetchTimeMs = clock.millis();
        pages.publish(page, (where, error) -> {
            synchronized (collector) { // the producer calls from a thread of its own
                if (error == null) {
                    collector.ack(tuple);
                } else {
                    collector.reportError(error);
                    collector.fail(tuple);
                }
            }
        });
    }

    private static Page fetched(Tuple tuple) {
        Metadata metadata = (Metadata) tuple.getValueByField("metadata");
        Page page = new Page(tuple.getStringByField("url"));
        page.httpStatus = status(metadata, 200);
        page.contentType = first(metadata, "content-type");
        page.body = tuple.getBinaryByField("content");
        return page;
    }

    /** A redirect, or a page that is gone; null for what says nothing of the page. */
    private static Page ended(Tuple tuple) {
        Metadata metadata = (Metadata) tuple.getValueByField("metadata");
        Page page = new Page(tuple.getStringByField("url"));
        page.httpStatus = status(metadata, 0);
        if (tuple.getValueByField("status") == Status.REDIRECTION) {
            page.redirectUrl = metadata.getFirstValue("_redirTo");
            return page.redirectUrl == null || page.httpStatus / 100 != 3 ? null : page;
        }
        return page.httpStatus == 404 || page.httpStatus == 410 ? page : null;
    }

    private static int status(Metadata metadata, int otherwise) {
        try {
            return Integer.parseInt(metadata.getFirstValue("fetch.statusCode"));
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    /** A header of the response: plain, or with the prefix that protocol.md.prefix gives. */
    private static String first(Metadata metadata, String header) {
        for (String key : metadata.keySet())
            if (key.equalsIgnoreCase(header) || key.toLowerCase(java.util.Locale.ROOT).endsWith("." + header))
                return metadata.getFirstValue(key);
        return null;
    }

    @Override
    public void cleanup() {
        pages.close();
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        // nothing comes after it
    }
}

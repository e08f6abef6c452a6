package samepage;

import java.io.IOException;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.nutch.indexer.IndexWriter;
import org.apache.nutch.indexer.IndexWriterParams;
import org.apache.nutch.indexer.NutchDocument;

/**
 * Publishes what `nutch index` indexes to samepage. With `-addBinaryContent -base64` the page as it was
 * fetched, else the text that Nutch found in it. A deleted page is one that is gone.
 */
public class PagesIndexWriter implements IndexWriter {
    private Configuration configuration;
    private String topic = "samepage.pages";
    private Pages pages;
    private final AtomicReference<Exception> failed = new AtomicReference<>();

    @Override
    public void open(Configuration conf, String name) {
        // settings come with the parameters
    }

    @Override
    public void open(IndexWriterParams parameters) {
        Map<String, Object> settings = new HashMap<>();
        parameters.forEach((key, value) -> {
            if (key.equals("topic"))
                topic = value;
            else if (key.startsWith("producer."))
                settings.put(key.substring("producer.".length()), value);
        });
        start(new Pages(topic, settings));
    }

    /** For tests: with a producer of their own. */
    void start(Pages published) {
        pages = published;
    }

    @Override
    public void write(NutchDocument document) throws IOException {
        String url = text(document, "url");
        Page page = new Page(url == null ? text(document, "id") : url);
        Object time = value(document, "tstamp");
        if (time instanceof Date)
            page.fetchTimeMs = ((Date) time).getTime();
        String binary = text(document, "binaryContent");
        if (binary != null) {
            page.body = fromBase64(page.url, binary);
            page.contentType = text(document, "type");
        } else {
            String content = text(document, "content");
            page.text = content == null ? "" : content;
            page.contentType = "text/plain";
        }
        publish(page);
    }

    @Override
    public void update(NutchDocument document) throws IOException {
        write(document);
    }

    @Override
    public void delete(String key) throws IOException {
        Page page = new Page(key);
        page.httpStatus = 410;
        publish(page);
    }

    private void publish(Page page) throws IOException {
        check();
        pages.publish(page, (where, error) -> {
            if (error != null)
                failed.compareAndSet(null, error);
        });
    }

    /** The next call after an error, or the commit, fails the task: Hadoop does it again. */
    private void check() throws IOException {
        Exception error = failed.get();
        if (error != null)
            throw new IOException("samepage: a page could not be published: " + error.getMessage(), error);
    }

    @Override
    public void commit() throws IOException {
        pages.flush();
        check();
    }

    @Override
    public void close() throws IOException {
        try {
            commit();
        } finally {
            pages.close();
        }
    }

    /** Strict: without -base64 the field has the page as text, whose letters would become other bytes. */
    private static byte[] fromBase64(String url, String binary) throws IOException {
        try {
            return Base64.getDecoder().decode(binary.replaceAll("\\s", ""));
        } catch (IllegalArgumentException error) {
            throw new IOException("samepage: the binaryContent of " + url
                    + " is not base64: give -base64 with -addBinaryContent", error);
        }
    }

    private static Object value(NutchDocument document, String name) {
        return document.getField(name) == null ? null : document.getFieldValue(name);
    }

    private static String text(NutchDocument document, String name) {
        Object value = value(document, name);
        return value == null ? null : value.toString();
    }

    @Override
    public Map<String, Map.Entry<String, Object>> describe() {
        Map<String, Map.Entry<String, Object>> properties = new LinkedHashMap<>();
        properties.put("topic", Map.entry("The topic of pages", topic));
        properties.put("producer.*", Map.entry("Settings of Kafka's producer", "bootstrap.servers at least"));
        return properties;
    }

    @Override
    public Configuration getConf() {
        return configuration;
    }

    @Override
    public void setConf(Configuration conf) {
        configuration = conf;
    }
}

package samepage;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.nutch.indexer.IndexWriterParams;
import org.apache.nutch.indexer.NutchDocument;
import org.junit.Test;

public class PagesIndexWriterTest {
    private final PagesIndexWriter writer = new PagesIndexWriter();

    private MockProducer<byte[], byte[]> start(boolean completes) {
        MockProducer<byte[], byte[]> producer = Decoded.producer(completes);
        writer.start(new Pages("samepage.pages", producer));
        return producer;
    }

    private static NutchDocument document(String... pairs) {
        NutchDocument document = new NutchDocument();
        for (int i = 0; i < pairs.length; i += 2)
            document.add(pairs[i], pairs[i + 1]);
        return document;
    }

    @Test
    public void aTextIsPublished() throws Exception {
        MockProducer<byte[], byte[]> producer = start(true);
        NutchDocument document = document("id", "http://id.example/", "url", "http://a.example/", "content",
                "one two three");
        document.add("tstamp", new Date(1700000000000L));
        writer.write(document);
        writer.close();
        GenericRecord page = Decoded.sent(producer).get(0);
        assertEquals("http://a.example/", page.get("url").toString());
        assertEquals("one two three", page.get("content").toString());
        assertEquals("text/plain", page.get("content_type").toString());
        assertEquals(1700000000000L, page.get("fetch_time_ms"));
        assertTrue(producer.closed());
    }

    @Test
    public void thePageAsItWasFetchedIsPublished() throws Exception {
        MockProducer<byte[], byte[]> producer = start(true);
        byte[] body = "<p>d\u00e9j\u00e0".getBytes("latin1");
        writer.update(document("id", "http://a.example/", "content", "deja", "type", "text/html", "binaryContent",
                Base64.getEncoder().encodeToString(body)));
        GenericRecord page = Decoded.sent(producer).get(0);
        assertEquals(ByteBuffer.wrap(body), page.get("content"));
        assertEquals("text/html", page.get("content_type").toString());
    }

    @Test
    public void binaryContentMayHaveLines() throws Exception {
        MockProducer<byte[], byte[]> producer = start(true);
        byte[] body = "<p>a page of more than one line in base64, as some encoders write it ".repeat(9).getBytes("latin1");
        writer.write(document("id", "http://a.example/", "binaryContent", Base64.getMimeEncoder().encodeToString(body)));
        assertEquals(ByteBuffer.wrap(body), Decoded.sent(producer).get(0).get("content"));
    }

    @Test
    public void binaryContentThatIsNoBase64FailsTheTask() throws Exception {
        MockProducer<byte[], byte[]> producer = start(true);
        for (String page : new String[] {"<html>a page without -base64</html>", "abcde"}) {
            NutchDocument document = document("id", "http://a.example/", "binaryContent", page);
            IOException error = assertThrows(IOException.class, () -> writer.write(document));
            assertTrue(error.getMessage(), error.getMessage().contains("-base64"));
        }
        assertTrue(producer.history().isEmpty());
    }

    @Test
    public void aPageWithoutTextIsEmpty() throws Exception {
        MockProducer<byte[], byte[]> producer = start(true);
        writer.write(document("id", "http://a.example/"));
        assertEquals("", Decoded.sent(producer).get(0).get("content").toString());
    }

    @Test
    public void aDeletedPageIsGone() throws Exception {
        MockProducer<byte[], byte[]> producer = start(true);
        writer.delete("http://a.example/");
        assertEquals(410, Decoded.sent(producer).get(0).get("http_status"));
    }

    @Test
    public void anErrorOfKafkaFailsTheTask() throws Exception {
        MockProducer<byte[], byte[]> producer = start(false);
        writer.write(document("id", "http://a.example/", "content", "x"));
        producer.errorNext(new IllegalStateException("refused"));
        assertThrows(IOException.class, () -> writer.write(document("id", "http://b.example/")));
        assertThrows(IOException.class, writer::commit);
    }

    @Test
    public void parametersAreThoseOfTheProducer() throws Exception {
        HashMap<String, String> parameters = new HashMap<>();
        parameters.put("topic", "other.pages");
        parameters.put("producer.bootstrap.servers", "127.0.0.1:1");
        writer.open(new IndexWriterParams(parameters));
        assertEquals("other.pages", writer.describe().get("topic").getValue());
    }
}

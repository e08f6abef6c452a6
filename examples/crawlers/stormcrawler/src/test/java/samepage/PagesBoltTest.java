package samepage;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.digitalpebble.stormcrawler.Constants;
import com.digitalpebble.stormcrawler.Metadata;
import com.digitalpebble.stormcrawler.TestOutputCollector;
import com.digitalpebble.stormcrawler.persistence.Status;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.tuple.Tuple;
import org.junit.Before;
import org.junit.Test;

public class PagesBoltTest {
    private static final byte[] BODY = "<p>one two three".getBytes();

    private final TestOutputCollector output = new TestOutputCollector();
    private final PagesBolt bolt = new PagesBolt();
    private MockProducer<byte[], byte[]> producer;

    @Before
    public void start() {
        start(true);
    }

    private void start(boolean completes) {
        producer = Decoded.producer(completes);
        bolt.start(new Pages("samepage.pages", producer), new OutputCollector(output),
                Clock.fixed(Instant.ofEpochMilli(1700000000000L), ZoneOffset.UTC));
    }

    private static Metadata metadata(String... pairs) {
        Metadata metadata = new Metadata();
        for (int i = 0; i < pairs.length; i += 2)
            metadata.setValue(pairs[i], pairs[i + 1]);
        return metadata;
    }

    private static Tuple tuple(String stream, Metadata metadata, Status status) {
        Tuple tuple = mock(Tuple.class);
        when(tuple.getSourceStreamId()).thenReturn(stream);
        when(tuple.getStringByField("url")).thenReturn("http://a.example/");
        when(tuple.getBinaryByField("content")).thenReturn(BODY);
        when(tuple.getValueByField("metadata")).thenReturn(metadata);
        when(tuple.getValueByField("status")).thenReturn(status);
        return tuple;
    }

    private List<GenericRecord> run(Tuple tuple) throws Exception {
        bolt.execute(tuple);
        return Decoded.sent(producer);
    }

    @Test
    public void aFetchIsPublishedAndAcknowledged() throws Exception {
        GenericRecord page = run(tuple("default", metadata("fetch.statusCode", "200", "protocol.Content-Type",
                "text/html; charset=utf-8"), null)).get(0);
        assertEquals("http://a.example/", page.get("url").toString());
        assertEquals(200, page.get("http_status"));
        assertEquals("text/html; charset=utf-8", page.get("content_type").toString());
        assertEquals(ByteBuffer.wrap(BODY), page.get("content"));
        assertEquals(1700000000000L, page.get("fetch_time_ms"));
        assertEquals("http://a.example/", new String(producer.history().get(0).key()));
        assertEquals(1, output.getAckedTuples().size());
    }

    @Test
    public void aTupleWaitsForKafka() throws Exception {
        start(false);
        run(tuple("default", metadata(), null));
        assertTrue(output.getAckedTuples().isEmpty());
        producer.completeNext();
        assertEquals(1, output.getAckedTuples().size());
    }

    @Test
    public void aTupleFailsWithKafka() throws Exception {
        start(false);
        run(tuple("default", metadata(), null));
        producer.errorNext(new IllegalStateException("refused"));
        assertTrue(output.getAckedTuples().isEmpty());
        assertEquals(1, output.getFailedTuples().size());
    }

    @Test
    public void redirectsAndDeathsArePublished() throws Exception {
        GenericRecord redirect = run(tuple(Constants.StatusStreamName,
                metadata("fetch.statusCode", "301", "_redirTo", "http://b.example/"), Status.REDIRECTION)).get(0);
        assertEquals("http://b.example/", redirect.get("redirect_url").toString());
        assertEquals(301, redirect.get("http_status"));
        for (String code : new String[] {"404", "410"}) {
            producer.clear();
            GenericRecord gone = run(tuple(Constants.StatusStreamName, metadata("fetch.statusCode", code),
                    Status.ERROR)).get(0);
            assertEquals(Integer.parseInt(code), gone.get("http_status"));
            assertNull(gone.get("redirect_url"));
        }
    }

    @Test
    public void whatSaysNothingOfAPageIsOnlyAcknowledged() throws Exception {
        Tuple[] tuples = {
            tuple(Constants.StatusStreamName, metadata("fetch.statusCode", "500"), Status.FETCH_ERROR),
            tuple(Constants.StatusStreamName, metadata("fetch.statusCode", "200"), Status.FETCHED),
            tuple(Constants.StatusStreamName, metadata(), Status.DISCOVERED),
            tuple(Constants.StatusStreamName, metadata("fetch.statusCode", "304"), Status.FETCHED)};
        for (Tuple tuple : tuples)
            assertTrue(run(tuple).isEmpty());
        assertEquals(tuples.length, output.getAckedTuples().size());
    }
}

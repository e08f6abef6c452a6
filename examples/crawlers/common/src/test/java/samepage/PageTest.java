package samepage;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.avro.generic.GenericRecord;
import org.junit.Test;

public class PageTest {
    @Test
    public void fieldsThatWereNotGivenAreNull() throws Exception {
        GenericRecord page = Decoded.page(new Page("http://a.example/").encode());
        assertEquals("http://a.example/", page.get("url").toString());
        for (String name : new String[] {"fetch_time_ms", "redirect_url", "content_type", "popularity"})
            assertNull(name, page.get(name));
        assertEquals(200, page.get("http_status"));
        assertEquals(ByteBuffer.allocate(0), page.get("content"));
    }

    @Test
    public void fieldsSurvive() throws Exception {
        for (long time : new long[] {0, 63, 64, 1700000000000L, Long.MAX_VALUE}) {
            Page page = new Page("http://a.example/\u00e9");
            page.fetchTimeMs = time;
            page.httpStatus = 301;
            page.redirectUrl = "/there";
            page.contentType = "text/html; charset=latin1";
            page.popularity = 0.25;
            page.body = new byte[] {0, -1, 127};
            GenericRecord read = Decoded.page(page.encode());
            assertEquals(time, read.get("fetch_time_ms"));
            assertEquals(301, read.get("http_status"));
            assertEquals("/there", read.get("redirect_url").toString());
            assertEquals("text/html; charset=latin1", read.get("content_type").toString());
            assertEquals(0.25, read.get("popularity"));
            assertEquals(ByteBuffer.wrap(page.body), read.get("content"));
            page.text = "d\u00e9j\u00e0 \ud83d\ude00";
            assertEquals(page.text, Decoded.page(page.encode()).get("content").toString());
        }
    }

    @Test
    public void settingsAreThoseOfTheProducer() {
        new Pages("t", Map.of("bootstrap.servers", "127.0.0.1:1")).close();
    }
}

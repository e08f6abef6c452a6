package samepage;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** One fetch, as schemas/page.avsc has it. Fields that are null were not given. */
public final class Page {
    /** CRC-64-AVRO of schemas/page.avsc. */
    private static final long FINGERPRINT = 0x7b26edb74909b9f8L;

    public final String url;
    public Long fetchTimeMs;
    public int httpStatus = 200;
    public String redirectUrl;
    public String contentType;
    public Double popularity;
    /** The body as the server sent it, in the charset of contentType. */
    public byte[] body = new byte[0];
    /** Where not null, it counts instead of body: text that is decoded already. */
    public String text;

    public Page(String url) {
        this.url = url;
    }

    /** The value of a message of the pages topic, in single-object encoding. */
    public byte[] encode() {
        ByteArrayOutputStream out = new ByteArrayOutputStream(body.length + 256);
        out.write(0xc3);
        out.write(1);
        little(out, FINGERPRINT);
        string(out, url);
        if (present(out, fetchTimeMs))
            number(out, fetchTimeMs);
        number(out, httpStatus);
        if (present(out, redirectUrl))
            string(out, redirectUrl);
        if (present(out, contentType))
            string(out, contentType);
        if (present(out, popularity))
            little(out, Double.doubleToLongBits(popularity));
        number(out, text == null ? 0 : 1);
        bytes(out, text == null ? body : text.getBytes(StandardCharsets.UTF_8));
        present(out, null); // refers_to_ms: a 304 is of the last fetch
        return out.toByteArray();
    }

    private static boolean present(ByteArrayOutputStream out, Object value) {
        number(out, value == null ? 0 : 1);
        return value != null;
    }

    private static void little(ByteArrayOutputStream out, long value) {
        out.writeBytes(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
    }

    private static void number(ByteArrayOutputStream out, long value) {
        long left = (value << 1) ^ (value >> 63);
        for (; (left & ~0x7fL) != 0; left >>>= 7)
            out.write((int) (left & 0x7f | 0x80));
        out.write((int) left);
    }

    private static void string(ByteArrayOutputStream out, String value) {
        bytes(out, value.getBytes(StandardCharsets.UTF_8));
    }

    private static void bytes(ByteArrayOutputStream out, byte[] value) {
        number(out, value.length);
        out.writeBytes(value);
    }
}

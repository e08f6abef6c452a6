import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * One event of samepage's status topic (schemas/status.avsc). Needs nothing but the JDK; copy it into
 * your project and give it a package.
 *
 * <pre>
 * for (ConsumerRecord&lt;byte[], byte[]&gt; record : consumer.poll(Duration.ofSeconds(1)))
 *     if (record.value() != null)
 *         apply(new String(record.key(), StandardCharsets.UTF_8), Status.decode(record.value()));
 * </pre>
 *
 * Read with {@code isolation.level=read_committed}. The key is the page's canonical URL; the latest event of
 * a key counts, and one without a value erases the page. Immutable.
 */
public final class Status {
    /** The verdict on a page. The order is that of the schema. */
    public enum Kind { UNIQUE, WINNER, LOSER, GONE }

    /** Why a page is in its group. The order is that of the schema. */
    public enum Reason { CONTENT, REDIRECT, EXACT }

    /** What puts a loser's winner before it. The order is that of the schema. */
    public enum Rule { POPULARITY, STATIC, SHORT, MARKET, ID, OVERRIDE }

    /** The bytes are no status event. */
    public static final class DecodeException extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        DecodeException(String message) {
            super(message);
        }
    }

    /** CRC-64-AVRO of schemas/status.avsc. */
    private static final long FINGERPRINT = 0x1bf0184f5b3c2a76L;
    /** Of events of before there was contained_in. */
    private static final long NO_CONTAINER = 0xcdb166bafd669f8dL;
    /** Of events of before there was a rule. */
    private static final long NO_RULE = 0x052aeafb6e82c021L;

    /** The page, as the crawler spelled it last; the record's key names it. */
    public final String url;
    /** The fetch this speaks of: its time, or a counter. */
    public final long versionMs;
    public final Kind kind;
    /** The page that stands for a loser; else null. */
    public final String winnerUrl;
    /** Of the page to its winner; null where there is none. */
    public final Float similarity;
    /** Null: none. */
    public final Reason reason;
    /** Never used twice. */
    public final String groupId;
    /** Members of the group when this was written. */
    public final long groupSize;
    /** Grows each time the page moves to another group. */
    public final long epoch;
    /** Of a loser by its content, at the time of the event; else null. */
    public final Rule rule;
    /** Of a page that is kept, where containment is on: a larger kept page that has nearly all it says; else null. */
    public final String containedIn;
    /** The share that it has; null without containedIn. */
    public final Float containment;

    /**
     * @param optional how many of the last parts it has: none, the rule, the container as well
     * @param registry it may have fewer, and nothing but its end says so
     */
    private Status(ByteBuffer in, int optional, boolean registry) {
        url = text(in);
        versionMs = number(in);
        kind = Kind.values()[symbol(in, Kind.values().length)];
        winnerUrl = present(in) ? text(in) : null;
        similarity = present(in) ? Float.valueOf(room(in, 4).getFloat()) : null;
        reason = present(in) ? Reason.values()[symbol(in, Reason.values().length)] : null;
        groupId = text(in);
        groupSize = number(in);
        epoch = number(in);
        boolean ends = optional < 1 || registry && !in.hasRemaining();
        rule = !ends && present(in) ? Rule.values()[symbol(in, Rule.values().length)] : null;
        ends = optional < 2 || registry && !in.hasRemaining();
        containedIn = !ends && present(in) ? text(in) : null;
        containment = !ends && present(in) ? Float.valueOf(room(in, 4).getFloat()) : null;
    }

    /**
     * The value of a message: in single-object encoding, or in that of a schema registry, whose id is
     * not looked up.
     *
     * @throws DecodeException where it is no status event
     */
    public static Status decode(byte[] value) {
        ByteBuffer in = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
        int optional = 2;
        boolean registry = false;
        if (value.length >= 10 && value[0] == (byte) 0xc3 && value[1] == 1) {
            long fingerprint = in.getLong(2);
            optional = fingerprint == NO_RULE ? 0 : fingerprint == NO_CONTAINER ? 1 : 2;
            if (optional == 2 && fingerprint != FINGERPRINT)
                throw new DecodeException("written with another schema, of fingerprint "
                        + Long.toHexString(fingerprint));
            in.position(10);
        } else if (value.length > 5 && value[0] == 0) {
            registry = true;
            in.position(5);
        } else {
            throw new DecodeException("neither in single-object encoding nor in that of a registry");
        }
        Status status = new Status(in, optional, registry);
        if (in.hasRemaining())
            throw new DecodeException("there are bytes behind the event");
        return status;
    }

    private static ByteBuffer room(ByteBuffer in, long bytes) {
        if (bytes < 0 || bytes > in.remaining())
            throw new DecodeException("the event ends before it is complete");
        return in;
    }

    private static long number(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            byte b = room(in, 1).get();
            if (shift == 63 && (b & 0x7e) != 0)
                throw new DecodeException("a number has more than 64 bits");
            value |= (long) (b & 0x7f) << shift;
            if (b >= 0)
                return (value >>> 1) ^ -(value & 1);
        }
        throw new DecodeException("a number has more than ten bytes");
    }

    private static String text(ByteBuffer in) {
        long bytes = number(in);
        ByteBuffer part = room(in, bytes).slice();
        part.limit((int) bytes);
        in.position(in.position() + (int) bytes);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(part).toString();
        } catch (CharacterCodingException e) {
            throw new DecodeException("a text is not UTF-8");
        }
    }

    private static int symbol(ByteBuffer in, int count) {
        long number = number(in);
        if (number < 0 || number >= count)
            throw new DecodeException("there is no symbol " + number);
        return (int) number;
    }

    private static boolean present(ByteBuffer in) {
        return symbol(in, 2) == 1;
    }

    @Override
    public String toString() {
        return String.join("\t", url, String.valueOf(versionMs), String.valueOf(kind),
                String.valueOf(winnerUrl), String.valueOf(similarity), String.valueOf(reason), groupId,
                String.valueOf(groupSize), String.valueOf(epoch), String.valueOf(rule),
                String.valueOf(containedIn), String.valueOf(containment));
    }
}

package samepage;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.message.BinaryMessageDecoder;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Messages as Avro's own library reads them, by the schema in schemas/. */
public final class Decoded {
    private Decoded() {}

    public static GenericRecord page(byte[] value) throws IOException {
        Schema schema = new Schema.Parser().parse(new File(System.getProperty("page.schema")));
        return new BinaryMessageDecoder<GenericRecord>(new GenericData(), schema).decode(value);
    }

    public static MockProducer<byte[], byte[]> producer(boolean completes) {
        return new MockProducer<>(completes, new ByteArraySerializer(), new ByteArraySerializer());
    }

    public static List<GenericRecord> sent(MockProducer<byte[], byte[]> producer) throws IOException {
        List<GenericRecord> pages = new ArrayList<>();
        for (ProducerRecord<byte[], byte[]> record : producer.history())
            pages.add(page(record.value()));
        return pages;
    }
}

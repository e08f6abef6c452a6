package samepage;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Publishes fetches to the pages topic. All fetches of a URL go to one partition, in order. */
public final class Pages implements AutoCloseable {
    private final Producer<byte[], byte[]> producer;
    private final String topic;

    /** settings: of Kafka's producer, bootstrap.servers at least. */
    public Pages(String topic, Map<String, Object> settings) {
        this(topic, connect(settings));
    }

    public Pages(String topic, Producer<byte[], byte[]> producer) {
        this.topic = topic;
        this.producer = producer;
    }

    private static Producer<byte[], byte[]> connect(Map<String, Object> settings) {
        Map<String, Object> all = new java.util.HashMap<>(Map.of(
                "acks", "all", "enable.idempotence", "true", "compression.type", "zstd",
                "linger.ms", "50", "max.request.size", "20000000"));
        all.putAll(settings);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** done is told once the brokers have the page, or of the error. */
    public void publish(Page page, Callback done) {
        producer.send(new ProducerRecord<>(topic, page.url.getBytes(StandardCharsets.UTF_8), page.encode()),
                done);
    }

    /** Waits until the brokers have all pages. */
    public void flush() {
        producer.flush();
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(60));
    }
}

// Resources of Strimzi, read with Strimzi's own classes: the definitions that its operators install are made from
// these. A list in JSON on standard input; on standard output a line for each resource that does not fit.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.strimzi.api.kafka.model.common.UnknownPropertyPreserving;
import io.strimzi.api.kafka.model.topic.KafkaTopic;
import io.strimzi.api.kafka.model.user.KafkaUser;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

public class Strimzi {
    static final Map<String, Class<?>> CLASSES = Map.of("KafkaTopic", KafkaTopic.class, "KafkaUser", KafkaUser.class);
    static final List<String> VERSIONS = List.of("kafka.strimzi.io/v1", "kafka.strimzi.io/v1beta2");

    /** What the object holds that its class does not name. */
    static void look(Object object, String where, List<String> mistakes) throws Exception {
        if (object instanceof Iterable<?> list) {
            for (Object one : list)
                look(one, where, mistakes);
        }
        if (!(object instanceof UnknownPropertyPreserving known))
            return;
        if (known.getAdditionalProperties() != null)
            for (String name : known.getAdditionalProperties().keySet())
                mistakes.add("no field " + where + name);
        for (Method method : object.getClass().getMethods()) {
            if (!method.getName().startsWith("get") || method.getParameterCount() > 0 ||
                    method.getName().equals("getAdditionalProperties"))
                continue;
            String name = where + method.getName().substring(3, 4).toLowerCase() + method.getName().substring(4);
            look(method.invoke(object), name + ".", mistakes);
        }
    }

    public static void main(String[] arguments) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        for (JsonNode resource : mapper.readTree(System.in)) {
            List<String> mistakes = new ArrayList<>();
            if (!VERSIONS.contains(resource.path("apiVersion").asText()))
                mistakes.add("no version " + resource.path("apiVersion"));
            try {
                look(mapper.treeToValue(resource, CLASSES.get(resource.path("kind").asText())), "", mistakes);
            } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
                mistakes.add(e.getOriginalMessage());
            }
            if (!mistakes.isEmpty())
                System.out.println(resource.path("metadata").path("name").asText() + ": " +
                        String.join("; ", mistakes).replace('\n', ' '));
        }
    }
}

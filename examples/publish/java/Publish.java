// Asks for a change and prints the verdict. Confluent's serializer writes the same five bytes.

import com.fasterxml.jackson.databind.*;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.*;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.*;
import org.apache.avro.Schema;
import org.apache.avro.generic.*;
import org.apache.avro.io.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.*;

public class Publish {
  static String registry;

  static JsonNode ask(String path) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(registry + path)).build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    return new ObjectMapper().readTree(answer.body());
  }

  static Schema schemaOf(JsonNode answer) {
    return new Schema.Parser().parse(answer.get("schema").asText());
  }

  static byte[] encode(int id, GenericRecord record) throws Exception {
    var out = new ByteArrayOutputStream();
    out.write(ByteBuffer.allocate(5).put((byte) 0).putInt(id).array());
    var encoder = EncoderFactory.get().binaryEncoder(out, null);
    new GenericDatumWriter<GenericRecord>(record.getSchema()).write(record, encoder);
    encoder.flush();
    return out.toByteArray();
  }

  static GenericRecord decode(byte[] value) throws Exception {
    var schema = schemaOf(ask("/schemas/ids/" + ByteBuffer.wrap(value, 1, 4).getInt()));
    var decoder = DecoderFactory.get().binaryDecoder(value, 5, value.length - 5, null);
    return new GenericDatumReader<GenericRecord>(schema).read(null, decoder);
  }

  static String text(Header header) {
    return header == null ? "" : new String(header.value());
  }

  public static void main(String[] args) throws Exception {
    String broker = args[0], job = args[2], set = args[3];
    registry = args[1];

    var found = ask("/subjects/turbine.changes.v1.ConfigChangeProposed/versions/latest");
    var change = System.currentTimeMillis() + 300_000 + "." + UUID.randomUUID();
    var asked = new GenericRecordBuilder(schemaOf(found)).set("change_id", change)
        .set("job", job).set("author", "somebody").set("set_json", set).build();
    var value = encode(found.get("id").asInt(), asked);
    Map<String, Object> to = Map.of("bootstrap.servers", broker);
    try (var producer = new KafkaProducer<>(to, new StringSerializer(), new ByteArraySerializer())) {
      producer.send(new ProducerRecord<>("turbine.changes.base.v1", job, value)).get();
    }

    Map<String, Object> from = Map.of("bootstrap.servers", broker,
        "isolation.level", "read_committed", "auto.offset.reset", "earliest");
    try (var consumer =
        new KafkaConsumer<>(from, new StringDeserializer(), new ByteArrayDeserializer())) {
      var places = consumer.partitionsFor("turbine.outcomes.v1").stream()
          .map(one -> new TopicPartition(one.topic(), one.partition())).toList();
      consumer.assign(places);
      consumer.seekToBeginning(places);
      while (true) {
        for (var one : consumer.poll(Duration.ofSeconds(1))) {
          if (!text(one.headers().lastHeader("ce_causationid")).equals(change)) continue;
          var kind = text(one.headers().lastHeader("ce_type")).replace("turbine.", "");
          System.out.println(kind + " " + decode(one.value()));
          return;
        }
      }
    }
  }
}

package dev.visage;

import dev.visage.v1.Embedding;
import java.util.Arrays;
import java.util.List;

/**
 * The embedding of a face, which can be stored and compared.
 *
 * @param embedding 128 numbers
 * @param model the model that computed the embedding; embeddings of different models are not comparable
 */
public record Template(float[] embedding, String model) {

  /**
   * The Euclidean distance to another template; below 0.5 means the same person.
   *
   * @throws IllegalArgumentException if the models differ
   */
  public double distanceTo(Template other) {
    if (!model.equals(other.model)) {
      throw new IllegalArgumentException(
          "Templates of the models " + model + " and " + other.model + " are not comparable.");
    }
    double sum = 0;
    for (int i = 0; i < embedding.length; i++) {
      double difference = embedding[i] - other.embedding[i];
      sum += difference * difference;
    }
    return Math.sqrt(sum);
  }

  static Template from(Embedding embedding) {
    return new Template(numbersOf(embedding.getValuesList()), embedding.getModel());
  }

  Embedding toMessage() {
    var message = Embedding.newBuilder().setModel(model);
    for (float value : embedding) message.addValues(value);
    return message.build();
  }

  static float[] numbersOf(List<Float> values) {
    float[] numbers = new float[values.size()];
    for (int i = 0; i < numbers.length; i++) numbers[i] = values.get(i);
    return numbers;
  }

  // A record compares arrays by identity.
  @Override
  public boolean equals(Object other) {
    return other instanceof Template template
        && model.equals(template.model)
        && Arrays.equals(embedding, template.embedding);
  }

  @Override
  public int hashCode() {
    return 31 * model.hashCode() + Arrays.hashCode(embedding);
  }
}

package dev.visage;

import dev.visage.v1.Embedding;
import java.util.Arrays;

/**
 * The embedding of a face, which can be stored and compared.
 *
 * @param vector 128 numbers
 * @param model the model that computed the embedding; embeddings of different models are not comparable
 */
public record Template(float[] vector, String model) {

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
    for (int i = 0; i < vector.length; i++) {
      double difference = vector[i] - other.vector[i];
      sum += difference * difference;
    }
    return Math.sqrt(sum);
  }

  static Template from(Embedding embedding) {
    float[] vector = new float[embedding.getValuesCount()];
    for (int i = 0; i < vector.length; i++) vector[i] = embedding.getValues(i);
    return new Template(vector, embedding.getModel());
  }

  Embedding toEmbedding() {
    var embedding = Embedding.newBuilder().setModel(model);
    for (float value : vector) embedding.addValues(value);
    return embedding.build();
  }

  // A record compares arrays by identity.
  @Override
  public boolean equals(Object other) {
    return other instanceof Template template
        && model.equals(template.model)
        && Arrays.equals(vector, template.vector);
  }

  @Override
  public int hashCode() {
    return 31 * model.hashCode() + Arrays.hashCode(vector);
  }
}

package dev.visage;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/** The items of all pages. It reads a page when the last one has been taken, and again for each iterator. */
final class PagedList<T> implements Iterable<T> {
  /** A page, and the token of the next one; empty on the last one. */
  record Page<T>(List<T> items, String nextToken) {}

  private final Function<String, Page<T>> read;

  /**
   * @param read takes the token of a page, which is empty for the first one
   */
  PagedList(Function<String, Page<T>> read) {
    this.read = read;
  }

  @Override
  public Iterator<T> iterator() {
    return new Iterator<>() {
      private Iterator<T> items = List.<T>of().iterator();
      private String token = "";
      private boolean isLast;

      @Override
      public boolean hasNext() {
        while (!items.hasNext() && !isLast) {
          Page<T> page = read.apply(token);
          items = page.items().iterator();
          token = page.nextToken();
          isLast = token.isEmpty();
        }
        return items.hasNext();
      }

      @Override
      public T next() {
        if (!hasNext()) throw new NoSuchElementException();
        return items.next();
      }
    };
  }
}

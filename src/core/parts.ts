/** A list in parts of at most `size`. */
export function* partsOf<T>(items: Iterable<T>, size: number): Generator<T[]> {
  const list = [...items];
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

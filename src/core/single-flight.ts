/** At most one read for each key at a time: callers that come while it runs share its result. */
export class SingleFlight<K> {
  readonly #running = new Map<K, Promise<unknown>>();

  /** Every read under one key must return the same type. */
  run<T>(key: K, read: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key) as Promise<T> | undefined;
    if (running) return running;
    const flight = read().finally(() => {
      if (this.#running.get(key) === flight) this.#running.delete(key);
    });
    this.#running.set(key, flight);
    return flight;
  }

  /** The next caller starts a read of its own. */
  forget(key: K): void {
    this.#running.delete(key);
  }
}

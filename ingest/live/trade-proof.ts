/** Whole readings in a row that find what a socket did not say: one may come between a trade and its frame. */
const MISSED_READINGS = 2;

/** Compares what whole readings of trades find with what a socket says was traded. Times are of performance.now(). */
export class TradeProof {
  #saidAt = 0;
  #beganAt = 0;
  #missed = 0;

  /** The socket said that something was traded, or has just begun to bring trades. */
  said(at: number): void {
    this.#saidAt = at;
    this.#missed = 0;
  }

  /**
   * A whole reading that began at `beganAt` found `rows` that no hint had brought. Returns whether the socket is silent about trades
   * while it seems to live: they were found twice in a row, and it said nothing since the reading before.
   */
  isSilent(beganAt: number, rows: number): boolean {
    const saidNothing = this.#saidAt < this.#beganAt;
    this.#beganAt = beganAt;
    this.#missed = saidNothing && rows > 0 ? this.#missed + 1 : 0;
    if (this.#missed < MISSED_READINGS) return false;
    this.#missed = 0;
    return true;
  }
}

/** Consecutive full polls with trades that the socket did not report; a single one may run between a trade and its frame. */
const MISSED_READINGS = 2;

/** Compares the trades found by full polls with those reported by a socket. Times are the clock's elapsed(). */
export class TradeProof {
  #reportedAt = 0;
  #beganAt = 0;
  #missed = 0;

  /** Called when the socket reports a trade, or starts to report trades. */
  reported(at: number): void {
    this.#reportedAt = at;
    this.#missed = 0;
  }

  /**
   * A full poll that began at `beganAt` found `rows` that no hinted poll had stored. Returns whether the socket does not report trades
   * although it seems to work: twice in a row there were such rows and no report since the previous full poll.
   */
  isSilent(beganAt: number, rows: number): boolean {
    const reportedNothing = this.#reportedAt < this.#beganAt;
    this.#beganAt = beganAt;
    this.#missed = reportedNothing && rows > 0 ? this.#missed + 1 : 0;
    if (this.#missed < MISSED_READINGS) return false;
    this.#missed = 0;
    return true;
  }
}

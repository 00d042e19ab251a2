import { SingleFlight } from '../src/core/single-flight.ts';
import type { Lease } from '../src/stores/shared/shared.ts';
import type { JobRun } from './job-runner.ts';
import type { TradeWriter } from './trade-writer.ts';

/** Opens a platform's writer under each new lease before it stores: the previous holder may have left unfinished work. */
export class OpenedWriter {
  readonly #writer: TradeWriter;
  readonly #checkpoint: () => Promise<Date | null>;
  #under: Lease | null = null;
  readonly #opening = new SingleFlight<Lease>();

  /** `checkpoint`: up to when the store was last found consistent. */
  constructor(writer: TradeWriter, checkpoint: () => Promise<Date | null>) {
    this.#writer = writer;
    this.#checkpoint = checkpoint;
  }

  /** A run outside the schedule, for client requests; null while this process may not store trades. */
  run(lease: Lease | null, signal: AbortSignal): JobRun | null {
    if (!lease || this.#under !== lease) return null;
    return { lease, signal, context: (priority) => ({ priority, signal, onBadRow: () => {} }) };
  }

  async storing<T>({ lease }: JobRun, work: () => Promise<T>): Promise<T> {
    if (this.#under !== lease) await this.#opening.run(lease, () => this.#open(lease));
    return work();
  }

  async #open(lease: Lease): Promise<void> {
    await this.#writer.open(lease, await this.#checkpoint());
    this.#under = lease;
  }
}

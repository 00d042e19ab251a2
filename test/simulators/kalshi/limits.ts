import { createBucket, type Bucket } from '../lib/index.ts';
import type { Account } from './account.ts';
import { WireError, type Call } from './call.ts';
import { parseBody } from './order-wire.ts';

interface BucketSize {
  capacity: number;
  refillPerSecond: number;
}

/** Reported without a code, without headers, without an object. */
class TooManyRequests extends WireError {
  override readonly body = '{"error":"too many requests"}';
  constructor() {
    super(429, '', 'too many requests');
  }
}

const SHARDS = [0, 1, 2, 3] as const;

/** The platform's token buckets: one for everybody without a key, and per member one to read and one per shard to write. */
export class Limits {
  enforced = true;
  readonly #read: BucketSize;
  readonly #write: BucketSize;
  readonly #anonymous: Bucket;
  readonly #members = new Map<Account, { read: Bucket; write: Bucket[] }>();

  constructor(sizes: { read: BucketSize; write: BucketSize }) {
    this.#read = sizes.read;
    this.#write = sizes.write;
    this.#anonymous = createBucket(sizes.read);
  }

  takeAnonymous(cost: number): void {
    if (this.enforced && !this.#anonymous.take(cost)) throw new TooManyRequests();
  }

  takeRead(account: Account, cost: number): void {
    if (this.enforced && !this.#of(account).read.take(cost)) throw new TooManyRequests();
  }

  /** A write routed by the platform (`shard` null) costs on every shard. */
  takeWrite(account: Account, cost: number, shard: number | null): void {
    if (!this.enforced) return;
    const { write } = this.#of(account);
    const billed = shard === null ? write : write.slice(shard, shard + 1);
    if (billed.some((bucket) => bucket.waitMs(cost) > 0)) throw new TooManyRequests();
    for (const bucket of billed) bucket.take(cost);
  }

  #of(account: Account): { read: Bucket; write: Bucket[] } {
    let buckets = this.#members.get(account);
    if (!buckets) {
      buckets = { read: createBucket(this.#read), write: SHARDS.map(() => createBucket(this.#write)) };
      this.#members.set(account, buckets);
    }
    return buckets;
  }
}

/** The shard a write names; batches bill the first, a write that names none is routed and bills all: null. */
export function billedShard({ request, query }: Call): number | null {
  if (request.path.endsWith('/batched')) return 0;
  const named = query.get('exchange_index') ?? (request.body === '' ? null : parseBody(request.body).exchange_index);
  const shard = Number(named ?? -1);
  return SHARDS.some((one) => one === shard) ? shard : null;
}

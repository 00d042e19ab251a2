import { Cache } from '../../../core/cache.ts';
import { parseFrame } from '../../sockets/frame.ts';
import { isoTime } from '../../market-fields.ts';
import type { Emit } from '../../sockets/contract.ts';
import { NamespaceSession } from './session.ts';
import { createdMessage, resolvedMessage, systemMessage } from './wire.ts';

/** Resolutions are announced three times within a second. */
const REMEMBERED = 1000;

/** Listed and resolved markets of the whole platform. Children of a group are announced only when listed. */
export class LifecycleSession extends NamespaceSession {
  readonly #resolved = new Cache<string, true>({ limit: REMEMBERED });

  setMarkets(): void {}

  protected subscription() {
    return { name: 'subscribe_market_lifecycle' };
  }

  protected event(name: string, payload: unknown, emit: Emit): boolean {
    if (name === 'system') {
      if (!/subscribed/i.test(parseFrame(systemMessage, payload, name).message)) return false;
      this.answered();
    } else if (name === 'marketCreated') {
      const { slug, groupSlug } = parseFrame(createdMessage, payload, name);
      // A group is an event and cannot be read as a market.
      if (slug !== groupSlug) emit({ kind: 'market', id: slug });
    } else if (name === 'marketResolved') {
      const { slug, resolutionDate } = parseFrame(resolvedMessage, payload, name);
      const key = `${slug} ${resolutionDate}`;
      if (this.#resolved.has(key)) return true;
      this.#resolved.set(key, true);
      const resolvedAt = isoTime(resolutionDate);
      emit({ kind: 'market', id: slug, status: 'settled', ...(resolvedAt === null ? {} : { resolvedAt }) });
      emit({ kind: 'trade', ref: slug });
    } else return false;
    return true;
  }
}

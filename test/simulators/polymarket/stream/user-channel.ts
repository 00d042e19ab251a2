import { z } from 'zod';
import { repeat, type SimClient, type SimSocketRoute } from '../../lib/index.ts';
import type { ClobTrade } from '../clob/exchange.ts';
import type { ApiKey } from '../clob/keys.ts';
import { orderRow, tradeRow } from '../clob/order-rows.ts';
import type { SimOrder } from '../clob/order.ts';
import { SECOND, sizeText } from '../world/units.ts';
import type { PolymarketWorld } from '../world/world.ts';

/** The world's clock is looked at this often, for what the time alone changes. */
const TICK_MS = 100;

const markets = z.array(z.string()).nullish();
const Message = z.object({
  auth: z.object({ apiKey: z.string(), secret: z.string(), passphrase: z.string() }).optional(),
  type: z.string().optional(),
  operation: z.string().optional(),
  markets,
});

interface Session {
  key: ApiKey;
  /** null = all. */
  markets: Set<string> | null;
}

const ownersOf = ({ takerOrder, makerOrders }: ClobTrade): Set<string> =>
  new Set([takerOrder, ...makerOrders].flatMap((order: SimOrder | null) => order?.owner ?? []));

/** What the frame of an order that was killed after its delay lacks. */
const KILLED = { size_matched: '', created_at: '', outcome: '' };

const bare = (status: string): string => status.replace(/^(ORDER|TRADE)_STATUS_/, '');

/**
 * The CLOB's user channel: orders and trades of one API key, each status of a trade as a message of its own; no replay. Whoever does not
 * begin with the key, its secret and its passphrase is cut off without a word.
 */
export function userChannel(world: PolymarketWorld): SimSocketRoute {
  const sessions = new Map<SimClient, Session>();
  let stop: (() => void) | undefined;
  const { exchange } = world;

  const tell = (owner: string, condition: string, frame: object): void => {
    for (const [client, { key, markets: wanted }] of sessions) {
      if (key.apiKey === owner && (wanted?.has(condition) ?? true)) client.send(frame);
    }
  };

  exchange.onOrder = (order, type) => {
    const row = orderRow(world, order);
    tell(order.owner, row.market, {
      ...row,
      event_type: 'order',
      type,
      status: bare(row.status),
      order_owner: row.owner,
      associate_trades: row.associate_trades.length > 0 ? row.associate_trades : null,
      created_at: String(row.created_at),
      timestamp: String(world.now()),
      ...(order.reason === undefined ? {} : KILLED),
    });
  };

  exchange.onTrade = (match) => {
    for (const owner of ownersOf(match)) {
      const row = tradeRow(world, match, owner);
      tell(owner, row.market, {
        ...row,
        event_type: 'trade',
        type: 'TRADE',
        status: bare(row.status),
        trade_owner: row.owner,
        size: sizeText(match.trade.size),
        timestamp: String(world.now()),
      });
    }
  };
  exchange.onMatch = (match) => {
    exchange.onTrade(match);
    for (const seconds of [1, 5]) world.at(match.matchedMs + seconds * SECOND, () => exchange.onTrade(match));
  };

  return {
    connected() {
      stop ??= repeat(world.clock, TICK_MS, () => world.advance());
    },
    closed(client) {
      sessions.delete(client);
      if (sessions.size > 0) return;
      stop?.();
      stop = undefined;
    },
    message(client, text) {
      if (text === 'PING') return client.raw('PONG');
      const { auth, type, operation, markets: named } = Message.parse(JSON.parse(text));
      const session = sessions.get(client);
      const conditions = named && named.length > 0 ? named : null;
      if (session && operation === 'subscribe') for (const one of conditions ?? []) session.markets?.add(one);
      else if (session && operation === 'unsubscribe') for (const one of conditions ?? []) session.markets?.delete(one);
      else {
        const key = type === 'user' && auth ? exchange.keys.matching(auth) : undefined;
        if (!key) return client.socket.close();
        sessions.set(client, { key, markets: conditions && new Set(conditions) });
      }
    },
  };
}

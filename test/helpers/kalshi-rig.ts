import { beforeEach } from 'vitest';
import type { Clock } from '../../src/core/time.ts';
import {
  type KalshiSimulator,
  type Member,
  type MemberOptions,
  startKalshi,
  type TrueOrder,
} from '../simulators/kalshi.ts';
import type { Customer } from './trading.ts';
import { type TradingRig, tradingRig } from './trading-rig.ts';

/** Markets that are listed together, for as many tests. */
const LISTED = 30;

interface KalshiOptions {
  clock?: Clock;
  /** Kalshi's clock, where it differs. */
  simClock?: Clock | undefined;
  /** Each market is new to the service: for tests that move the clock past the end of markets that were listed before. */
  unlisted?: true;
  /** Cash of each test's member, USD; default 1000. */
  balance?: string;
  /** The account of the operator's default client; absent: there is none. */
  operator?: MemberOptions;
}

/** A simulated Kalshi and a service that trades there. Each test has a market and a member of its own. */
export interface KalshiRig extends TradingRig<KalshiSimulator> {
  readonly operator: Member;
  readonly ticker: string;
  readonly member: Member;
  /** Stores the credential of a member, by default the test's; returns its id. */
  stores(who: Customer, of?: Member, isDefault?: boolean): Promise<number>;
  /** A new customer with the credential of a member, by default the test's. */
  joins(of?: Member): Promise<Customer>;
  /** Body of POST orders: a purchase that rests in the test's market. */
  asked(change?: object): object;
  /** What Kalshi holds of a member, by default the test's. */
  held(of?: Member): TrueOrder[];
}

/** Starts it for the tests of one file; what it returns can be used from the first hook on. */
export function kalshiRig(
  seed: number,
  { clock, simClock = clock, unlisted, balance = '1000', operator }: KalshiOptions = {},
): KalshiRig {
  let [client, member]: Member[] = [];
  let ticker = '';
  const settings = ({ world }: KalshiSimulator): Record<string, string> => {
    if (!operator) return {};
    client = world.addAccount(operator);
    const key = client.privateKeyPem.replaceAll('\n', String.raw`\n`);
    return { KALSHI_API_KEY_ID: client.apiKeyId, KALSHI_PRIVATE_KEY: key };
  };
  const world = { seed, markets: 12, tradesPerMarket: 5, ...(simClock ? { clock: simClock } : {}) };
  const rig = tradingRig(() => startKalshi(world), { clock, settings });
  const markets: string[] = [];
  beforeEach(async () => {
    rig.sim.clearFaults();
    if (markets.length === 0) {
      markets.push(...Array.from({ length: unlisted ? 1 : LISTED }, () => rig.sim.world.createMarket('rate')));
      if (!unlisted) await rig.trading.lists('kalshi', markets);
    }
    ticker = markets.pop() ?? '';
    member = rig.sim.world.addAccount({ balance });
  });
  const stores: KalshiRig['stores'] = (who, of = member!, isDefault = false) =>
    who.credential('kalshi', { api_key_id: of.apiKeyId, private_key: of.privateKeyPem }, isDefault);
  return {
    get sim() {
      return rig.sim;
    },
    get trading() {
      return rig.trading;
    },
    get operator() {
      return client!;
    },
    get ticker() {
      return ticker;
    },
    get member() {
      return member!;
    },
    stores,
    async joins(of) {
      const customer = await rig.trading.customer();
      await stores(customer, of);
      return customer;
    },
    asked: (change) => ({
      platform: 'kalshi',
      market_id: ticker,
      side: 'buy',
      outcome: 'yes',
      type: 'limit',
      price: 0.01,
      size: 10,
      ...change,
    }),
    held: (of = member!) => rig.sim.world.ordersOf(of),
  };
}

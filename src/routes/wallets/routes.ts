import type { FastifyInstance } from 'fastify';
import type { Caller } from '../../accounts/caller.ts';
import { decimalNumber, SIZE_SCALE } from '../../core/decimal.ts';
import { ApiError, PlatformError, toApiError } from '../../core/errors.ts';
import { type Platform, PLATFORMS } from '../../core/model.ts';
import { listText } from '../../core/text.ts';
import { answerStored } from '../../http/cached-answer.ts';
import { pagination } from '../../http/cursors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { type PlatformUsers, type ReadContext, liveRead } from '../../platforms/contract.ts';
import { mergedTrades, MergedPosition } from '../../platforms/users/merged-trades.ts';
import { MANIFESTS } from '../../platforms/manifests.ts';
import { toPosition, toUserTrade, HeldPosition, heldPage, storedMarketOf } from '../../queries/portfolio.ts';
import { topMarkets, walletFigures } from '../../queries/wallet.ts';
import { cursorParam, integerParam, limitParam, platformParam } from '../../schemas/parameters.ts';
import {
  WalletAnswer,
  type WalletError,
  walletParam,
  WalletPositionsAnswer,
  WalletTradesAnswer,
} from '../../schemas/wallets.ts';
import { ofKnownUser, portfolioRoutes, usersOf } from '../portfolio.ts';
import type { Services } from '../services.ts';
import { watchedWalletRoutes } from './watched.ts';

const SHOWN = PLATFORMS.filter((platform) => MANIFESTS[platform].showsWallets);
/** Cache time of counts over stored trades. */
const COUNTED_MS = 30_000;

const params = { address: walletParam() };
const platform = platformParam(SHOWN)
  .optional()
  .describe(`${listText(SHOWN, 'or')}. Default: both`);

/** GET profile/*; wallets/{address}, counted from stored trades; its trades and positions, read from the platforms. */
export function userRoutes(app: FastifyInstance, services: Services): void {
  portfolioRoutes(app, services);
  getWalletRoute(app, services);
  listWalletTradesRoute(app, services);
  listWalletPositionsRoute(app, services);
  watchedWalletRoutes(app, services);
}

/** The platform asked for, or all that show wallets and are enabled. */
function platformsOf({ config }: Services, asked: Platform | undefined): Platform[] {
  const enabled = SHOWN.filter((one) => config.platforms.includes(one));
  if (asked !== undefined) return [asked];
  return enabled.length > 0 ? enabled : SHOWN;
}

/** Reads the wallet's user of each of some platforms. */
class WalletReader {
  /** Platforms that could not be read, while another could be. */
  readonly errors: WalletError[] = [];
  readonly #services: Services;
  readonly #address: string;
  readonly #caller: Caller;
  #failure: ApiError | PlatformError | null = null;
  #reads = 0;

  constructor(services: Services, address: string, caller: Caller) {
    [this.#services, this.#address, this.#caller] = [services, address, caller];
  }

  /** null, with an entry in `errors`, if the platform fails; `nothing` if it does not know the wallet. */
  async read<T>(
    platform: Platform,
    read: (users: PlatformUsers, context: ReadContext) => Promise<T>,
    nothing: T,
  ): Promise<T | null> {
    const users = usersOf(this.#services, platform);
    const context = liveRead(this.#services, this.#caller.userId);
    try {
      const value = await ofKnownUser(users, this.#address, () => read(users, context));
      this.#reads += 1;
      return value;
    } catch (error) {
      if (!(error instanceof PlatformError || error instanceof ApiError)) throw error;
      const { status, message } = error instanceof ApiError ? error : toApiError(error);
      if (status === 404) {
        this.#failure ??= error;
        return nothing;
      }
      if (this.errors.length === 0) this.#failure = error;
      this.errors.push({ platform, status, message });
      return null;
    }
  }

  /** Throws if no platform could be read, or none knows the wallet. */
  throwIfNone(): void {
    if (this.#failure && this.#reads === 0) throw this.#failure;
  }
}

function getWalletRoute(app: FastifyInstance, services: Services): void {
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/wallets/:address',
      auth: 'key',
      tag: 'Portfolio',
      operation: 'getWallet',
      summary: 'What a wallet has traded',
      description:
        'Counted from the stored trades of which the wallet was the taker; zeros for a wallet without one. `complete_from` says since when every trade is stored.',
      params,
      query: {
        platform,
        top_markets: integerParam(0, 100).default(0).describe('Number of markets in `top_markets`. Default: none'),
      },
      stored: 'whole',
      answer: WalletAnswer,
    },
    (call) => {
      const { address } = call.params;
      const { platform: asked, top_markets: count } = call.query;
      const platforms = platformsOf(services, asked);
      return answerStored(services, call, { ttlMs: COUNTED_MS, from: 'trades', platforms }, async () => {
        const [wallet, top_markets] = await Promise.all([
          walletFigures(services.clickhouse, address, platforms),
          count === 0 ? [] : topMarkets(services, address, platforms, count),
        ]);
        return { body: { wallet, top_markets }, meta: { platforms } };
      });
    },
  );
}

function listWalletTradesRoute(app: FastifyInstance, services: Services): void {
  const { clickhouse, cursors } = services;
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/wallets/:address/trades',
      auth: 'key',
      tag: 'Portfolio',
      operation: 'listWalletTrades',
      summary: 'Trades of a wallet, newest first',
      description: `Read from ${listText(SHOWN, 'and')}, which show the trades of every wallet. Both sides of a trade count. If one of them fails, the other is answered: meta.errors names what is missing, and the next page tries it again. From when on the list is complete is not known, as no platform states it.`,
      params,
      query: { platform, limit: limitParam(50, 500), cursor: cursorParam() },
      stored: 'rows',
      answer: WalletTradesAnswer,
      errors: [404, 502, 504],
    },
    (call) => {
      const {
        params: { address },
        query,
        caller,
      } = call;
      const { cursor, limit } = query;
      const filters = { address, platform: query.platform };
      const position = cursors.decode('wallet_trades', filters, cursor, MergedPosition) ?? {};
      const platforms = platformsOf(services, query.platform);
      return answerStored(services, call, {}, async () => {
        const wallet = new WalletReader(services, address, caller);
        const page = await mergedTrades(
          platforms,
          (name, at) =>
            wallet.read(name, (users, context) => users.userTrades(address, { limit, position: at }, context), {
              ...nothingOf(address, services.clock.now()),
              trades: [],
              next: null,
              total: 0,
              isTotal: true,
            }),
          { limit, position },
        );
        wallet.throwIfNone();
        const marketOf = await storedMarketOf(
          clickhouse,
          page.trades.map(({ platform: name, trade: { ref } }) => ({ platform: name, ref })),
        );
        const next = cursors.encode('wallet_trades', filters, page.next);
        return {
          body: {
            trades: page.trades.map(({ platform: name, trade }) =>
              toUserTrade(name, address, trade, marketOf(name, trade.ref)),
            ),
            pagination: pagination(page.total, limit, next),
          },
          meta: {
            platforms,
            data_freshness: page.readAt,
            complete_from: null,
            total_is_exact: page.isTotal,
            errors: wallet.errors,
            smallest_size: decimalNumber(
              largest(platforms.map((name) => services.platforms[name]?.users?.smallestTrade)),
              SIZE_SCALE,
            ),
          },
          rows: 'trades',
        };
      });
    },
  );
}

function listWalletPositionsRoute(app: FastifyInstance, services: Services): void {
  const { clickhouse, cursors } = services;
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/wallets/:address/positions',
      auth: 'key',
      tag: 'Portfolio',
      operation: 'listWalletPositions',
      summary: 'Active positions of a wallet',
      description: `Read from ${listText(SHOWN, 'and')}, ordered by platform and token id. If one of them fails, the other is answered, and meta.errors names what is missing.`,
      params,
      query: { platform, limit: limitParam(50, 500), cursor: cursorParam() },
      stored: 'rows',
      answer: WalletPositionsAnswer,
      errors: [404, 502, 504],
    },
    (call) => {
      const {
        params: { address },
        query,
        caller,
      } = call;
      const { cursor, limit } = query;
      const filters = { address, platform: query.platform };
      const from = cursors.decode('wallet_positions', filters, cursor, HeldPosition);
      const platforms = platformsOf(services, query.platform);
      return answerStored(services, call, {}, async () => {
        const wallet = new WalletReader(services, address, caller);
        const read = await Promise.all(
          platforms.map(async (name) => {
            const own = await wallet.read(name, (users, context) => users.positions(address, context), {
              ...nothingOf(address, services.clock.now()),
              positions: [],
              isAll: true,
              smallest: null,
            });
            return own ? [{ name, ...own }] : [];
          }),
        );
        wallet.throwIfNone();
        const held = read.flat();
        const all = held.flatMap(({ name, positions }) =>
          positions.map((row) => ({ platform: name, ref: row.ref, row })),
        );
        const page = heldPage(all, ({ platform: name, row }) => `${name}:${row.tokenId}`, from, limit);
        const marketOf = await storedMarketOf(clickhouse, page.rows);
        const positions = page.rows.map(({ platform: name, row }) => toPosition(name, row, marketOf(name, row.ref)));
        const next = cursors.encode('wallet_positions', filters, page.next);
        return {
          body: { user: address, positions, pagination: pagination(page.total, limit, next) },
          meta: {
            platforms,
            data_freshness: held.map(({ readAt }) => readAt).toSorted()[0] ?? null,
            total_is_exact: wallet.errors.length === 0 && held.every(({ isAll }) => isAll),
            errors: wallet.errors,
            smallest_size: decimalNumber(largest(held.map(({ smallest }) => smallest)), SIZE_SCALE),
          },
          rows: 'positions',
        };
      });
    },
  );
}

/** What an answer about a wallet says that its platform does not know. */
const nothingOf = (user: string, nowMs: number) => ({
  user,
  readAt: new Date(nowMs).toISOString(),
  visibility: 'public' as const,
});

/** The largest of the sizes below which a platform may hide rows; null if none does. */
const largest = (sizes: readonly (bigint | null | undefined)[]): bigint | null =>
  sizes.reduce<bigint | null>((most, size) => (size != null && (most === null || size > most) ? size : most), null);

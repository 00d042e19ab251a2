import type { PlatformOrders } from '../platforms/order-contract.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { type CredentialOf, MANIFESTS } from '../platforms/manifests.ts';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Services } from './services.ts';
import { decimalNumber, SIZE_SCALE } from '../core/decimal.ts';
import { endpoint } from '../http/endpoint.ts';
import { ApiError, PlatformError, platformName } from '../core/errors.ts';
import { pagination } from '../http/cursors.ts';
import { cursorParam, limitParam, toPlatform } from '../schemas/parameters.ts';
import { textParam } from '../core/fields.ts';
import { type PlatformUsers, liveRead } from '../platforms/contract.ts';
import { isNotFound } from '../platforms/parse-rows.ts';
import { TradePosition } from '../platforms/user-contract.ts';
import { portfolioMarkets, toPosition, toUserTrade, HeldPosition, heldPage } from '../queries/portfolio.ts';
import { UserPositionsAnswer, UserTradesAnswer } from '../schemas/portfolio.ts';
import type { Caller } from '../accounts/caller.ts';
import { answerStored } from '../http/cached-answer.ts';

const SERVED = PLATFORMS.filter((platform) => 'user' in MANIFESTS[platform].profiles);

const isPlatform = (word: unknown): word is Platform => PLATFORMS.some((platform) => platform === word);

/** Why a platform does not show its users; '' for anything else. */
function hiddenReason(word: unknown): string {
  const profiles = isPlatform(word) ? MANIFESTS[word].profiles : {};
  return 'hidden' in profiles ? `: ${profiles.hidden}` : '';
}

const provider = z
  .preprocess(toPlatform, z.enum(SERVED, { error: ({ input }) => `one of ${SERVED.join(', ')}${hiddenReason(input)}` }))
  .describe(SERVED.join(' or '));
/** `Kalshi nickname, or Polymarket wallet or profile name`. */
const USERS = SERVED.flatMap((platform) => {
  const { profiles } = MANIFESTS[platform];
  return 'user' in profiles ? [profiles.user] : [];
}).join(', or ');
/** How users denote their own account, whose credential is stored. */
const OWN = 'me';
const KEY_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const user = textParam().describe(
  `${USERS}; me, or the id of your key, for your own Kalshi account if its credential is stored`,
);

/** GET profile/trades, profile/positions: read from the platform, joined with stored markets. */
export function portfolioRoutes(app: FastifyInstance, services: Services): void {
  const { clickhouse, cursors } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/profile/trades',
      auth: 'key',
      tag: 'Portfolio',
      operation: 'listUserTrades',
      summary: 'Trades of a user, newest first',
      description: `Read from the platform. A user is a ${USERS}. Both sides of a trade count: a trade between two users is in both lists. From when on the list is complete is not known, as no platform states it.`,
      query: { provider, user, limit: limitParam(50, 500), cursor: cursorParam() },
      stored: 'rows',
      answer: UserTradesAnswer,
      errors: [404, 422, 502, 504],
    },
    async (call) => {
      const { query, caller } = call;
      const { cursor, limit, ...filters } = query;
      const { users, owner } = await sourceOf(services, query.provider, query.user, caller);
      const position = cursors.decode('user_trades', filters, cursor, TradePosition);
      return answerStored(services, call, { owner }, async () => {
        const page = await ofKnownUser(users, query.user, () =>
          users.userTrades(query.user, { limit, position }, liveRead(services, caller.userId)),
        );
        const markets = await portfolioMarkets(clickhouse, query.provider, page.trades);
        const next = cursors.encode('user_trades', filters, page.next);
        return {
          body: {
            trades: page.trades.map((row) => toUserTrade(query.provider, page.user, row, markets.get(row.ref))),
            pagination: pagination(page.total, limit, next),
          },
          meta: {
            platform: query.provider,
            data_freshness: page.readAt,
            visibility: page.visibility,
            complete_from: null,
            total_is_exact: page.isTotal,
            smallest_size: decimalNumber(users.smallestTrade, SIZE_SCALE),
          },
          rows: 'trades',
        };
      });
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/profile/positions',
      auth: 'key',
      tag: 'Portfolio',
      operation: 'listUserPositions',
      summary: 'Active positions of a user',
      description: `Read from the platform, ordered by token id. A user is a ${USERS}.`,
      query: { provider, user, limit: limitParam(50, 500), cursor: cursorParam() },
      stored: 'rows',
      answer: UserPositionsAnswer,
      errors: [404, 422, 502, 504],
    },
    async (call) => {
      const { query, caller } = call;
      const { cursor, limit, ...filters } = query;
      const { users, owner } = await sourceOf(services, query.provider, query.user, caller);
      const from = cursors.decode('user_positions', filters, cursor, HeldPosition);
      return answerStored(services, call, { owner }, async () => {
        const held = await ofKnownUser(users, query.user, () =>
          users.positions(query.user, liveRead(services, caller.userId)),
        );
        const page = heldPage(held.positions, ({ tokenId }) => tokenId, from, limit);
        const markets = await portfolioMarkets(clickhouse, query.provider, page.rows);
        const next = cursors.encode('user_positions', filters, page.next);
        return {
          body: {
            user: held.user,
            positions: page.rows.map((row) => toPosition(query.provider, row, markets.get(row.ref))),
            pagination: pagination(page.total, limit, next),
          },
          meta: {
            platform: query.provider,
            data_freshness: held.readAt,
            visibility: held.visibility,
            total_is_exact: held.isAll,
            smallest_size: decimalNumber(held.smallest, SIZE_SCALE),
          },
          rows: 'positions',
        };
      });
    },
  );
}

export function usersOf({ platforms }: Services, platform: Platform): PlatformUsers {
  const users = platforms[platform]?.users;
  if (users) return users;
  throw new ApiError(404, `${platformName(platform)} is not enabled on this server`, {
    resolution: 'Operator: add it to PLATFORMS.',
  });
}

/** The source of the list: the caller's own account, through the stored credential, or any user. */
async function sourceOf<P extends Platform>(
  services: Services,
  platform: P,
  name: string,
  caller: Caller,
): Promise<{ users: PlatformUsers; owner: string }> {
  const users = usersOf(services, platform);
  const adapter: PlatformOrders<P> | undefined = services.orderAdapters?.[platform];
  const own = adapter?.ownAccount;
  if (!own || !(name === OWN || KEY_ID.test(name))) return { users, owner: '' };
  const stored =
    name === OWN
      ? await services.credentials.open(caller.userId, platform, undefined)
      : await credentialOf(services, caller, platform, (fields) => own.idOf(fields) === name);
  if (!stored && name === OWN) {
    throw new ApiError(422, `No credential for ${platformName(platform)}`, {
      resolution: 'Store one at POST /v1/api/auth/credentials.',
      errorText: `user: ${OWN} is the account of a stored credential, and none is stored for ${platform}`,
    });
  }
  if (!stored) return { users, owner: '' };
  const access = { ...liveRead(services, caller.userId), credential: stored.fields, markets: services.markets };
  return { users: own.open(access), owner: `${caller.userId}:${stored.id}` };
}

/** The caller's first credential of a platform whose fields are the wanted ones; null if there is none. */
async function credentialOf<P extends Platform>(
  { credentials }: Services,
  { userId }: Caller,
  platform: P,
  isWanted: (fields: CredentialOf<P>) => boolean,
) {
  for (const { id, platform: of } of await credentials.list(userId)) {
    if (of !== platform) continue;
    // One that cannot be decrypted does not hide the others.
    const opened = await credentials.open(userId, platform, id).catch(() => null);
    if (opened && isWanted(opened.fields)) return opened;
  }
  return null;
}

/** The result of `read`; 404 with the user's name if the platform does not know them. */
export async function ofKnownUser<T>({ platform }: PlatformUsers, user: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PlatformError && error.kind === 'unauthorized') {
      throw new ApiError(422, `${platformName(platform)} rejected the credential`, {
        resolution: 'Store a new one at POST /v1/api/auth/credentials.',
        errorText: error.detail,
        cause: error,
      });
    }
    if (!isNotFound(error)) throw error;
    const { profiles } = MANIFESTS[platform];
    throw new ApiError(404, `User not found on ${platformName(platform)}`, {
      resolution: 'user' in profiles ? profiles.userHint : profiles.hidden,
      errorText: error.detail || `no user ${JSON.stringify(user)}`,
      cause: error,
    });
  }
}

import { CredentialFields, type CredentialOf } from '../credential-forms.ts';
import { ConfigError, type Config } from '../config.ts';
import type { Credentials } from '../credentials.ts';
import { ApiError, PlatformError, platformName } from '../errors.ts';
import type { Priority } from '../platforms/http.ts';
import type { OrderAdapters } from '../platforms/orders-index.ts';
import type { PlatformOrders } from '../platforms/orders.ts';
import { orderRefused } from '../platforms/placement.ts';
import type { BadRow, MarketDirectory } from '../platforms/platform.ts';
import { PLATFORMS, type Platform } from '../schemas.ts';
import type { Account } from './store.ts';

/** The operator's own clients, by platform: what serves users who stored no credential. */
export type DefaultClients = { readonly [P in Platform]?: CredentialOf<P> };

/** Settings of each default client: the field it fills, and whether it is needed. */
const SETTINGS = {
  kalshi: [
    ['KALSHI_API_KEY_ID', 'api_key_id', true],
    ['KALSHI_PRIVATE_KEY', 'private_key', true],
  ],
  polymarket: [
    ['POLYMARKET_PRIVATE_KEY', 'private_key', true],
    ['POLYMARKET_SIGNATURE_TYPE', 'signature_type', false],
    ['POLYMARKET_FUNDER', 'funder', false],
  ],
  limitless: [
    ['LIMITLESS_TOKEN_ID', 'token_id', true],
    ['LIMITLESS_SECRET', 'secret', true],
    ['LIMITLESS_PRIVATE_KEY', 'private_key', true],
  ],
} as const satisfies Record<Platform, readonly (readonly [keyof Config, string, boolean])[]>;

/** The default clients of the settings; throws ConfigError, without the value, when one is incomplete or cannot be used. */
export function defaultClients(config: Config): DefaultClients {
  return Object.fromEntries(
    PLATFORMS.flatMap((platform) => {
      const given = SETTINGS[platform].filter(([name]) => config[name] !== undefined);
      if (!given.some(([, , needed]) => needed)) return [];
      const fields = Object.fromEntries(given.map(([name, field]) => [field, config[name]]));
      const read = CredentialFields[platform].safeParse(fields);
      if (read.success) return [[platform, read.data]];
      const { path, message } = read.error.issues[0] ?? { path: [], message: 'invalid' };
      const name = SETTINGS[platform].find(([, field]) => field === path[0])?.[0] ?? SETTINGS[platform][0][0];
      throw new ConfigError(`${name}: ${message}, received a value that is not shown`);
    }),
  );
}

/** The methods of an adapter with the caller's credential filled in. */
type Bound<M> = M extends (...parameters: [...infer Given, infer _Access]) => infer Result
  ? (...parameters: [...Given, signal?: AbortSignal]) => Result
  : never;

/** One caller's way to one platform's orders. A credential that the platform rejects is 422 (the caller's) or 502 (ours). */
export interface OrderClient extends Pick<PlatformOrders<Platform>, 'grid' | 'check'> {
  account: Account;
  prepare: Bound<PlatformOrders<Platform>['prepare']>;
  find: Bound<PlatformOrders<Platform>['find']>;
  get: Bound<PlatformOrders<Platform>['get']>;
  list: Bound<PlatformOrders<Platform>['list']>;
  cancel: Bound<PlatformOrders<Platform>['cancel']>;
}

export interface OrderClientDeps {
  adapters: OrderAdapters;
  credentials: Credentials;
  defaults: DefaultClients;
  markets: MarketDirectory;
  onBadRow: (row: BadRow) => void;
}

export type OrderClients = ReturnType<typeof createOrderClients>;

/** Finds the credential to use and opens it, for the call at hand only. */
export function createOrderClients({ adapters, credentials, defaults, markets, onBadRow }: OrderClientDeps) {
  const bind = <P extends Platform>(
    account: Account,
    adapter: PlatformOrders<P>,
    credential: CredentialOf<P>,
    priority: Priority,
  ): OrderClient => {
    const access = (signal?: AbortSignal) => ({
      credential,
      priority,
      markets,
      onBadRow,
      ...(signal ? { signal } : {}),
    });
    const told = <T>(answer: Promise<T>): Promise<T> =>
      answer.catch((error: unknown) => {
        throw account.credentialId === null ? error : callersFault(error);
      });
    return {
      account,
      grid: (...args) => adapter.grid(...args),
      check: (...args) => adapter.check(...args),
      prepare: (intent, signal) => told(adapter.prepare(intent, access(signal))),
      find: (records, signal) => told(adapter.find(records, access(signal))),
      get: (orderId, signal) => told(adapter.get(orderId, access(signal))),
      list: (query, signal) => told(adapter.list(query, access(signal))),
      cancel: (targets, signal) => told(adapter.cancel(targets, access(signal))),
    };
  };

  const adapterOf = <P extends Platform>(platform: P): PlatformOrders<P> => {
    const adapter: PlatformOrders<P> | undefined = adapters[platform];
    if (adapter) return adapter;
    throw orderRefused(`${platformName(platform)} takes no orders here`, 'Use another platform.');
  };

  /** A stored credential of the user, the default one when no id is named. */
  const ofUser = async <P extends Platform>(
    userId: string,
    platform: P,
    id: number | undefined,
    priority: Priority,
  ) => {
    const stored = await credentials.open(userId, platform, id);
    return stored && bind({ userId, platform, credentialId: stored.id }, adapterOf(platform), stored.fields, priority);
  };

  const ofOperator = <P extends Platform>(userId: string, platform: P, priority: Priority): OrderClient | null => {
    const ours: CredentialOf<P> | undefined = defaults[platform];
    return ours === undefined
      ? null
      : bind({ userId, platform, credentialId: null }, adapterOf(platform), ours, priority);
  };

  return {
    /** By id, else the user's default, else the operator's client. 404 for an id that is not the user's, 422 when there is nothing. */
    async open(userId: string, platform: Platform, credentialId: number | undefined): Promise<OrderClient> {
      const stored = await ofUser(userId, platform, credentialId, 'live');
      const client = stored ?? (credentialId === undefined ? ofOperator(userId, platform, 'live') : null);
      if (client) return client;
      if (credentialId !== undefined) {
        throw new ApiError(404, 'No such credential', {
          resolution: 'See GET /v1/api/auth/credentials for the ids.',
          errorText: `credential_id: no credential ${credentialId} for ${platformName(platform)}`,
        });
      }
      throw orderRefused(
        `No credential for ${platformName(platform)}`,
        'Store one at POST /v1/api/auth/credentials.',
        `credential_id: none given, none stored for ${platform}, and this server has no default client for it`,
      );
    },

    /** The client that an order was placed through; null when its credential is gone. */
    reopen: async ({ userId, platform, credentialId }: Account, priority: Priority): Promise<OrderClient | null> =>
      credentialId === null ? ofOperator(userId, platform, priority) : ofUser(userId, platform, credentialId, priority),
  };
}

const callersFault = (error: unknown): unknown =>
  error instanceof PlatformError && error.kind === 'unauthorized'
    ? orderRefused(
        `${platformName(error.platform)} rejected the credential`,
        'Renew the key; its scope, region or account may forbid this too.',
        error.detail,
      )
    : error;

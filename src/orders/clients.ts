import { credentialFields, type CredentialOf, MANIFESTS } from '../platforms/manifests.ts';
import { ConfigError } from '../core/config-error.ts';
import type { Config } from '../core/config.ts';
import type { Credentials } from '../accounts/credentials.ts';
import { ApiError, clockAdvice, PlatformError, platformName } from '../core/errors.ts';
import type { Priority } from '../platforms/http/request.ts';
import type { OrderAdapters } from '../platforms/registry.ts';
import type { PlacementMember, PlatformOrders } from '../platforms/order-contract.ts';
import type { BadRow, MarketDirectory } from '../platforms/contract.ts';
import type { SocketChannel } from '../platforms/sockets/contract.ts';
import { PLATFORMS, type Platform } from '../core/model.ts';
import type { ClientUse, MayUseDefault } from './default-clients.ts';
import type { Account } from './account.ts';
import { refusedOn } from './refusals.ts';

/** The operator's credentials by platform, for users who stored none. */
type DefaultClients = { readonly [P in Platform]?: CredentialOf<P> };

/** The default clients in the settings. Throws ConfigError, without the value, if one is incomplete or invalid. */
export function defaultClients(config: Config): DefaultClients {
  return Object.fromEntries(
    PLATFORMS.flatMap((platform) => {
      const settings = MANIFESTS[platform].defaultClient;
      const given = settings.filter(([name]) => config[name] !== undefined);
      if (!given.some(([, , needed]) => needed)) return [];
      const fields = Object.fromEntries(given.map(([name, field]) => [field, config[name]]));
      const read = credentialFields(platform).safeParse(fields);
      if (read.success) return [[platform, read.data]];
      const { path, message } = read.error.issues[0] ?? { path: [], message: 'invalid' };
      const [name] = settings.find(([, field]) => field === path[0]) ?? settings[0] ?? [platform];
      throw new ConfigError(`${name}: ${message}, received a value that is not shown`);
    }),
  );
}

/** A method of an adapter, bound to the caller's credential. */
type Bound<M> = M extends (...parameters: [...infer Given, infer _Access]) => infer Result
  ? (...parameters: [...Given, signal?: AbortSignal]) => Result
  : never;

/** One caller's access to orders on one platform. A credential rejected by the platform is 422 (the caller's) or 502 (ours). */
export interface OrderClient extends Pick<PlatformOrders<Platform>, 'grid' | 'check' | 'needsBook'> {
  account: Account;
  prepare: Bound<PlatformOrders<Platform>['prepare']>;
  find: Bound<PlatformOrders<Platform>['find']>;
  get: Bound<PlatformOrders<Platform>['get']>;
  list: Bound<PlatformOrders<Platform>['list']>;
  cancel: Bound<PlatformOrders<Platform>['cancel']>;
  balances: Bound<PlatformOrders<Platform>['balances']>;
  /** null if the platform has no private socket. */
  privateChannel(): SocketChannel | null;
  /** The same client, whose reads are sent also while other reads of accounts are suspended. */
  forCancel(): OrderClient;
}

interface OrderClientDeps {
  adapters: OrderAdapters;
  credentials: Credentials;
  defaults: DefaultClients;
  markets: MarketDirectory;
  onBadRow: (row: BadRow) => void;
  mayUseDefault: MayUseDefault;
}

export type OrderClients = ReturnType<typeof createOrderClients>;

function bind<P extends Platform>(
  { markets, onBadRow }: Pick<OrderClientDeps, 'markets' | 'onBadRow'>,
  account: Account,
  adapter: PlatformOrders<P>,
  credential: CredentialOf<P>,
  priority: Priority,
  group: PlacementMember | undefined,
  forCancel = false,
): OrderClient {
  const access = (signal?: AbortSignal) => ({
    credential,
    priority,
    user: account.userId,
    guest: account.credentialId === null ? account.userId : undefined,
    group,
    forCancel,
    markets,
    onBadRow,
    ...(signal ? { signal } : {}),
  });
  const noted = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      throw account.credentialId === null ? error : callersFault(error);
    });
  return {
    account,
    grid: (...args) => adapter.grid(...args),
    check: (...args) => adapter.check(...args),
    needsBook: (terms) => adapter.needsBook(terms),
    prepare: (intent, signal) => noted(adapter.prepare(intent, access(signal))),
    find: (records, signal) => noted(adapter.find(records, access(signal))),
    get: (orderId, signal) => noted(adapter.get(orderId, access(signal))),
    list: (query, signal) => noted(adapter.list(query, access(signal))),
    cancel: (targets, signal) => noted(adapter.cancel(targets, access(signal))),
    balances: (market, signal) => noted(adapter.balances(market, access(signal))),
    privateChannel: () => adapter.privateChannel?.(access()) ?? null,
    forCancel: () => bind({ markets, onBadRow }, account, adapter, credential, priority, group, true),
  };
}

/** Selects the credential to use and decrypts it, for the current call, or for as long as its private socket is open. */
export function createOrderClients(deps: OrderClientDeps) {
  const { adapters, credentials, defaults, mayUseDefault } = deps;

  const adapterOf = <P extends Platform>(platform: P): PlatformOrders<P> => {
    const adapter: PlatformOrders<P> | undefined = adapters[platform];
    if (adapter) return adapter;
    throw refusedOn(platform, 'noPlatform');
  };

  /** A client with a stored credential of the user: the default one if no id is given. */
  const ofUser = async <P extends Platform>(
    userId: string,
    platform: P,
    id: number | undefined,
    priority: Priority,
    group?: PlacementMember,
  ) => {
    const stored = await credentials.open(userId, platform, id);
    if (!stored) return null;
    const account = { userId, platform, credentialId: stored.id };
    return bind(deps, account, adapterOf(platform), stored.fields, priority, group);
  };

  const ofOperator = <P extends Platform>(
    userId: string,
    platform: P,
    priority: Priority,
    group?: PlacementMember,
  ): OrderClient | null => {
    const ours: CredentialOf<P> | undefined = defaults[platform];
    if (ours === undefined) return null;
    return bind(deps, { userId, platform, credentialId: null }, adapterOf(platform), ours, priority, group);
  };

  /** The operator's client; null if there is none or the user may not use it. */
  const defaultClient = async (
    userId: string,
    platform: Platform,
    use: ClientUse,
    group?: PlacementMember,
  ): Promise<OrderClient | null> =>
    defaults[platform] !== undefined && (await mayUseDefault(userId, platform, use))
      ? ofOperator(userId, platform, 'live', group)
      : null;

  /** As `open`; null in place of the 422 without a client. */
  const openIfAny = async (
    userId: string,
    platform: Platform,
    credentialId: number | undefined,
    use: ClientUse,
    group?: PlacementMember,
  ): Promise<OrderClient | null> => {
    // First, because without an adapter no credential can be used.
    adapterOf(platform);
    const stored = await ofUser(userId, platform, credentialId, 'live', group);
    if (stored) return stored;
    if (credentialId === undefined) return defaultClient(userId, platform, use, group);
    throw new ApiError(404, 'Credential not found', {
      resolution: 'See GET /v1/api/auth/credentials for the ids.',
      errorText: `credential_id: no credential ${credentialId} for ${platformName(platform)}`,
    });
  };

  return {
    defaultClient,
    openIfAny,

    /**
     * The client of the given credential, else of the user's default one, else the operator's client if the user may use it. 404 for the
     * id of another user's credential, 422 without a client.
     */
    async open(...asked: Parameters<typeof openIfAny>): Promise<OrderClient> {
      const client = await openIfAny(...asked);
      if (client) return client;
      const [, platform] = asked;
      throw noCredential(platform);
    },

    /** The client that placed an order; null if its credential no longer exists. */
    reopen: async ({ userId, platform, credentialId }: Account, priority: Priority): Promise<OrderClient | null> =>
      credentialId === null ? ofOperator(userId, platform, priority) : ofUser(userId, platform, credentialId, priority),
  };
}

export const noCredential = (platform: Platform): ApiError =>
  refusedOn(
    platform,
    'noCredential',
    `credential_id: the request names none, the account has none for ${platform}, and this server has no default client for it`,
  );

function callersFault(error: unknown): unknown {
  if (!(error instanceof PlatformError) || error.kind !== 'unauthorized') return error;
  const clock = clockAdvice(error);
  if (clock === null) return refusedOn(error.platform, 'credentialRejected', error.detail);
  const message = `${platformName(error.platform)} rejected the credential`;
  return new ApiError(422, message, { resolution: clock, errorText: error.detail });
}

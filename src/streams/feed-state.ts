import type { Clock } from '../core/time.ts';
import type { Platform } from '../core/model.ts';
import { Watchers } from './watchers.ts';

/** How a platform's data arrives: pushed, polled, polled but late, or not at all. */
const FEED_STATES = ['live', 'polling', 'stale', 'off'] as const;
type FeedState = (typeof FEED_STATES)[number];

/** A platform in a `state` event. */
interface PlatformState {
  feed: FeedState;
  /** Up to when stored trades are complete, ISO-8601; null before the first poll. */
  fresh_to: string | null;
  /** Seconds since then. */
  lag_seconds: number | null;
}

export interface FeedStateDeps {
  clock: Clock;
  platforms: readonly Platform[];
  feeds: () => Promise<readonly { platform: Platform; feed: FeedState }[]>;
  freshTo: (platform: Platform) => Promise<string | null>;
}

const LOOK_MS = 2000;
/** Before the store's first answer: it is not known whether a feed is off. */
const UNKNOWN = { feed: 'stale', fresh_to: null } as const;
/** The state of a platform that is not configured. */
const OFF = { feed: 'off', fresh_to: null } as const;

/** The state of each platform's feed, read while a client streams. */
export class FeedStates {
  readonly #deps: FeedStateDeps;
  readonly #watchers: Watchers<() => void>;
  #known = new Map<Platform, PlatformState>();

  constructor(deps: FeedStateDeps) {
    this.#deps = deps;
    this.#watchers = new Watchers({ clock: deps.clock, everyMs: LOOK_MS, look: () => this.#read() });
  }

  get platforms(): readonly Platform[] {
    return this.#deps.platforms;
  }

  /** Resolves once the states are known; from then on, calls back when the feed of any platform changes, until the result is called. */
  async watch(onChange: () => void): Promise<() => void> {
    let isReady = false;
    // States from before the last listener left are too old.
    const stop = this.#watchers.add(
      () => isReady && onChange(),
      () => this.#known.clear(),
    );
    if (this.#known.size === 0) await this.#watchers.look();
    isReady = true;
    return stop;
  }

  /** The current state of these platforms. */
  of(platforms: readonly Platform[]): Partial<Record<Platform, PlatformState>> {
    return Object.fromEntries(
      platforms.map((platform) => {
        const isConfigured = this.#deps.platforms.includes(platform);
        const { feed, fresh_to: freshTo } = this.#known.get(platform) ?? (isConfigured ? UNKNOWN : OFF);
        const lagMs = freshTo === null ? null : Math.max(0, this.#deps.clock.now() - Date.parse(freshTo));
        return [platform, { feed, fresh_to: freshTo, lag_seconds: lagMs === null ? null : Math.round(lagMs / 1000) }];
      }),
    );
  }

  close(): void {
    this.#watchers.close();
  }

  async #read(): Promise<void> {
    const { feeds, freshTo, platforms } = this.#deps;
    // While the store does not answer, the last known state stays and its lag grows.
    const rows = await feeds().catch(() => null);
    if (rows === null) return;
    const before = this.#known;
    const states = platforms.map(async (platform): Promise<[Platform, PlatformState]> => {
      const feed = rows.find((row) => row.platform === platform)?.feed ?? 'off';
      const known = await freshTo(platform).catch(() => before.get(platform)?.fresh_to ?? null);
      return [platform, { feed, fresh_to: known, lag_seconds: null }];
    });
    this.#known = new Map(await Promise.all(states));
    const feedOf = (known: typeof before, platform: Platform): FeedState => (known.get(platform) ?? UNKNOWN).feed;
    const hasChanged = platforms.some((platform) => feedOf(before, platform) !== feedOf(this.#known, platform));
    if (hasChanged) this.#watchers.each((listener) => listener());
  }
}

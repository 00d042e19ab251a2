import type { Platform } from '../../core/model.ts';
import type { LimitGroupName } from './limit-groups.ts';

/** A user waits behind `live`; `poll` keeps the store fresh; `backfill` takes what is left. */
export type Priority = 'live' | 'poll' | 'backfill';

/** One request to a platform. The budget of `group` is taken before it is sent. */
export interface PlatformRequest {
  platform: Platform;
  /** What the platform counts this call under. */
  group: LimitGroupName;
  /** accountName of the credential whose limit it is, where the platform counts by account; calls without share one. */
  account?: string;
  /** Whose share of a common budget it takes; absent for our own work, and where the budget is the user's own. */
  user?: string | undefined;
  /** The user's own share was taken by an earlier call of the same batch: only the callers' common budget is asked. */
  shareTaken?: boolean | undefined;
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  /** Sent as it is; the caller sets the content type. */
  body?: string;
  /** A function is called for each attempt as it leaves: signatures carry the time. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  priority: Priority;
  /** Leaves on what callers leave of their budget, where it can at once. */
  isUrgent?: boolean | undefined;
  /** Tokens taken from the bucket; default the group's cost of one call. */
  cost?: number;
  /** From sending to the last byte of the body, for each attempt; default 10 s. */
  timeoutMs?: number;
  /** Largest body, unpacked; default 20 MiB. */
  maxBytes?: number;
  /** true only for calls without effect: a GET, a read that is a POST, a cancel. */
  retry: boolean;
  signal?: AbortSignal;
}

export interface PlatformReply {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** Parsed body, null when it is empty. Money must be read from strings or String(number), never computed on. */
  json: unknown;
  /** ISO time of receipt. */
  receivedAt: string;
}

/**
 * Sends requests through the platform's budget with time-outs, size limits, retries of reads, and a breaker per host.
 * Resolves for 2xx only; every other outcome is a PlatformError, a NotSentError when the request never left.
 */
export interface PlatformHttp {
  send(request: PlatformRequest): Promise<PlatformReply>;
  /** Refuses what waits, gives what is in flight 3 s to end. */
  close(): Promise<void>;
}

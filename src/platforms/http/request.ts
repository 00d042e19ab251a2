import type { Platform } from '../../core/model.ts';
import type { LimitGroupName } from '../manifests.ts';

/** `live`: a user waits for it; `poll` keeps the store fresh; `backfill` takes what is left. */
export type Priority = 'live' | 'poll' | 'backfill';

/**
 * What a call is for: a public read, a read of an account, a placement, a cancel with what it needs. Each host has a breaker for each,
 * so that reads that fail stop no order. A cancel is always tried.
 */
export type Circuit = 'read' | 'account' | 'order' | 'cancel';

/** Circuits of an account's calls where each method is of one kind. */
export const ACCOUNT_CIRCUITS = { GET: 'account', POST: 'order', DELETE: 'cancel' } as const;

/** One request to a platform. The budget of `group` is taken before it is sent. */
export interface PlatformRequest {
  platform: Platform;
  /** What the platform counts this call under. */
  group: LimitGroupName;
  /** accountName of the credential, if the platform counts by account; calls without one share a limit. */
  account?: string;
  /** The user whose share of a common budget it takes; absent for our own work, and if the budget is the user's own. */
  user?: string | undefined;
  /** An earlier call of the same batch took the user's share: only the callers' common budget is checked. */
  shareTaken?: boolean | undefined;
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  /** Sent as it is; the caller sets the content type. */
  body?: string;
  /** A function is called for each attempt when it is sent, because signatures contain the time. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  priority: Priority;
  /** Uses the part of the callers' budget that they have not used, if that is possible at once. */
  isUrgent?: boolean | undefined;
  /** Default `read`. */
  circuit?: Circuit;
  /** An order waits for this read: it is sent even while the breaker suspends the others. */
  forOrder?: boolean | undefined;
  /** A read of an item that failed before: another failure does not count against the host. */
  failedBefore?: boolean | undefined;
  /** Tokens taken from the bucket; default the group's cost of one call. */
  cost?: number;
  /** Longest wait before it is sent; default by its priority. */
  waitMs?: number;
  /** From sending to the last byte of the body, for each attempt; default 10 s. */
  timeoutMs?: number;
  /** Largest body, decompressed; default 20 MiB. */
  maxBytes?: number;
  /** true only for calls without effect: a GET, a read that is a POST, a cancel. */
  retry: boolean;
  signal?: AbortSignal;
}

export interface PlatformReply {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** Parsed body, null if it is empty. Money must be read from strings or String(number), never computed on. */
  json: unknown;
  /** ISO time of receipt. */
  receivedAt: string;
}

/**
 * Sends requests within the platform's budget, with time-outs, size limits, retries of reads, and a breaker for each host and circuit.
 * Resolves only for 2xx; any other result is a PlatformError, or a NotSentError if the request was never sent.
 */
export interface PlatformHttp {
  send(request: PlatformRequest): Promise<PlatformReply>;
  /** Rejects waiting requests and gives those in flight 3 s to end. */
  close(): Promise<void>;
}

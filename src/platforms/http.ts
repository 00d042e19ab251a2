import type { Platform } from '../schemas.ts';
import type { LimitGroupName } from './limits.ts';

/** A user waits behind `live`; `poll` keeps the store fresh; `backfill` takes what is left. */
export type Priority = 'live' | 'poll' | 'backfill';

/** One request to a platform. The budget of `group` is taken before it is sent. */
export interface PlatformRequest {
  platform: Platform;
  /** What the platform counts this call under; reads without a Kalshi key are `kalshi:anonymous`. */
  group: LimitGroupName;
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  /** Sent as it is; the caller sets the content type. */
  body?: string;
  headers?: Record<string, string>;
  priority: Priority;
  /** Tokens taken from the bucket; default the group's cost of one call. */
  cost?: number;
  timeoutMs?: number;
  maxBytes?: number;
  /** true only for calls without effect: a GET, a read that is a POST, a cancel. */
  retry: boolean;
  signal?: AbortSignal;
}

export interface PlatformReply {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** Parsed body. Money must be read from strings or String(number), never computed on. */
  json: unknown;
  /** ISO time of receipt. */
  receivedAt: string;
}

/**
 * Sends requests through the platform's budget with time-outs, size limits, retries of reads, and a breaker per host.
 * Resolves for 2xx only; every other outcome is a PlatformError.
 */
export interface PlatformHttp {
  send(request: PlatformRequest): Promise<PlatformReply>;
  close(): Promise<void>;
}

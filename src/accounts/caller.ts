import type { Scope } from '../core/model.ts';
import type { Tier } from './tables.ts';

interface Person {
  userId: string;
  tier: Tier;
  /** Requests a minute that the operator gave this user; null = those of the tier. */
  requestsPerMinute: number | null;
}

/** A caller with an API key. */
export interface KeyCaller extends Person {
  kind: 'key';
  keyId: string;
  scopes: readonly Scope[];
}

/** A caller with a session cookie. */
export interface SessionCaller extends Person {
  kind: 'session';
  sessionId: string;
  /** When a password or an identity provider last confirmed the user. */
  authenticatedAt: Date;
}

export type Caller = KeyCaller | SessionCaller;

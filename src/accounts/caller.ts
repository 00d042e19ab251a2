import type { Scope } from '../core/model.ts';
import type { Tier } from './tables.ts';

interface Person {
  userId: string;
  tier: Tier;
}

/** Who sent an API key. */
export interface KeyCaller extends Person {
  kind: 'key';
  keyId: string;
  scopes: readonly Scope[];
}

/** Who sent a session cookie. */
export interface SessionCaller extends Person {
  kind: 'session';
  sessionId: string;
  /** The last time a password or an identity provider proved who it is. */
  authenticatedAt: Date;
}

export type Caller = KeyCaller | SessionCaller;

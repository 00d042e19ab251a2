import { z } from 'zod';
import { SCOPES } from '../core/model.ts';
import { numberOrNull, platformField, PlainMeta, timeField, timeOrNull } from './markets.ts';

export const UserAnswer = z
  .object({
    user: z
      .object({
        id: z.string().describe('UUID'),
        email: z.string().describe('In lower case'),
        name: z.string().describe("'' when none was given"),
        tier: z
          .enum(['free', 'pro'])
          .describe('250 or 500 requests per minute, unless the operator sets others for the tier or the user'),
        created_at: timeField.describe('When the account was created, ISO-8601 UTC with milliseconds'),
      })
      .meta({ id: 'User', description: 'An account' }),
    meta: PlainMeta,
  })
  .meta({ id: 'Account' });

export const LoggedOutAnswer = z.object({
  logged_out: z.literal(true).describe('The session is over'),
  meta: PlainMeta,
});

export const PasswordResetAnswer = z.object({
  status: z.enum(['requested', 'reset']).describe('requested: the request was accepted; reset: the password is set'),
  delivery: z
    .enum(['mail', 'operator'])
    .nullable()
    .describe('operator: this service sends no mail, its operator creates the link; null unless requested'),
  meta: PlainMeta,
});

export const NewKey = z.object({
  id: z.string().describe('UUID'),
  name: z.string().describe('As given'),
  prefix: z.string().describe('First characters of the key, for display'),
  scopes: z.array(z.enum(SCOPES)).describe('read: every GET; trade: orders and every other write'),
  expires_at: timeOrNull('Expiry', 'if it never expires'),
  allowed_addresses: z.array(z.string()).describe('Addresses and CIDR blocks it may be used from; [] = any'),
  created_at: timeField.describe('When it was created, ISO-8601 UTC with milliseconds'),
});
export const KeyRecord = NewKey.extend({
  last_used_at: timeOrNull('Last use; may lag by some seconds', 'if never used'),
  revoked_at: timeOrNull('When it was revoked', 'if not revoked'),
}).meta({ id: 'ApiKey', description: 'An API key without its secret' });

export const CreatedKeyAnswer = NewKey.extend({
  key: z.string().describe('The secret, 52 characters; shown here and never again'),
  meta: PlainMeta,
});

export const RevokedKeyAnswer = z.object({
  id: z.string().describe('Id of the key'),
  revoked: z.literal(true).describe('The key is rejected from now on'),
  meta: PlainMeta,
});

export const KeysAnswer = z.object({
  api_keys: z.array(KeyRecord).describe('Oldest first, revoked ones too'),
  meta: PlainMeta,
});

export const Credential = z
  .object({
    id: z.int().describe('Number of the credential, for credential_id'),
    platform: platformField,
    label: z.string().describe('As given'),
    is_default: z.boolean().describe('true: used if an order has no credential_id'),
    created_at: timeField.describe('When it was stored, ISO-8601 UTC with milliseconds'),
  })
  .meta({ id: 'Credential', description: 'A stored credential without its secrets' });

export const StoredCredentialAnswer = Credential.extend({ meta: PlainMeta });

export const DeletedCredentialAnswer = z.object({
  id: z.int().describe('Number of the credential'),
  deleted: z.literal(true).describe('The credential and its secrets are deleted'),
  meta: PlainMeta,
});

export const CredentialsAnswer = z.object({
  credentials: z.array(Credential).describe('Oldest first'),
  meta: PlainMeta,
});

/** How an order counts against the limits of an account. */
export const ORDER_NOTIONAL =
  'USD that one order can cost: worst price p × size of a purchase, the larger of p and 1 − p × size of a sale';

export const OrderLimitsAnswer = z
  .object({
    trading_enabled: z.boolean().describe('false: orders of this account are refused'),
    max_order_notional: numberOrNull.describe(`${ORDER_NOTIONAL}; null = no limit`),
    max_day_notional: numberOrNull.describe("USD of a UTC day's orders, without rejected ones; null = no limit"),
    meta: PlainMeta,
  })
  .meta({ id: 'OrderLimits' });

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { privateKeyToAddress } from 'viem/accounts';
import { z } from 'zod';
import { integerOf, textParam } from './parameters.ts';
import type { Platform } from './schemas.ts';

/** Text that travels in a header of each call: what none can carry would make every order fail. */
const headerText = (max: number) =>
  textParam(max).regex(/^[!-~]+$/, { error: `text of 1 to ${max} ASCII characters without spaces` });

/**
 * What signs orders on each platform, as stored; each refusal says what to fix. A key comes as PEM and is kept as the JSON of its JWK
 * (RFC 7517): every order reads it, which takes a twentieth of the time.
 */
const pem = textParam(8192).transform((text, context) => {
  const refuse = (message: string): never => {
    context.issues.push({ code: 'custom', message, input: text });
    return z.NEVER;
  };
  const key = pemKey(text.replaceAll(String.raw`\n`, '\n'));
  if (key === null) {
    return refuse('an unencrypted private key in PEM form, from -----BEGIN to -----END with its line ends');
  }
  const problem = keyProblem(key);
  return problem === null ? JSON.stringify(key.export({ format: 'jwk' })) : refuse(problem);
});

function pemKey(text: string): KeyObject | null {
  try {
    return createPrivateKey(text);
  } catch {
    return null;
  }
}

function keyProblem({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject): string | null {
  if (type === 'ed25519') return null;
  if (type !== 'rsa') return `an RSA or Ed25519 key (this one is ${type ?? 'of another kind'})`;
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  return bits >= 2048 ? null : `an RSA key of at least 2048 bits (this one has ${bits})`;
}

const walletKey = z
  .string({ error: 'a wallet key: 0x and 64 hex digits' })
  .trim()
  .regex(/^(0x)?[0-9a-fA-F]{64}$/, { error: 'a wallet key: 0x and 64 hex digits' })
  .transform((text, context) => {
    const key = `0x${text.replace(/^0x/, '').toLowerCase()}` as const;
    if (addressOfKey(key) !== null) return key;
    context.issues.push({ code: 'custom', message: 'a wallet key within the range of the curve', input: text });
    return z.NEVER;
  });

const address = z
  .string({ error: 'an address: 0x and 40 hex digits' })
  .trim()
  .regex(/^0x[0-9a-fA-F]{40}$/, { error: 'an address: 0x and 40 hex digits' })
  .transform((text) => text.toLowerCase() as `0x${string}`);

/** A base64 or base64url secret of at least `bytes` bytes. */
function base64Secret(bytes: number) {
  const error = `a base64 secret of at least ${bytes} bytes, complete with its padding`;
  return z
    .string({ error })
    .trim()
    .regex(/^[A-Za-z0-9+/_-]{16,512}={0,2}$/, { error })
    .refine((text) => text.length % 4 === 0 && Buffer.from(text, 'base64').length >= bytes, { error });
}

function addressOfKey(key: `0x${string}`): string | null {
  try {
    return privateKeyToAddress(key).toLowerCase();
  } catch {
    return null;
  }
}

/** Names the known fields when another one is given. */
function form<S extends z.ZodRawShape>(shape: S) {
  const names = Object.keys(shape).join(', ');
  const error = ({ code }: { code?: string }) =>
    code === 'unrecognized_keys' ? `no fields but ${names}` : `an object of ${names}`;
  return z.strictObject(shape, { error });
}

const KalshiFields = form({ api_key_id: headerText(100), private_key: pem });

/** What fields say together is asked whatever else fails, so that one answer lists every fault. */
const ALWAYS = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null };

/** Tells a field that was read from one that has failed by itself. */
function readFields({ issues }: z.RefinementCtx): (field: string) => boolean {
  const failed = new Set(issues.map(({ path }) => path?.[0]));
  return (field) => !failed.has(field);
}

const PolymarketFields = form({
  private_key: walletKey,
  /** 0 the wallet itself, 1 proxy, 2 Safe, 3 deposit wallet. */
  signature_type: integerOf([0, 1, 2, 3]).default(0),
  funder: address.optional(),
  /** Given together, or derived from the wallet at the first order. */
  api_key: headerText(100).optional(),
  api_secret: base64Secret(16).optional(),
  api_passphrase: headerText(200).optional(),
}).superRefine((fields, context) => {
  const refuse = (field: string, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
  const isRead = readFields(context);
  const { signature_type: type, funder } = fields;
  const own = isRead('private_key') ? addressOfKey(fields.private_key) : funder;
  if (isRead('signature_type') && isRead('funder')) {
    if (type === 0 && funder !== undefined && funder !== own) {
      refuse(
        'funder',
        'the address of private_key when signature_type is 0 (leave it out, or set signature_type to 1, 2 or 3)',
      );
    }
    if (type !== 0 && funder === undefined)
      refuse('funder', `the wallet that holds the funds: signature_type ${type} needs it`);
  }
  const given = [fields.api_key, fields.api_secret, fields.api_passphrase].filter((value) => value !== undefined);
  if (given.length === 1 || given.length === 2) {
    refuse('api_key', 'all of api_key, api_secret and api_passphrase, or none of them');
  }
}, ALWAYS);

const LimitlessFields = form({
  token_id: headerText(200),
  secret: base64Secret(16),
  private_key: walletKey,
  /** Checked when given: a key of another wallet is noticed before the first order. */
  address: address.optional(),
}).superRefine(({ address: given, private_key: key }, context) => {
  const isRead = readFields(context);
  if (given === undefined || !isRead('address') || !isRead('private_key') || given === addressOfKey(key)) return;
  context.addIssue({ code: 'custom', path: ['address'], message: 'the address of private_key' });
}, ALWAYS);

export const CredentialFields = {
  kalshi: KalshiFields,
  polymarket: PolymarketFields,
  limitless: LimitlessFields,
} satisfies Record<Platform, z.ZodType>;

/** The fields of a platform's credential after the form checks. */
export type CredentialOf<P extends Platform> = z.output<(typeof CredentialFields)[P]>;

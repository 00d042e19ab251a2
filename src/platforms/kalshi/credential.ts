import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { textParam } from '../../core/fields.ts';
import { credentialForm, headerText } from '../credential-form.ts';

const MARK = /-----BEGIN ([A-Z0-9 ]+)-----/;
const LINE = 64;

/** The private key in a PEM text as people paste it, or the rule that the text breaks. The rule repeats nothing of the text. */
function readPem(text: string): KeyObject | { rule: string } {
  const plain = text.replaceAll(/(\\+[rn])+/g, '\n');
  const begin = MARK.exec(plain);
  const kind = begin?.[1];
  if (!begin || kind === undefined) return { rule: 'a PEM text with its first line, -----BEGIN …' };
  if (!kind.endsWith('PRIVATE KEY')) return { rule: `a private key (this is a ${kind.slice(0, 40)})` };
  if (kind.startsWith('OPENSSH')) return { rule: "a key in PEM, not OpenSSH's form: ssh-keygen -p -m PEM converts it" };
  const start = begin.index + begin[0].length;
  const end = plain.indexOf(`-----END ${kind}-----`, start);
  if (end < 0) return { rule: 'a PEM text with its last line, -----END …; this one may be cut off' };
  const body = plain.slice(start, end);
  if (kind.startsWith('ENCRYPTED') || /\bENCRYPTED\b/.test(body))
    return { rule: 'an unencrypted private key (this one has a password)' };
  const base64 = body.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    return { rule: 'a PEM text with nothing but base64 between its first and last line' };
  }
  const lines = base64.match(new RegExp(`.{1,${LINE}}`, 'g')) ?? [];
  try {
    return createPrivateKey([begin[0], ...lines, `-----END ${kind}-----`, ''].join('\n'));
  } catch {
    return { rule: 'a whole private key between its first and last line; this one may be cut off or altered' };
  }
}

/** A key is received as PEM and stored as the JSON of its JWK (RFC 7517), which every order parses in a twentieth of the time. */
const pem = textParam(8192).transform((text, context) => {
  const refuse = (message: string): never => {
    context.issues.push({ code: 'custom', message, input: text });
    return z.NEVER;
  };
  const key = readPem(text);
  if ('rule' in key) return refuse(key.rule);
  const problem = keyProblem(key);
  return problem === null ? JSON.stringify(key.export({ format: 'jwk' })) : refuse(problem);
});

const isWithin = (part: string | undefined, bytes: number): boolean =>
  Buffer.from(part ?? '', 'base64url').length <= bytes;
const RSA_BITS = { least: 2048, most: 4096 };

/**
 * What is wrong with a key; null for one with a bounded signing cost: 4 ms of a core for the longest RSA key. A private exponent or
 * factor longer than the modulus requires, which OpenSSL accepts, would multiply that.
 */
export function keyProblem(key: KeyObject): string | null {
  const { asymmetricKeyType: type, asymmetricKeyDetails: { modulusLength: bits = 0, publicExponent = 0n } = {} } = key;
  if (type === 'ed25519') return null;
  if (type !== 'rsa') return `an RSA or Ed25519 key (this one is ${type ?? 'of another kind'})`;
  const { least, most } = RSA_BITS;
  if (bits < least || bits > most) return `an RSA key of ${least} to ${most} bits (this one has ${bits})`;
  const { d, p, q, dp, dq, qi } = key.export({ format: 'jwk' });
  const plain =
    isWithin(d, Math.ceil(bits / 8)) && [p, q, dp, dq, qi].every((part) => isWithin(part, Math.ceil(bits / 16) + 1));
  return plain && publicExponent < 2n ** 32n
    ? null
    : 'an RSA key of two primes without parts longer than its modulus needs';
}

/** Signing credential for orders on Kalshi. */
export const KalshiFields = credentialForm({ api_key_id: headerText(100), private_key: pem });

export type KalshiCredential = z.output<typeof KalshiFields>;

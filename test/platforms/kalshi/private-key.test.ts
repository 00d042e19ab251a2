import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/core/config.ts';
import { defaultClients } from '../../../src/orders/clients.ts';
import { KalshiFields } from '../../../src/platforms/kalshi/credential.ts';
import { operatorKey } from '../../../src/platforms/kalshi/operator-key.ts';

const config = loadConfig({});
const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const { privateKey: ed } = generateKeyPairSync('ed25519');
const FORMS: [string, string][] = [
  ['RSA in PKCS#8', rsa.export({ type: 'pkcs8', format: 'pem' }).toString()],
  ['RSA in PKCS#1', rsa.export({ type: 'pkcs1', format: 'pem' }).toString()],
  ['Ed25519', ed.export({ type: 'pkcs8', format: 'pem' }).toString()],
];
const MARKS = /-----[A-Z ]+-----/g;
const base64 = (pem: string): string => pem.replaceAll(MARKS, '').replaceAll(/\s/g, '');
const marks = (pem: string): string[] => pem.match(MARKS) ?? [];
const oneLine = (pem: string, between: string): string => [marks(pem)[0], base64(pem), marks(pem)[1]].join(between);

const WRITTEN: [string, (pem: string) => string][] = [
  ['as it is', (pem) => pem],
  ['with \\n for line ends', (pem) => pem.replaceAll('\n', String.raw`\n`)],
  ['with \\r\\n for line ends', (pem) => pem.replaceAll('\n', String.raw`\r\n`)],
  ['with \\\\n for line ends', (pem) => pem.replaceAll('\n', String.raw`\\n`)],
  ['with the line ends of Windows', (pem) => pem.replaceAll('\n', '\r\n')],
  ['with the line ends of old Macs', (pem) => pem.replaceAll('\n', '\r')],
  ['in double quotes', (pem) => `"${pem}"`],
  ['in single quotes, escaped', (pem) => `'${pem.replaceAll('\n', String.raw`\n`)}'`],
  ['in escaped quotes', (pem) => String.raw`\"${pem}\"`],
  ['with blanks around every line', (pem) => pem.replaceAll(/^|$/gm, '  ')],
  ['indented by tabs, with a byte order mark', (pem) => `\uFEFF${pem.replaceAll(/^/gm, '\t')}`],
  ['without the last line end', (pem) => pem.trim()],
  ['on one line', (pem) => oneLine(pem, '')],
  ['on one line with blanks', (pem) => oneLine(pem, ' ')],
  ['with blank lines', (pem) => pem.replaceAll('\n', '\n\n')],
  ['with a comment before it', (pem) => `Kalshi key of November\n${pem}`],
];
const cases = FORMS.flatMap(([form, pem]) => WRITTEN.map(([how, write]) => [form, how, pem, write(pem)] as const));

test.each(cases)('a private key, %s, is read %s', (_, __, pem, written) => {
  const read = KalshiFields.parse({ api_key_id: 'id-1', private_key: written });
  expect(JSON.parse(read.private_key)).toEqual(createPrivateKey(pem).export({ format: 'jwk' }));
  expect(operatorKey({ KALSHI_API_KEY_ID: 'id-1', KALSHI_PRIVATE_KEY: written })).toEqual(read);
});

const pkcs8 = FORMS[0]?.[1] ?? '';
const sealed = rsa.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString();
const sealedOld = rsa.export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString();
const publicPem = createPublicKey(rsa).export({ type: 'spki', format: 'pem' }).toString();
const REFUSED: [string, string, RegExp][] = [
  ['without its first line', pkcs8.replace(/^.*\n/, ''), /first line, -----BEGIN …/],
  ['of base64 alone', base64(pkcs8), /first line, -----BEGIN …/],
  ['without its last line', pkcs8.replace(/-----END.*\n$/, ''), /its last line, -----END …; this one may be cut off/],
  ['cut off', pkcs8.slice(0, 400), /its last line, -----END …; this one may be cut off/],
  ['that lacks a part', oneLine(pkcs8, '\n').replace(/.{200}\n(?=-----END)/, '\n'), /whole/],
  ['with characters that are not base64', pkcs8.replace(/\n(.{10})/, '\n$1*'), /base64/],
  ['with a password', sealed, /an unencrypted private key/],
  ['with a password in the old form', sealedOld, /an unencrypted private key/],
  ['that is a public key', publicPem, /a private key \(this is a PUBLIC KEY\)/],
  ['of OpenSSH', pkcs8.replaceAll(' PRIVATE', ' OPENSSH PRIVATE'), /not OpenSSH's form/],
  ['that is a path', '/home/ann/kalshi.pem', /first line/],
];

test.each(REFUSED)('a text %s is refused with the rule that it breaks', (_, text, rule) => {
  const read = KalshiFields.safeParse({ api_key_id: 'id-1', private_key: text });
  expect(read.error?.issues).toMatchObject([{ path: ['private_key'], message: expect.stringMatching(rule) }]);
  const setting = { KALSHI_API_KEY_ID: 'id-1', KALSHI_PRIVATE_KEY: text };
  expect(() => defaultClients({ ...config, ...setting })).toThrow(rule);
});

import { createPrivateKey } from 'node:crypto';

/** What a secret is in bytes: as written, and as what it is the text of (hex, base64, a PEM's key). */
function bytesOf(secret: string): Buffer[] {
  const written = Buffer.from(secret);
  if (secret.includes('PRIVATE KEY')) {
    const key = createPrivateKey(secret);
    const { d } = key.export({ format: 'jwk' });
    return [written, key.export({ type: 'pkcs8', format: 'der' }), Buffer.from(d ?? '', 'base64url')];
  }
  const hex = /^(?:0x)?((?:[0-9a-f]{2}){16,})$/i.exec(secret)?.[1];
  if (hex) return [Buffer.from(hex), Buffer.from(hex, 'hex')];
  return /^[\w+/-]{20,}={0,2}$/.test(secret) ? [written, Buffer.from(secret, 'base64')] : [written];
}

/** Texts that give a secret away: itself, its hex, its base64 in either alphabet, at any place within a longer encoding. */
export function formsOf(secret: string): string[] {
  const forms: string[] = [];
  for (const bytes of bytesOf(secret)) {
    forms.push(bytes.toString('latin1'), bytes.toString('hex'));
    for (const offset of [0, 1, 2]) {
      const shifted = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
      // The first and the last characters depend on what stands beside the secret.
      const inner = shifted.slice(offset === 0 ? 0 : 4, -4);
      forms.push(inner, inner.replaceAll('+', '-').replaceAll('/', '_'));
    }
  }
  const lines = secret.includes('\n')
    ? secret.split('\n').filter((line) => line.length > 20 && !line.includes('---'))
    : [];
  return [...new Set([...forms, ...lines, secret.replaceAll('\n', String.raw`\n`)])];
}

/** Names of the secrets that a text holds in any form; hex in either case. */
export function leaksIn(text: string | Buffer, secrets: Record<string, string>): string[] {
  const searched = typeof text === 'string' ? text : text.toString('latin1');
  const lower = searched.toLowerCase();
  return Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).some((form) => searched.includes(form) || (/^[0-9a-f]{32,}$/.test(form) && lower.includes(form)))
      ? [name]
      : [],
  );
}

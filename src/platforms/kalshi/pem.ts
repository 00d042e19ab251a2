import { createPrivateKey, type KeyObject } from 'node:crypto';

const MARK = /-----BEGIN ([A-Z0-9 ]+)-----/;
const LINE = 64;

/** The private key in a PEM text as people paste it, or the rule that the text breaks. The rule repeats nothing of the text. */
export function readPem(text: string): KeyObject | { rule: string } {
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

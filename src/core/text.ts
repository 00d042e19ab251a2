/** `a, b and c`. */
export const listText = (words: readonly string[], last: 'and' | 'or'): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;

/** A host in URL form: IPv6 addresses get brackets. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** An address of a wallet or contract: 0x and 40 hex digits, in any case. */
export const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** A trade id that begins with the hash of its transaction. */
export const TX_ID = /^(0x[0-9a-f]{64})-(.+)$/;

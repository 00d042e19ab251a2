/** `a, b and c`. */
export const listText = (words: readonly string[], last: 'and' | 'or'): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;

/** A host in URL form: IPv6 addresses get brackets. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);

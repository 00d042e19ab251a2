const SECRET = /password|secret|passphrase|private_?key|^key$|token|^fields/i;
/** API keys that callers put in the wrong place, whole or truncated. */
const KEY = /pk_[\w-]{8,}|pk_[\w-]*$/g;
export const HIDDEN = 'a value that is not shown';
const NAME_BYTES = 120;
const VALUE_BYTES = 180;
/** Enough to show 120 characters after keys are removed. */
const READ_LENGTH = 400;

/** The name of an unknown field as errors show it: short, without keys. */
export const shownName = (name: string): string => brief(name.slice(0, 60).replaceAll(KEY, 'pk_…'), NAME_BYTES);

/** A value of a field as errors show it: short, without keys; values of secret fields are hidden. */
export function shown(field: string, value: unknown): string {
  if (value === undefined) return 'nothing';
  if (SECRET.test(field)) return HIDDEN;
  if (typeof value === 'object' && value !== null) return typeShown(value);
  const short = typeof value === 'string' ? value.slice(0, READ_LENGTH) : value;
  const text = JSON.stringify(short).slice(0, READ_LENGTH).replaceAll(KEY, 'pk_…');
  return brief(text.length > 120 ? `${text.slice(0, 120)}…` : text, VALUE_BYTES);
}

/** The type alone: any part of a value with unknown fields may be a secret. */
export function typeShown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

/** The start of the text that takes at most `bytes` in the answer, where a control character takes six. */
function brief(text: string, bytes: number): string {
  if (encodedBytes(text) <= bytes) return text;
  let left = bytes;
  const kept = [...text].findIndex((character) => (left -= encodedBytes(character)) < 0);
  return `${[...text].slice(0, kept).join('')}…`;
}
const encodedBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

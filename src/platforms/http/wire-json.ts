/** Escapes of characters that the stores refuse: NUL, and one half of a surrogate pair. Whole pairs match too, and are kept. */
const ESCAPES = /\\(?:u0000|ud[89ab][\da-f]{2}(?:\\ud[c-f][\da-f]{2})?|ud[c-f][\da-f]{2}|.)/gi;
const PAIR_LENGTH = 12;

/**
 * The value of a platform's JSON text; throws SyntaxError. Each character that PostgreSQL refuses becomes U+FFFD here, so that what is
 * read of a platform can be stored.
 */
export function parseWireJson(text: string): unknown {
  // Only an escape can write such a character: raw control characters are no JSON, and decoding UTF-8 has replaced halves.
  if (!/\\u(?:0000|d[89a-f])/i.test(text)) return JSON.parse(text);
  return JSON.parse(
    text.replace(ESCAPES, (escape) =>
      /^\\u(?:0000|d)/i.test(escape) && escape.length < PAIR_LENGTH ? String.raw`\ufffd` : escape,
    ),
  );
}

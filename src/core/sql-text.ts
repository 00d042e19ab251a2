/** SQL that must not be split: quoted text, here-documents, comments. An unclosed one extends to the end, so hostile text is scanned once. */
const OPAQUE =
  /'(?:[^'\\]|\\[\s\S]|'')*(?:'|\\?$)|"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|`(?:[^`\\]|\\[\s\S])*(?:`|\\?$)|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** The text with literals and comments blanked, positions unchanged: safe to search for keywords, `;` and `{name:Type}`. */
export const bareSql = (text: string): string => text.replace(OPAQUE, (part) => part.replace(/[^\n]/g, ' '));

/** The text without comments and with single blanks: equal for two spellings of one statement. */
export const normalizeSql = (text: string): string =>
  text
    .replace(OPAQUE, (part) => (/^(--|#|\/\*)/.test(part) ? ' ' : part))
    .replace(/\s+/g, ' ')
    .trim();

const FLOATS_ONLY = /\b(corr|covarPop|covarSamp|covar_pop|covar_samp)(?=(?:If|OrNull|OrDefault)*\s*\()/gi;
const STABLE: Record<string, string> = { corr: 'corrStable', covarpop: 'covarPopStable', covarsamp: 'covarSampStable' };

/** The text with the stable forms of corr, covarPop and covarSamp: ClickHouse's plain forms take floats only, these take decimals too. */
export function withStableStatistics(text: string): string {
  let from = 0;
  let stable = '';
  for (const { index, 0: name } of bareSql(text).matchAll(FLOATS_ONLY)) {
    stable += text.slice(from, index) + (STABLE[name.toLowerCase().replace('_', '')] ?? name);
    from = index + name.length;
  }
  return stable + text.slice(from);
}

/** The statements of a text, separated by `;`; those with nothing but comments or blanks are dropped. */
export function splitStatements(text: string): string[] {
  const bare = bareSql(text);
  const statements: string[] = [];
  let start = 0;
  for (let end = bare.indexOf(';'); ; end = bare.indexOf(';', start)) {
    const stop = end < 0 ? bare.length : end;
    if (bare.slice(start, stop).trim() !== '') statements.push(text.slice(start, stop).trim());
    if (end < 0) return statements;
    start = end + 1;
  }
}

/** Precedes the name of a MergeTree engine that is not replicated. */
const PLAIN_MERGE_TREE = /\bENGINE\s*=?\s*(?=\w*MergeTree\b)(?!Replicated)/gi;

/** Makes ENGINE = XMergeTree replicated for a Replicated database, which replicates only tables of Replicated engines. */
export function forDatabaseEngine(statement: string, databaseEngine: string): string {
  if (databaseEngine !== 'Replicated') return statement;
  const ends = [...bareSql(statement).matchAll(PLAIN_MERGE_TREE)].map((match) => match.index + match[0].length);
  return ends.reduceRight((text, end) => `${text.slice(0, end)}Replicated${text.slice(end)}`, statement);
}

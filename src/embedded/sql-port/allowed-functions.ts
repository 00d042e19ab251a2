/** Groups of system.functions whose members compute from their arguments alone. */
const PURE = new Set([
  'Aggregate Functions',
  'Arithmetic',
  'Arrays',
  'Bit',
  'Comparison',
  'Conditional',
  'Dates and Times',
  'Distance',
  'Encoding',
  'Financial',
  'Hash',
  'JSON',
  'Logical',
  'Map',
  'Mathematical',
  'Null',
  'Random Number',
  'Rounding',
  'String',
  'String Replacement',
  'String Search',
  'String Splitting',
  'Time Window',
  'Tuple',
  'Type Conversion',
  'URL',
]);

/** Members of these groups that do more, or whose cost grows with the square of their arguments. */
const REFUSED =
  /^(aggThrow|arrayReduce.*|arrayLevenshtein.*|arraySimilarity|chdb|flameGraph|format|formatRow.*|groupFormat|multiFuzzy.*|naiveBayes.*|nothing.*|sparseGrams.*|.*(levenshtein|editDistance|jaro).*|.*IgnoreSet)$/i;

/** From the other groups: what analysts and dashboards use. Two of them are syntax and not listed by the engine. */
const USEFUL = new Set([
  '_CAST',
  'bar',
  'caseWithExpression',
  'currentDatabase',
  'displayName',
  'exists',
  'formatReadableDecimalSize',
  'formatReadableQuantity',
  'formatReadableSize',
  'formatReadableTimeDelta',
  'grouping',
  'identity',
  'ignore',
  'lambda',
  'materialize',
  'neighbor',
  'revision',
  'rowNumberInAllBlocks',
  'rowNumberInBlock',
  'runningDifference',
  'throwIf',
  'timezone',
  'toTypeName',
  'transform',
  'version',
]);

const COMBINATORS = /(If|Array|Map|Distinct|OrNull|OrDefault|ForEach|ArgMin|ArgMax|Tuple)$/;

/** Table functions that generate their rows. */
export const TABLE_FUNCTIONS: ReadonlySet<string> = new Set([
  'numbers',
  'zeros',
  'values',
  'VALUES',
  'generate_series',
  'generateSeries',
]);

/** Which functions of this engine read only their arguments. */
export class PureFunctions {
  static readonly LIST = 'SELECT name, alias_to, is_aggregate, categories FROM system.functions';
  /** By name, including aliases: true = pure. */
  readonly #scalar = new Map<string, boolean>();
  readonly #aggregate = new Map<string, boolean>();

  /** `listed` has the answer to LIST, tab-separated. */
  constructor(listed: string) {
    const rows = listed
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    const groups = new Map(rows.map(([name = '', , , group = '']) => [name, group]));
    for (const [name = '', alias = '', aggregate] of rows) {
      const real = alias || name;
      const pure = USEFUL.has(real) || (PURE.has(groups.get(real) ?? '') && !REFUSED.test(real));
      (aggregate === '1' ? this.#aggregate : this.#scalar).set(name, pure);
    }
    for (const name of USEFUL) this.#scalar.set(name, true);
  }

  /** Undefined if the engine has no function of this name. */
  isPure(name: string): boolean | undefined {
    const scalar = known(this.#scalar, name);
    if (scalar !== undefined) return scalar;
    for (let base = name; ; base = base.replace(COMBINATORS, '')) {
      const aggregate = known(this.#aggregate, base);
      if (aggregate !== undefined) return aggregate;
      if (!COMBINATORS.test(base)) return undefined;
    }
  }
}

/** Many functions are case-insensitive; an exact match takes precedence. */
const known = (names: ReadonlyMap<string, boolean>, name: string): boolean | undefined =>
  names.get(name) ?? names.get(name.toLowerCase()) ?? names.get(name.toUpperCase());

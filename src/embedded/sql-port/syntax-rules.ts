import { EngineError } from '../clickhouse/errors.ts';
import { TABLE_FUNCTIONS, type PureFunctions } from './allowed-functions.ts';
import type { SyntaxNode } from './explain-ast.ts';

/** Parts of a SELECT that only contain other parts. */
const PLAIN = new Set([
  'ArrayJoin',
  'Asterisk',
  'ColumnsExceptTransformer',
  'ColumnsListMatcher',
  'ColumnsRegexpMatcher',
  'ColumnsReplaceTransformer',
  'ColumnsReplaceTransformer::Replacement',
  'ColumnsTransformerList',
  'ExpressionList',
  'Identifier',
  'InterpolateElement',
  'OrderByElement',
  'QualifiedAsterisk',
  'QualifiedColumnsListMatcher',
  'QualifiedColumnsRegexpMatcher',
  'SampleRatio',
  'SelectIntersectExceptQuery',
  'SelectQuery',
  'SelectWithUnionQuery',
  'Subquery',
  'TableExpression',
  'TableJoin',
  'TablesInSelectQuery',
  'TablesInSelectQueryElement',
  'WindowDefinition',
  'WindowListElement',
  'WithElement',
]);
const EXPLAINS = new Set([
  'EXPLAIN',
  ...['AST', 'SYNTAX', 'QUERY TREE', 'PIPELINE', 'ESTIMATE'].map((w) => `EXPLAIN ${w}`),
]);

/** Where clients look up tables and columns. */
const SYSTEM_TABLES = new Set(['system.tables', 'system.columns', 'system.databases', 'system.one']);
/** Databases of which everyone may read some tables, and the one of files. */
const LISTS = /^(system|information_schema|default)\./i;
const IN = /^(global)?(not)?(null)?in$/i;
const CASTS = /^(_?cast|accurateCast\w*|reinterpret|JSONExtract(CaseInsensitive)?)$/i;

const denied = (text: string) => EngineError.of('ACCESS_DENIED', `${text} is not available on this port.`);

/** Throws unless the statement is one SELECT, EXPLAIN of a SELECT or DESCRIBE with pure functions. Returns its FORMAT. */
export function checkStatement(root: SyntaxNode, functions: PureFunctions): string | undefined {
  const known =
    root.kind === 'SelectWithUnionQuery' ||
    root.kind === 'DescribeQuery' ||
    (root.kind === 'Explain' && EXPLAINS.has(root.name) && root.children[0]?.kind === 'SelectWithUnionQuery');
  const [body, format, ...more] = root.children;
  if (!known || !body || more.length > 0) throw denied('This kind of statement');
  if (format && format.kind !== 'Identifier')
    throw denied(format.kind === 'Set' ? 'SETTINGS in this place' : 'INTO OUTFILE');
  checkNode(body, root, functions);
  requireNoPaths(root);
  return format?.name;
}

/** Two columns of system.databases contain paths of this machine, and `*` includes them. */
function requireNoPaths(root: SyntaxNode): void {
  let asked = false;
  let shown = false;
  const look = ({ kind, name, children }: SyntaxNode): void => {
    if (name === 'system.databases') {
      asked = true;
      // To the right of IN, a table name stands for all of its columns.
      shown ||= kind === 'Identifier';
    }
    shown ||= /Asterisk|Matcher/.test(kind) || (kind === 'Identifier' && /(^|\.)(meta)?data_path$/.test(name));
    for (const child of children) look(child);
  };
  look(root);
  if (asked && shown) throw denied('A path of system.databases (name its columns: name, engine, uuid, comment)');
}

function checkNode(node: SyntaxNode, parent: SyntaxNode, functions: PureFunctions): void {
  if (node.kind === 'Function') checkFunction(node, parent, functions);
  else if (node.kind === 'TableIdentifier') checkTable(node.name);
  else if (node.kind === 'Literal') {
    // The engine barely validates states of aggregate functions: none is accepted from outside.
    if (/AggregateFunction\s*\(/i.test(node.name)) throw denied('A state of an aggregate function');
  } else if (!PLAIN.has(node.kind)) throw denied(node.kind === 'Set' ? 'SETTINGS in this place' : node.kind);
  for (const child of node.children) checkNode(child, node, functions);
}

function checkFunction(node: SyntaxNode, parent: SyntaxNode, functions: PureFunctions): void {
  const { name } = node;
  if (parent.kind === 'TableExpression') {
    if (!TABLE_FUNCTIONS.has(name)) throw denied(`Table function ${name}`);
    const [first] = node.children[0]?.children ?? [];
    // Computed text could name the columns, and types that are rejected as literals.
    if (/^values$/i.test(name) && first && first.kind !== 'Literal' && first.name !== 'tuple')
      throw denied('A computed first argument of values');
    return;
  }
  const pure = functions.isPure(name);
  if (pure === undefined) throw EngineError.of('UNKNOWN_FUNCTION', `Function with name ${name} does not exist`);
  if (!pure) throw denied(`Function ${name}`);
  const [, second] = node.children[0]?.children ?? [];
  // To the right of IN, a name may be a table.
  if (IN.test(name) && second?.kind === 'Identifier') checkTable(second.name);
  if (CASTS.test(name) && second && second.kind !== 'Literal' && !/^JSON/i.test(name))
    throw denied('A computed type name');
}

/** The engine refuses all tables without a grant, except for these. */
function checkTable(name: string): void {
  if (LISTS.test(name) && !SYSTEM_TABLES.has(name)) throw denied(`Table ${name}`);
}

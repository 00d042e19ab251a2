/** One node of a parsed statement. */
export interface SyntaxNode {
  kind: string;
  /** What EXPLAIN AST prints after the kind: name of a function, table or column, text of a literal. */
  name: string;
  children: SyntaxNode[];
}

/**
 * Parses EXPLAIN AST: one node per line, one blank per level, the number of children at the end. Returns null unless every line
 * is where the counts before it require one: names are printed unescaped, line breaks included, so a name can imitate lines
 * but cannot change the counts around it.
 */
export function readSyntax(dump: string): SyntaxNode | null {
  const lines = dump.trimEnd().split('\n');
  let next = 0;
  const read = (depth: number): SyntaxNode | null => {
    const line = lines[next] ?? '';
    if (line.search(/\S/) !== depth) return null;
    next += 1;
    const { kind, name, count } = parts(line.slice(depth));
    const children: SyntaxNode[] = [];
    while (children.length < count) {
      const child = read(depth + 1);
      if (!child) return null;
      children.push(child);
    }
    return { kind, name, children };
  };
  const root = read(0);
  return next === lines.length ? root : null;
}

/** `Kind name (alias a) (children n)`, all but the kind optional. */
function parts(text: string): { kind: string; name: string; count: number } {
  const counted = / ?\(children (\d+)\)$/.exec(text.slice(-30));
  const rest = counted ? text.slice(0, text.length - counted[0].length) : text;
  const [said = ''] = rest.split(' (alias ', 1);
  const blank = said.indexOf(' ');
  const kind = blank < 0 ? said : said.slice(0, blank);
  return { kind, name: said.slice(kind.length).trim(), count: Number(counted?.[1] ?? 0) };
}

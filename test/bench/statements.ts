import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { namedStatements, type QueryParams } from '../../src/stores/clickhouse/named-statements.ts';

interface Statement {
  name: string;
  params: QueryParams;
  startedAt: number;
  endedAt: number;
}

/** A store that notes its named queries, and runs what was noted again with nothing around it. */
export interface StatementRecorder {
  store: ClickHouse;
  /** What was asked since the last call, in order. */
  take(): Statement[];
  /** Runs statements one after another, together those that ran together. */
  replay(statements: readonly Statement[]): Promise<void>;
}

export function recordStatements(store: ClickHouse): StatementRecorder {
  let noted: Statement[] = [];
  const statementOf = namedStatements();
  const run = (name: string, asked: QueryParams, options?: Parameters<ClickHouse['sql']>[2]): Promise<unknown[]> => {
    const { text, params } = statementOf(name, asked);
    return store.sql<unknown>(text, params, options);
  };
  return {
    store: {
      ...store,
      async query(name, row, params = {}, options) {
        const statement = { name, params, startedAt: performance.now(), endedAt: Infinity };
        noted.push(statement);
        const rows = await run(name, params, options);
        statement.endedAt = performance.now();
        return rows.map((raw) => row.parse(raw));
      },
    },
    take() {
      const taken = noted;
      noted = [];
      return taken;
    },
    async replay(statements) {
      for (const together of inGroups(statements)) {
        await Promise.all(together.map(({ name, params }) => run(name, params)));
      }
    },
  };
}

/** Milliseconds in which at least one of the statements was under way. */
export function underWayMs(statements: readonly Statement[]): number {
  let [sum, end] = [0, -Infinity];
  for (const { startedAt, endedAt } of statements.toSorted((a, b) => a.startedAt - b.startedAt)) {
    sum += Math.max(0, endedAt - Math.max(startedAt, end));
    end = Math.max(end, endedAt);
  }
  return sum;
}

/** Statements that were under way at once, group by group. */
function inGroups(statements: readonly Statement[]): Statement[][] {
  const groups: Statement[][] = [];
  let firstEnd = -Infinity;
  for (const statement of statements) {
    const group = groups.at(-1);
    if (group && statement.startedAt < firstEnd) {
      group.push(statement);
      firstEnd = Math.min(firstEnd, statement.endedAt);
    } else {
      groups.push([statement]);
      firstEnd = statement.endedAt;
    }
  }
  return groups;
}

import type { FastifyInstance } from 'fastify';
import { decimalNumber, SIZE_SCALE, USD_SCALE } from '../../core/decimal.ts';
import { badRequest, type FieldIssue } from '../../core/errors.ts';
import { pagination, requestTimeMs } from '../../http/cursors.ts';
import { endpoint } from '../../http/endpoint.ts';
import type { Reach } from '../../matching/gap.ts';
import { gapPage, GapPosition, PAIRED } from '../../queries/matches/gaps.ts';
import { GapsAnswer } from '../../schemas/matches.ts';
import { cursorParam, decimalParam, enumParam, limitParam } from '../../schemas/parameters.ts';
import type { Services } from '../services.ts';
import { matchFilter, matchParams } from './filter.ts';
import { liveRead } from '../../platforms/contract.ts';

/** Parameters that say how far books are walked. */
export const reachParams = {
  size: decimalParam(SIZE_SCALE).optional().describe('Contracts of each outcome; this or amount'),
  amount: decimalParam(USD_SCALE).optional().describe('USD that both legs may cost with their fees; this or size'),
};

/** GET matches/gaps. */
export function matchGapRoutes(app: FastifyInstance, services: Services): void {
  const { config, cursors } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/matches/gaps',
      auth: 'key',
      tag: 'Matches',
      operation: 'listMatchGaps',
      summary: 'What both sides of one question cost on two platforms, by their books and fees',
      description:
        'For identical and complementary pairs of open markets: the outcome of one market and the opposite one of the other, both bought from their live books to a size or an amount, less the taker fees that both platforms publish. The service takes the 500 newest pairs that the filter chooses and reads them page by page, those with the largest edge by stored quotes first. All pages keep the order of the first page, and read their books when they are asked for. A gap is unknown where a book cannot be read, is older than five seconds or offers nothing, or a fee is not known. Each market keeps its own rare cases: reasons of the match name them.',
      query: {
        ...matchParams,
        relation: enumParam(PAIRED).optional().describe('Only pairs of this relation'),
        ...reachParams,
        min_edge: decimalParam(USD_SCALE)
          .optional()
          .describe('Only gaps whose edge is known and at least this, USD a contract'),
        limit: limitParam(5, 10),
        cursor: cursorParam(),
      },
      together: reachIssues,
      answer: GapsAnswer,
      errors: [404, 502, 504],
    },
    async ({ query, caller, reply }) => {
      const reach = reachOf(query);
      const chosen = await matchFilter(services, query, caller.userId);
      const filter = query.relation === undefined ? chosen : { ...chosen, relations: [query.relation] };
      const asked = { user: caller.userId, filter, reach, limit: query.limit };
      const context = liveRead(services, caller.userId);
      const { cursor, limit, ...chosenBy } = query;
      const filters = { ...chosenBy, user: caller.userId };
      const position = cursors.decode('match_gaps', filters, cursor, GapPosition);
      const page = await gapPage(services, asked, position, context);
      const floor = query.min_edge === undefined ? null : decimalNumber(query.min_edge, USD_SCALE);
      const matches = floor === null ? page.gaps : page.gaps.filter(({ edge }) => edge !== null && edge >= floor);
      return {
        matches,
        pagination: pagination(page.total, limit, cursors.encode('match_gaps', filters, page.next)),
        meta: { platforms_queried: [...config.platforms], request_time: requestTimeMs(reply) },
      };
    },
  );
}

interface AskedReach {
  size?: bigint | undefined;
  amount?: bigint | undefined;
}

/** One of both, above 0; null for anything else. */
function oneReach({ size, amount }: AskedReach): Reach | null {
  if (size !== undefined && size > 0n && amount === undefined) return { size };
  return amount !== undefined && amount > 0n && size === undefined ? { amount } : null;
}

export function reachOf(asked: AskedReach): Reach {
  const reach = oneReach(asked);
  if (!reach) throw badRequest(reachIssues(asked));
  return reach;
}

/** What is wrong unless one of both is given, above 0. */
export function reachIssues(asked: AskedReach, failing: ReadonlySet<string> = new Set()): FieldIssue[] {
  const { size, amount } = asked;
  if (failing.has('size') || failing.has('amount') || oneReach(asked)) return [];
  const field = size === undefined && amount !== undefined ? 'amount' : 'size';
  const received = [size, amount].every((one) => one === undefined)
    ? 'neither'
    : size !== undefined && amount !== undefined
      ? 'both'
      : '0';
  return [{ field, expected: 'a number above 0: either size or amount', received }];
}

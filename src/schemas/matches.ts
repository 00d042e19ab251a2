import { z } from 'zod';
import { RELATIONS, VERDICT_BY } from '../core/model.ts';
import {
  MarketAnswer,
  marketIdField,
  META,
  Pagination,
  PlainMeta,
  platformField,
  platformsField,
  requestTimeField,
  timeField,
  timeOrNull,
  titleField,
} from './markets.ts';
import { listMeta } from './events.ts';

/** How one field of the first market relates to that of the second. */
export const FIELD_VERDICTS = [
  'same',
  'differs',
  'narrower',
  'wider',
  'opposite',
  'excludes',
  'missing',
  'one_sided',
] as const;

export const MatchedMarketAnswer = MarketAnswer.pick({
  id: true,
  platform: true,
  platform_id: true,
  title: true,
  outcome_name: true,
  status: true,
  outcomes: true,
  current_prices: true,
  event_id: true,
  event_name: true,
  category: true,
  volume_24h: true,
  trading_end_at: true,
  source_url: true,
}).meta({ id: 'MatchedMarket', description: 'A market of a match, with its latest state' });

export const ReasonAnswer = z
  .object({
    field: z.string().describe('What is compared: a field of the facts, as day, line, window, source or rare_case'),
    a: z.string().describe("Words of the first market, as its platform has them; '' if it says nothing"),
    b: z.string().describe("Words of the second market; '' if it says nothing"),
    verdict: z.enum(FIELD_VERDICTS).describe('How the first relates to the second in this field'),
  })
  .meta({ id: 'MatchReason', description: 'One field of both markets, with the words that a verdict rests on' });

export const DECISIONS = ['confirm', 'refuse'] as const;

const verdictByField = z
  .enum(VERDICT_BY)
  .describe("Whose verdict counts: the caller's own (user), else the operator's, else that of the rules");

const VerdictAnswer = z
  .object({
    by: verdictByField,
    decision: z.enum(DECISIONS).nullable().describe('What the person decided; null by the rules'),
    note: z.string().nullable().describe("The person's note; null without one, and by the rules"),
    given_at: timeOrNull('When the person gave it', 'by the rules'),
    is_on_older_texts: z
      .boolean()
      .describe('true: a text of the pair has changed since the person gave it. It counts all the same'),
  })
  .meta({ id: 'MatchVerdict', description: 'Whose verdict the relation is' });

export const MatchAnswer = z
  .object({
    id: z.string().describe('Id of the pair; it stays while the verdict changes'),
    relation: z
      .enum(RELATIONS)
      .describe(
        'How a relates to b. identical: both pay Yes in the same cases. complement: one pays Yes when the other pays No. subset: if a is Yes, so is b. superset: if b is Yes, so is a. overlap: either can be Yes without the other. disjoint: they cannot both be Yes. unknown: a field is missing, or a person refused the pair',
      ),
    verdict: VerdictAnswer,
    rules_relation: z
      .enum(RELATIONS)
      .nullable()
      .describe(
        "What the rules say; null while they have no verdict on the present texts, which a person's verdict outlives",
      ),
    kind: z.string().describe('Kind of the question: game, price, up_or_down, election and so on'),
    a: MatchedMarketAnswer,
    b: MatchedMarketAnswer,
    mapping: z
      .array(
        z.object({
          a: z.string().describe('Outcome id of a'),
          b: z.string().describe('Outcome id of b that pays with it'),
        }),
      )
      .describe('Outcomes that pay together; [] unless identical or complement'),
    reasons: z
      .array(ReasonAnswer)
      .describe('One for each field that the rules compared; [] where rules_relation is null'),
    rules_version: z.int().describe('Number of the version of the rules'),
    found_at: timeField.describe('When the pair was found'),
    checked_at: timeField.describe('When the rules made their last verdict'),
  })
  .meta({ id: 'MarketMatch', description: 'Two markets of two platforms, how their questions relate, and why' });

export const UnpairedAnswer = MatchedMarketAnswer.pick({
  id: true,
  title: true,
  outcome_name: true,
  status: true,
}).meta({
  id: 'UnpairedMarket',
  description: 'A market of one event that has no partner in the other one',
});

const MatchedEventAnswer = z
  .object({
    platform: platformField,
    event_id: z.string().describe("The platform's id of the event"),
    event_name: z.string().describe('Its title'),
    without_partner: z
      .array(UnpairedAnswer)
      .describe('Its markets that are not over and have no partner, the largest first, at most 100'),
    without_partner_total: z.int().describe('Number of all of these'),
  })
  .meta({ id: 'MatchedEvent', description: 'One event of two that match' });

export const EventMatchAnswer = z
  .object({
    is_whole: z.boolean().describe('true: every market of both events that is not over has a partner'),
    a: MatchedEventAnswer,
    b: MatchedEventAnswer,
    pairs: z
      .array(
        z.object({
          match_id: z.string().describe('Id of the match'),
          relation: z.enum(['identical', 'complement']).describe('How a relates to b'),
          verdict_by: verdictByField,
          a: z.string().describe('Unified id of the market of a'),
          b: z.string().describe('Unified id of the market of b'),
        }),
      )
      .describe('Each market with its one partner; at least two pairs'),
  })
  .meta({ id: 'EventMatch', description: 'Two events of two platforms whose markets match one by one' });

export const MatchesAnswer = z
  .object({
    matches: z.array(MatchAnswer).describe('Newest pairs first'),
    events: z
      .array(EventMatchAnswer)
      .describe(
        'Events whose markets match those of event_id one by one, those with the most pairs first, at most 10; [] without event_id and on later pages',
      ),
    pagination: Pagination,
    meta: listMeta,
  })
  .meta({ id: 'MatchList' });

export const OneMatchAnswer = z.object({ match: MatchAnswer, meta: listMeta }).meta({ id: 'MatchResult' });

export const GivenVerdictAnswer = z.object({ match: MatchAnswer, meta: PlainMeta }).meta({ id: 'GivenMatchVerdict' });

export const TakenVerdictAnswer = z
  .object({
    match: MatchAnswer.nullable().describe('The pair by the verdict that counts now; null without one'),
    meta: PlainMeta,
  })
  .meta({ id: 'TakenMatchVerdict' });

const dollars = (what: string) => z.number().nullable().describe(`${what}, USD; null where the gap is unknown`);

const GapLegAnswer = z
  .object({
    id: z.string().describe('Unified id of the market'),
    platform: platformField,
    platform_id: marketIdField,
    title: titleField,
    outcome: z.string().nullable().describe('Id of the outcome that is bought; null where the gap is unknown'),
    as_of: timeOrNull('The book is not older than this', 'if it could not be read'),
    cost_usd: dollars('Σ price × contracts that stay after fees, over the levels that are taken, rounded half to even'),
    fee_usd: dollars(
      "Σ fee of each level, taken as one fill, as the platform rounds it. Contracts that a platform keeps back count at the level's price",
    ),
  })
  .meta({ id: 'GapLeg', description: 'One market of a gap, bought from its book' });

export const GapAnswer = z
  .object({
    ...MatchAnswer.pick({ id: true, mapping: true, reasons: true, rules_version: true, checked_at: true }).shape,
    match_id: z.string().describe('The same as id'),
    relation: z.enum(['identical', 'complement']).describe('How a relates to b; other relations have no gap'),
    verdict_by: verdictByField,
    a: GapLegAnswer,
    b: GapLegAnswer,
    as_of: timeOrNull('Neither book is older than this', 'if one could not be read'),
    size: z.number().nullable().describe('Contracts of each outcome after fees; null where the gap is unknown'),
    is_whole: z
      .boolean()
      .nullable()
      .describe('false: a book ended before the size or amount was reached; null where the gap is unknown'),
    fees_usd: dollars('Fees of both legs'),
    locked_usd: dollars('Costs and fees of both legs, spent until both markets are settled'),
    locked_until: timeOrNull(
      'The later one of the expected resolutions, else of the ends of trading',
      'if one market states neither',
    ),
    edge_usd: dollars(
      'size − locked_usd: exactly one of both outcomes pays 1 USD a contract. Below zero where it loses',
    ),
    edge: dollars('edge_usd / size: of one contract of each outcome, rounded half to even'),
    unknown_because: z.string().nullable().describe('Why the gap is unknown; null where it is known'),
  })
  .meta({ id: 'MatchGap', description: 'Two outcomes that pay 1 USD together, bought on two platforms' });

export const GapsAnswer = z
  .object({
    matches: z
      .array(GapAnswer)
      .describe('Those first whose stored quotes promised most at the first page; min_edge leaves out some of a page'),
    pagination: Pagination.extend({
      total: Pagination.shape.total.describe('Number of pairs whose books the pages read, at most 500'),
    }).describe('The page of pairs'),
    meta: z.object({ platforms_queried: platformsField, request_time: requestTimeField }).describe(META),
  })
  .meta({ id: 'MatchGapList' });

import type { FastifyInstance, FastifyReply } from 'fastify';
import { storedTextParam, textParam } from '../../core/fields.ts';
import { ApiError, type FieldIssue } from '../../core/errors.ts';
import { matchKey } from '../../core/market-key.ts';
import { STATED_RELATIONS } from '../../core/model.ts';
import { requestTimeMs } from '../../http/cursors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { giveVerdict, MOST_VERDICTS, NOTE_LENGTH, takeVerdictBack } from '../../present/match-verdicts.ts';
import { oneMatch } from '../../queries/matches/pairs.ts';
import { DECISIONS, GivenVerdictAnswer, TakenVerdictAnswer } from '../../schemas/matches.ts';
import { enumParam } from '../../schemas/parameters.ts';
import type { Services } from '../services.ts';
import { matchNotFound } from './not-found.ts';

const meta = (reply: FastifyReply) => ({ request_time: requestTimeMs(reply) });

/** The user's own verdict on a pair: POST and DELETE matches/{id}/verdict. */
export function matchVerdictRoutes(app: FastifyInstance, services: Services): void {
  const { db } = services.postgres;
  const common = {
    url: '/v1/api/matches/:id/verdict',
    auth: 'session',
    tag: 'Matches',
    params: { id: textParam(64).describe('Id of a match') },
  } as const;

  endpoint(
    app,
    {
      ...common,
      method: 'POST',
      operation: 'giveMatchVerdict',
      summary: 'Confirm or refuse a pair',
      description: `The user's verdict counts for this user in place of that of the rules and of the operator, in lists, gaps and the match itself; answers that are cached show it within two seconds. It stays when a text of the pair changes, and is then marked as given on older texts. A refused pair has the relation unknown. A further verdict replaces the first. A user has at most ${MOST_VERDICTS}.`,
      body: {
        decision: enumParam(DECISIONS).describe('confirm with a relation, or refuse'),
        relation: enumParam(STATED_RELATIONS).optional().describe('How a relates to b; with confirm alone'),
        note: storedTextParam(NOTE_LENGTH).optional().describe('Why; only the user sees it'),
      },
      together: ({ decision, relation }, failing) =>
        failing.has('decision') || failing.has('relation') ? [] : contradictionOf(decision, relation),
      answer: GivenVerdictAnswer,
      errors: [409],
    },
    async ({ params, body, caller, reply }) => {
      const key = matchKey(params.id);
      if (key === null) throw matchNotFound(params.id);
      const { relation = 'unknown', note = null } = body;
      const result = await giveVerdict(db, caller.userId, key, { relation, note });
      if (result === 'full')
        throw new ApiError(409, `The user has ${MOST_VERDICTS} verdicts already`, {
          resolution: 'Take one back first: GET /v1/api/matches?verdict_by=user lists them.',
        });
      const found = result === 'given' ? await oneMatch(services, caller.userId, key) : null;
      if (!found) throw matchNotFound(params.id);
      return { match: found.match, meta: meta(reply) };
    },
  );

  endpoint(
    app,
    {
      ...common,
      method: 'DELETE',
      operation: 'takeMatchVerdictBack',
      summary: "Take the user's verdict on a pair back",
      description: 'A repeat changes nothing. `match` is null if no other verdict counts for the pair.',
      answer: TakenVerdictAnswer,
    },
    async ({ params, caller, reply }) => {
      const key = matchKey(params.id);
      if (key === null) throw matchNotFound(params.id);
      await takeVerdictBack(db, caller.userId, key);
      const found = await oneMatch(services, caller.userId, key);
      return { match: found?.match ?? null, meta: meta(reply) };
    },
  );
}

function contradictionOf(decision: string | undefined, relation: string | undefined): FieldIssue[] {
  if (decision === 'confirm' && relation === undefined)
    return [
      { field: 'relation', expected: `one of ${STATED_RELATIONS.join(', ')}, with confirm`, received: 'nothing' },
    ];
  if (decision === 'refuse' && relation !== undefined)
    return [{ field: 'relation', expected: 'nothing, with refuse', received: JSON.stringify(relation) }];
  return [];
}

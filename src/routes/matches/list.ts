import type { FastifyInstance } from 'fastify';
import { textParam } from '../../core/fields.ts';
import { matchKey } from '../../core/market-key.ts';
import { RELATIONS, VERDICT_BY } from '../../core/model.ts';
import { answerStored } from '../../http/cached-answer.ts';
import { pagination } from '../../http/cursors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { matchesOfEvents } from '../../queries/matches/events.ts';
import { matchPage, MatchPosition, oneMatch } from '../../queries/matches/pairs.ts';
import { MatchesAnswer, OneMatchAnswer } from '../../schemas/matches.ts';
import { cursorParam, enumParam, limitParam } from '../../schemas/parameters.ts';
import type { Services } from '../services.ts';
import { matchFilter, matchParams } from './filter.ts';
import { matchNotFound } from './not-found.ts';

/** GET matches, matches/{id}. */
export function matchListRoutes(app: FastifyInstance, services: Services): void {
  const { config, cursors } = services;

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/matches',
      auth: 'key',
      tag: 'Matches',
      operation: 'listMatches',
      summary: 'Pairs of markets on two platforms, and how their questions relate',
      description:
        'Verdicts by fields of both texts, never by likeness, each with the words that it rests on. A verdict that was made on an older text of either market is left out until it is made again. Verdicts of the caller, else of the operator, count in place of those of the rules, and stay when a text changes. With event_id, events of other platforms whose markets match one by one come beside the pairs, with the markets that have no partner. What each relation promises is in docs/matches.md. Pages repeat no match and miss none that existed at the first page.',
      query: {
        ...matchParams,
        relation: enumParam(RELATIONS).optional().describe('Only this relation of a to b'),
        verdict_by: enumParam(VERDICT_BY)
          .optional()
          .describe('Only pairs whose verdict is by: rules, user or operator'),
        limit: limitParam(20, 100),
        cursor: cursorParam(),
      },
      stored: 'rows',
      answer: MatchesAnswer,
      errors: [404, 502, 504],
    },
    (call) => {
      const { query, caller } = call;
      const cache = { owner: caller.userId, from: 'listings', platforms: config.platforms } as const;
      return answerStored(services, call, cache, async () => {
        const { cursor, limit, relation, verdict_by: by, ...chosen } = query;
        const filters = { ...chosen, relation, by, user: caller.userId };
        const position = cursors.decode('matches', filters, cursor, MatchPosition);
        const filter = await matchFilter(services, query, caller.userId);
        const relations = relation === undefined ? [] : [relation];
        const page = await matchPage(services, caller.userId, { ...filter, relations, by }, position, limit);
        const { events: asked = [] } = filter;
        const events = position ? [] : await matchesOfEvents(services, caller.userId, asked);
        const next = cursors.encode('matches', filters, page.next);
        return {
          body: {
            matches: page.matches.map(({ match }) => match),
            events,
            pagination: pagination(page.total, limit, next),
          },
          meta: { platforms_queried: [...config.platforms] },
          rows: 'matches',
        };
      });
    },
  );

  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/matches/:id',
      auth: 'key',
      tag: 'Matches',
      operation: 'getMatch',
      summary: 'One pair of markets by id',
      description: 'As in the list. 404 while no verdict holds for the pair.',
      params: { id: textParam(64).describe('Id of a match') },
      stored: 'whole',
      answer: OneMatchAnswer,
    },
    (call) => {
      const { params, caller } = call;
      const cache = { owner: caller.userId, from: 'listings', platforms: config.platforms } as const;
      return answerStored(services, call, cache, async () => {
        const key = matchKey(params.id);
        const found = key === null ? null : await oneMatch(services, caller.userId, key);
        if (!found) throw matchNotFound(params.id);
        return { body: { match: found.match }, meta: { platforms_queried: [found.a.platform, found.b.platform] } };
      });
    },
  );
}

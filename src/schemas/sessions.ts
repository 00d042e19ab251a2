import { z } from 'zod';
import { Pagination, PlainMeta, timeField, timeOrNull } from './markets.ts';

const Session = z
  .object({
    id: z.string().describe('UUID'),
    current: z.boolean().describe('true: the session of this call'),
    created_at: timeField.describe('When it was created, ISO-8601 UTC with milliseconds'),
    last_used_at: timeOrNull('When it was last used, up to a minute late', 'if never used'),
    expires_at: timeField.describe('When it expires, ISO-8601 UTC with milliseconds'),
    address: z.string().describe('Client address at login'),
    user_agent: z.string().describe("User-Agent at login; '' without one"),
  })
  .meta({ id: 'Session', description: 'An active session' });

export const SessionsAnswer = z.object({ sessions: z.array(Session).describe('Newest first'), meta: PlainMeta });

export const EndedSessionAnswer = z.object({
  id: z.string().describe('Id of the session'),
  ended: z.literal(true).describe('Its cookie is no longer valid'),
  meta: PlainMeta,
});

export const EndedSessionsAnswer = z.object({
  ended: z.int().describe('Number of sessions that ended'),
  meta: PlainMeta,
});

const AccountEvent = z
  .object({
    id: z.int().describe('Number of the event; later ones are larger'),
    at: timeField.describe('When it happened, ISO-8601 UTC with milliseconds'),
    event: z.string().describe('What happened: logged_in, login_failed, key_created …'),
    address: z.string().describe("Address of the client; '' for the operator's commands"),
    detail: z.record(z.string(), z.string().describe('Value')).describe('Details, such as the id of a key'),
  })
  .meta({ id: 'AccountEvent', description: 'An entry of the security log of an account' });

export const AccountEventsAnswer = z.object({
  events: z.array(AccountEvent).describe('Newest first'),
  pagination: Pagination,
  meta: PlainMeta,
});

import { z } from 'zod';
import { SOCKET_ANSWERS, SOCKET_MESSAGES, STREAM_EVENTS } from '../../schemas/stream-events.ts';

type Schemas = Record<string, unknown>;

/** The JSON schema of a payload; named schemas are added to `named`, where references point. */
function jsonSchema(schema: z.ZodType, named: Schemas): object {
  const { $schema: _, ...made } = z.toJSONSchema(schema) as Schemas;
  const { $defs: definitions, ...rest } = JSON.parse(
    JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as Schemas;
  Object.assign(named, definitions);
  return rest;
}
const names = (messages: unknown[][]): string[] => messages.map(([name]) => String(name));
const ref = (path: string) => ({ $ref: `#/${path}` });

/** The AsyncAPI 3.0 description of both streams, from the schemas of their messages. */
export function describeStreams(version: string): object {
  const schemas: Schemas = {};
  const events = Object.entries(STREAM_EVENTS);
  const sent = events.map(([name, schema]) => [name, { name, payload: jsonSchema(schema, schemas) }]);
  const framed = events.map(([name, schema]) => [
    `${name}Frame`,
    {
      name: `${name}Frame`,
      payload: {
        type: 'object',
        properties: {
          sid: { type: 'integer', description: 'The subscription; absent with state' },
          event: { const: name },
          cursor: { type: 'string', description: 'Of durable events' },
          data: jsonSchema(schema, schemas),
        },
        required: ['event', 'data'],
      },
    },
  ]);
  const taken = Object.entries(SOCKET_MESSAGES).map(([name, schema]) => [
    name,
    { name, payload: jsonSchema(schema, schemas) },
  ]);
  const answered = Object.entries(SOCKET_ANSWERS).map(([name, schema]) => [
    name,
    { name, payload: jsonSchema(schema, schemas) },
  ]);
  const messagesOf = (messages: unknown[][]) =>
    Object.fromEntries(names(messages).map((name) => [name, ref(`components/messages/${name}`)]));
  const usedIn = (channel: string, messages: unknown[][]) =>
    names(messages).map((name) => ref(`channels/${channel}/messages/${name}`));
  return {
    asyncapi: '3.0.0',
    info: { title: 'Forecastle streams', version, license: { name: 'Apache-2.0' } },
    defaultContentType: 'application/json',
    channels: {
      stream: {
        address: '/v1/api/stream',
        description: 'Server-sent events; parameters as in openapi.json',
        messages: messagesOf(sent),
      },
      socket: {
        address: '/v1/api/ws',
        description: 'WebSocket',
        messages: messagesOf([...framed, ...answered, ...taken]),
      },
    },
    operations: {
      streamEvents: { action: 'send', channel: ref('channels/stream'), messages: usedIn('stream', sent) },
      sendFrames: {
        action: 'send',
        channel: ref('channels/socket'),
        messages: usedIn('socket', [...framed, ...answered]),
      },
      takeMessages: { action: 'receive', channel: ref('channels/socket'), messages: usedIn('socket', taken) },
    },
    components: { messages: Object.fromEntries([...sent, ...framed, ...answered, ...taken]) as object, schemas },
  };
}

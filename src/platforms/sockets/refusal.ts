import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../core/time.ts';

const MOST_BYTES = 4096;
const WAIT_MS = 2000;

/** Only codes: other text of a platform may repeat what was sent. */
const code = z.string().regex(/^\w{1,60}$/);
const Words = z.object({ code, details: code.optional().catch(undefined) });
const Body = z.union([z.object({ error: Words }).transform(({ error }) => error), Words]);

/** Why an upgrade was rejected, for the operator: the status, with codes from a JSON body if it has any. */
export async function refusalOf(response: IncomingMessage, clock: Clock): Promise<string> {
  const reason = `refused with ${response.statusCode}`;
  const stop = clock.timeout(WAIT_MS, () => response.destroy());
  let text = '';
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      text += chunk.toString();
      if (text.length > MOST_BYTES) break;
    }
    const { code: word, details } = Body.parse(JSON.parse(text));
    return `${reason} (${details === undefined ? word : `${word}, ${details}`})`;
  } catch {
    return reason;
  } finally {
    stop();
  }
}

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';

const MOST_BYTES = 4096;
const WAIT_MS = 2000;

/** Codes alone: other text of a platform may hold what it was sent. */
const code = z.string().regex(/^\w{1,60}$/);
const Words = z.object({ code, details: code.optional().catch(undefined) });
const Body = z.union([z.object({ error: Words }).transform(({ error }) => error), Words]);

/** Why an upgrade was refused, for the operator: the status, with the codes of a JSON body where it has some. */
export async function refusalOf(response: IncomingMessage): Promise<string> {
  const reason = `refused with ${response.statusCode}`;
  const cut = setTimeout(() => response.destroy(), WAIT_MS);
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
    clearTimeout(cut);
  }
}

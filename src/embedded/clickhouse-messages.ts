import { z } from 'zod';

/** From parent to child, once: what to serve and how. */
export const StartMessage = z.object({
  directory: z.string(),
  memoryMb: z.number(),
  port: z.number(),
  user: z.string(),
  password: z.string(),
  database: z.string(),
});
export type StartMessage = z.infer<typeof StartMessage>;

/** From child to parent, once: it serves, or why it cannot. */
export const ChildMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), port: z.number() }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
]);
export type ChildMessage = z.infer<typeof ChildMessage>;

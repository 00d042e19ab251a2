import { z } from 'zod';

/** First message from parent to child: what to serve, and how. */
export const StartMessage = z.object({
  directory: z.string(),
  memoryMb: z.number(),
  port: z.number(),
  user: z.string(),
  password: z.string(),
  database: z.string(),
  /** Folder that BACKUP may write to and RESTORE read from; null = none. */
  backups: z.string().nullable(),
});
export type StartMessage = z.infer<typeof StartMessage>;

/** The read-only SQL port: its address, and the accounts it accepts in addition to API keys. */
export const SqlPortOptions = z.object({
  host: z.string(),
  port: z.number(),
  accounts: z.array(z.object({ user: z.string(), password: z.string() })),
});
export type SqlPortOptions = z.infer<typeof SqlPortOptions>;

/** Later messages from parent to child. */
export const ParentMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('open sql'), sqlPort: SqlPortOptions }),
  // Without `owner` the look-up failed.
  z.object({ kind: z.literal('key owner'), id: z.number(), owner: z.string().nullable().optional() }),
]);
export type ParentMessage = z.infer<typeof ParentMessage>;

/** From child to parent: ready, or the reason of a failure; and questions about API keys, whose owners only the parent knows. */
export const ChildMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), port: z.number() }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
  z.object({ kind: z.literal('sql open'), port: z.number() }),
  z.object({ kind: z.literal('sql failed'), message: z.string() }),
  z.object({ kind: z.literal('whose key'), id: z.number(), key: z.string(), address: z.string() }),
]);
export type ChildMessage = z.infer<typeof ChildMessage>;

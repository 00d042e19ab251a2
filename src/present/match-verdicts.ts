import { sql } from 'drizzle-orm';
import type { Relation } from '../core/model.ts';
import type { Database } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { ownKey } from './rows.ts';

/** Maximum verdicts of one user, and of the operator. */
export const MOST_VERDICTS = 10_000;
/** Characters of a note. */
export const NOTE_LENGTH = 500;

/** A person's verdict on a pair; the relation `unknown` means that they do not match. */
interface StatedVerdict {
  relation: Relation;
  note: string | null;
}

/**
 * Stores a verdict on a pair, with the present texts of both markets. It replaces an earlier one of the same giver: a user, or the
 * operator if `user` is null. `unknown`: there is no such pair; `full`: the giver has MOST_VERDICTS on other pairs.
 */
export async function giveVerdict(
  db: Database,
  user: string | null,
  key: string,
  { relation, note }: StatedVerdict,
): Promise<'given' | 'unknown' | 'full'> {
  return db.transaction(async (tx) => {
    // One change of a giver at a time, so that two together cannot exceed the maximum.
    await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`verdicts ${user ?? ''}`}, 0))`);
    const [counted] = rowsOf(
      await tx.execute(sql`
        SELECT count(*) AS n FROM match_verdicts WHERE user_id IS NOT DISTINCT FROM ${user}::uuid AND match_key <> ${ownKey(key)}::bigint`),
    );
    if (Number(counted?.['n']) >= MOST_VERDICTS) return 'full';
    const given = await tx.execute(sql`
      INSERT INTO match_verdicts (match_key, user_id, relation, note, a_texts, b_texts)
      SELECT m.match_key, ${user}::uuid, ${relation}, ${note}::text, a.texts, b.texts FROM present_matches AS m
      JOIN present_markets AS a ON a.key = m.a_key JOIN present_markets AS b ON b.key = m.b_key
      WHERE m.match_key = ${ownKey(key)}::bigint
      ON CONFLICT (match_key, user_id) DO UPDATE SET relation = excluded.relation, note = excluded.note, a_texts = excluded.a_texts,
        b_texts = excluded.b_texts, given_at = now()
      RETURNING match_key`);
    return rowsOf(given).length === 0 ? 'unknown' : 'given';
  });
}

/** Takes the verdict of a user, or of the operator, back; false if there was none. */
export async function takeVerdictBack(db: Database, user: string | null, key: string): Promise<boolean> {
  const taken = await db.execute(sql`
    DELETE FROM match_verdicts WHERE match_key = ${ownKey(key)}::bigint AND user_id IS NOT DISTINCT FROM ${user}::uuid RETURNING match_key`);
  return rowsOf(taken).length > 0;
}

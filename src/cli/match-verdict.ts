import { recordEvent } from '../accounts/users.ts';
import { ConfigError } from '../core/config-error.ts';
import { matchKey } from '../core/market-key.ts';
import { type Relation, STATED_RELATIONS } from '../core/model.ts';
import { giveVerdict, MOST_VERDICTS, NOTE_LENGTH, takeVerdictBack } from '../present/match-verdicts.ts';
import { besideService } from './beside.ts';
import { runCommand } from './command.ts';

const USAGE = `npm run match-verdict -- ID confirm RELATION [NOTE]   the operator's verdict on a pair of markets: it counts for all users
npm run match-verdict -- ID refuse [NOTE]             says that nothing is known of the pair
npm run match-verdict -- ID forget                    takes the operator's verdict back
ID is that of GET /v1/api/matches, RELATION is ${STATED_RELATIONS.join(', ')}. A user's own verdict counts first for
that user. Works beside a running service, also with embedded stores.`;

/** What the arguments say; null if they are invalid. Without a relation the verdict is taken back. */
function verdictOf([action, ...words]: string[]): { relation?: Relation; note: string | null } | null {
  if (action === 'forget') return words.length === 0 ? { note: null } : null;
  const stated = action === 'confirm' ? STATED_RELATIONS.find((one) => one === words[0]) : undefined;
  const relation = action === 'refuse' ? 'unknown' : stated;
  const [note = null, ...more] = action === 'confirm' ? words.slice(1) : words;
  if (!relation || more.length > 0 || (note !== null && note.length > NOTE_LENGTH)) return null;
  return { relation, note };
}

await runCommand(USAGE, async ([id = '', ...words]) => {
  const [key, verdict] = [matchKey(id), verdictOf(words)];
  if (key === null || verdict === null) throw new ConfigError(USAGE);
  await besideService(async (db) => {
    const { relation, note } = verdict;
    if (relation) {
      const result = await giveVerdict(db, null, key, { relation, note });
      if (result === 'unknown') throw new ConfigError(`ID: must be the id of a match, received ${id}`);
      if (result === 'full')
        throw new ConfigError(`The operator has ${MOST_VERDICTS} verdicts already: forget one first`);
    } else if (!(await takeVerdictBack(db, null, key)))
      throw new ConfigError(`ID: must be the id of a match with a verdict of the operator, received ${id}`);
    await recordEvent(db, 'match_verdict_changed', null, '', { by: 'operator', match: id, change: words.join(' ') });
    process.stdout.write(`${id}: ${words.join(' ')}\n`);
  });
});

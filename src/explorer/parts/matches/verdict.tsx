import type { Answers, Match } from '../answers.ts';
import { send } from '../api.ts';
import { textOf, useAttempt } from '../forms/attempt.ts';
import { Time } from '../show.tsx';
import { SAYS, STATED, turned } from './says.ts';

const WHOSE: Record<Match['verdict']['by'], string> = { rules: 'The rules', user: 'You', operator: 'The operator' };

/** Whose verdict counts, and what the rules say where they say something else. */
export function VerdictBy({ match, isA }: { match: Match; isA: boolean }) {
  const { verdict, rules_relation: byRules } = match;
  if (verdict.by === 'rules') return null;
  return (
    <p class="muted">
      {WHOSE[verdict.by]} {verdict.decision === 'refuse' ? 'refused this pair' : 'confirmed this pair'}{' '}
      {verdict.given_at && <Time at={verdict.given_at} />}
      {verdict.is_on_older_texts && ', before a text changed'}
      {verdict.note !== null && (
        <>
          : <bdi>{verdict.note}</bdi>
        </>
      )}
      {byRules !== match.relation && (
        <> — by the rules: {byRules === null ? 'nothing' : SAYS[turned(byRules, isA)].toLowerCase()}</>
      )}
    </p>
  );
}

interface Given {
  match: Match;
  /** Whether the page's market is the first of the pair. */
  isA: boolean;
  /** Called with the pair as it is now; null where no verdict holds any more. */
  onChange: (match: Match | null) => void;
}

/** Confirms or refuses a pair for the signed-in user, or takes that back. */
export function VerdictForm({ match, isA, onChange }: Given) {
  const { busy, failure, attempt } = useAttempt();
  const address = `/v1/api/matches/${match.id}/verdict`;
  const give = (form: HTMLFormElement, decision: 'confirm' | 'refuse'): Promise<void> =>
    attempt(async () => {
      const note = textOf(form, 'note').trim();
      const stated = STATED.find((relation) => relation === textOf(form, 'relation'));
      const answer = await send<Answers['POST /v1/api/matches/{id}/verdict']>('POST', address, {
        decision,
        ...(decision === 'confirm' && stated ? { relation: turned(stated, isA) } : {}),
        ...(note === '' ? {} : { note }),
      });
      onChange(answer.match);
    });
  const takeBack = (): Promise<void> =>
    attempt(async () => {
      const answer = await send<Answers['DELETE /v1/api/matches/{id}/verdict']>('DELETE', address);
      onChange(answer.match);
    });
  const selected = match.relation === 'unknown' ? 'identical' : turned(match.relation, isA);
  return (
    <form
      class="match-verdict"
      onSubmit={(event) => {
        event.preventDefault();
        const isRefused = (event.submitter as HTMLButtonElement | null)?.value === 'refuse';
        void give(event.currentTarget, isRefused ? 'refuse' : 'confirm');
      }}
    >
      <select name="relation" aria-label="What this market says of the other one">
        {STATED.map((relation) => (
          <option key={relation} value={relation} selected={relation === selected}>
            {SAYS[relation]}
          </option>
        ))}
      </select>
      <input name="note" maxLength={500} placeholder="Note" aria-label="Note" value={match.verdict.note ?? ''} />
      <button type="submit" value="confirm" disabled={busy}>
        Confirm
      </button>
      <button type="submit" value="refuse" disabled={busy}>
        Refuse
      </button>
      {match.verdict.by === 'user' && (
        <button type="button" class="quiet" disabled={busy} onClick={() => void takeBack()}>
          Take back
        </button>
      )}
      {failure && (
        <p class="failed" role="alert">
          {failure.message}. {failure.resolution}
        </p>
      )}
    </form>
  );
}

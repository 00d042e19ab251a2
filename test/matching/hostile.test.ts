import { expect, test } from 'vitest';
import { factsOf, judge } from '../../src/matching/judge.ts';
import { texts } from './pair.ts';

/** Time for one market, with room for a slow machine: a text that made a pattern backtrack would take seconds. */
const LIMIT_MS = 250;

const HOSTILE: readonly (readonly [string, string])[] = [
  ['one letter', 'a'.repeat(5_000)],
  ['spaces', ' '.repeat(5_000)],
  ['versus without end', 'vs '.repeat(1_700)],
  ['numbers', '1,234,567.89 - '.repeat(350)],
  ['digits', '9'.repeat(5_000)],
  ['dates', 'between March 3 and March 4, 2027 '.repeat(150)],
  ['open tags', '<a '.repeat(1_700)],
  ['quotation marks', '"“”'.repeat(1_700)],
  ['blanks of a template', 'above ___ on ___ '.repeat(300)],
  ['right to left', '‮הבחירות בישראל '.repeat(300)],
  ['wide letters and marks', 'Ｗｉｌｌ é̂̃̄ '.repeat(400)],
  ['colons', 'a: b: c, '.repeat(550)],
  ['will win', 'will the the win win '.repeat(250)],
  ['bps', 'cut 25 bps hike 0 bps '.repeat(220)],
  ['nested brackets', `${'('.repeat(2_500)}${')'.repeat(2_500)}`],
  ['look-alike letters', 'Вitсoin аbove '.repeat(350)],
  ['lines of games', 'A vs. B: O/U 2.5 (-1.5) wins by over 3 '.repeat(130)],
  ['stations', 'recorded at the recorded in the '.repeat(160)],
  ['charts', 'top global top us top '.repeat(230)],
  ['thousands of numbers', '1 2 3 4 5 6 7 8 9 10+ '.repeat(220)],
  ['groups without end', 'by...?: ___: by ___?: '.repeat(230)],
];

test.each(HOSTILE)('a text of 5,000 characters takes bounded time: %s', (_, text) => {
  const market = texts({
    title: `Will ${text}`,
    eventTitle: text,
    rules: `If ${text}, then the market resolves to Yes.`,
    outcomeName: text,
    slug: text,
    id: text,
  });
  // The fastest of several runs: a busy machine delays some of them.
  const times = Array.from({ length: 5 }, () => {
    const started = performance.now();
    const facts = factsOf(market);
    judge(facts, facts);
    return performance.now() - started;
  });
  expect(Math.min(...times)).toBeLessThan(LIMIT_MS);
});

test('a time that no market has is unknown', () => {
  const title = 'Will Maria Keller win the 2031 Lyon mayoral election by May 3?';
  for (const endsAtMs of [Number.MAX_SAFE_INTEGER, -1, 8.64e15]) {
    const odd = factsOf({ ...texts({ title }), endsAtMs, startsAtMs: endsAtMs });
    expect(judge(odd, factsOf(texts({ title }))).relation).toBe('identical');
  }
});

test('a name with letters of another script is not the name that it looks like', () => {
  const real = factsOf(texts({ title: 'Will Maria Keller win the 2031 Lyon mayoral election?' }));
  const fake = factsOf(texts({ title: 'Will Mаria Keller win the 2031 Lyon mayoral election?' }));
  expect(real?.kind).toBe('election');
  expect(judge(real, fake).relation).toBe('unknown');
});

const copy = (title: string) => factsOf(texts({ title, copyOf: 'lyon-keller' }));

test('a stated copy is told beside the verdict, and does not make one', () => {
  const original = factsOf(texts({ title: '2031 Lyon Mayoral Election Winner: Maria Keller', slug: 'lyon-keller' }));
  const stated = { field: 'stated_copy', a: 'lyon-keller', b: 'lyon-keller' };
  const right = judge(copy('Will Maria Keller win the 2031 Lyon mayoral election?'), original);
  expect(right.relation).toBe('identical');
  expect(right.reasons).toContainEqual({ ...stated, verdict: 'same' });
  const wrong = judge(copy('Will Paul Renard win the 2031 Lyon mayoral election?'), original);
  expect(wrong.relation).toBe('disjoint');
  expect(wrong.reasons).toContainEqual({ ...stated, verdict: 'differs' });
});

test('a verdict quotes what it rests on, in both markets, in bounded length', () => {
  const long = `This market will resolve to "Yes" if Maria Keller wins the 2031 Lyon mayoral election ${'and so on '.repeat(200)}.`;
  const a = factsOf(texts({ title: 'Will Maria Keller win the 2031 Lyon mayoral election?', rules: long }));
  const b = factsOf(texts({ title: '2031 Lyon Mayoral Election Winner: Maria Keller' }));
  const verdict = judge(a, b);
  expect(verdict).toMatchObject({
    relation: 'identical',
    kind: 'election',
    mapping: [
      [0, 0],
      [1, 1],
    ],
  });
  const claim = verdict.reasons.find(({ field }) => field === 'claim');
  expect(claim).toMatchObject({ b: '2031 Lyon Mayoral Election Winner: Maria Keller', verdict: 'same' });
  expect(claim?.a).toContain('Maria Keller wins');
  expect(Math.max(...verdict.reasons.flatMap(({ a, b }) => [a.length, b.length]))).toBeLessThanOrEqual(240);
});

test('a clause that one market alone has is told, and does not change the verdict', () => {
  const tie =
    'This market will resolve to "Yes" if Maria Keller wins the 2031 Lyon mayoral election. In case of a tie, the name that comes first in alphabetical order wins.';
  const verdict = judge(
    factsOf(texts({ title: 'Will Maria Keller win the 2031 Lyon mayoral election?', rules: tie })),
    factsOf(texts({ title: '2031 Lyon Mayoral Election Winner: Maria Keller' })),
  );
  expect(verdict.relation).toBe('identical');
  expect(verdict.reasons).toContainEqual({
    field: 'rare_case',
    a: expect.stringContaining('tie') as string,
    b: '',
    verdict: 'one_sided',
  });
});

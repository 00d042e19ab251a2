import { dayOf } from '../../core/time.ts';
import { datesIn } from '../dates.ts';
import type { Claim, Facts, Kind, MarketTexts } from '../facts.ts';
import { withStep } from '../range.ts';
import { bagOf, readStatement, type Statement } from '../statement.ts';
import { leagueIn } from '../tables/sports.ts';
import { quote, words } from '../text.ts';

/** Words of a statement that say nothing about what is asked, by kind. */
const EMPTY: Readonly<Record<'election' | 'award', ReadonlySet<string>>> = {
  election: new Set(
    'election party race general us contest candidate representative seat next elections federal bundestag parliamentary win house control midterm midterms 1st held first person place'.split(
      ' ',
    ),
  ),
  award: new Set('award awards ceremony annual s film'.split(' ')),
};

const ELECTION =
  /\b(?:elections?|nominees?|nomination|primary|president(?:ial|cy)?|prime minister|governor(?:ship)?|gubernatorial|senate|mayor(?:al|ship)?|seats|share of the vote|of the vote|popular vote|runoff|secretary.general|chancellor|house seat|ticket|vote share|pope|speaker of the house|next (?:\w+ ){0,3}(?:ceo|coach|manager|chair(?:man)?|commissioner|leader)|(?:win|control) (?:of )?the (?:u\.?s\.? )?house|midterms?)\b/i;
/** Words of awards. */
export const AWARD =
  /\b(?:oscars?|academy awards?|grammys?|emmys?|golden globes?|sag awards?|screen actors guild|baftas?|ballon d'or|nobel|eurovision|best (?:actor|actress|picture|director|song|album)|of the year|pulitzer|booker|mvp|cy young|heisman|rookie of the year)\b/i;
/** A party gets the majority of a chamber of Congress. */
const CHAMBER =
  /\b(?:win|wins|control|controls) (?:of )?the (?:u\.?s\.? )?(house|senate)\b(?! (?:race|seat|election))/i;
/** Questions about several nominees. */
export const MANY = /\bnominated\b|\bnominations for\b|\bnominees\b|\bmost nominations\b/i;

/** How far one gets: what stands higher includes nothing that stands lower. */
const STAGES: readonly (readonly [RegExp, number])[] = [
  [
    /\breach(?:es)? the (?:\w+ ){0,4}finals?\b|\badvances? to (?:the )?(?:\w+ ){0,4}finals?\b|\bmake the (?:\w+ ){0,3}finals?\b|\bmatchup in\b/i,
    90,
  ],
  [/\bsemi-?finals?\b/i, 80],
  [/\bquarter-?finals?\b/i, 70],
  [/\bround of 16\b/i, 60],
  [/\bknockout\b/i, 50],
  [/\bqualif(?:y|ies)\b|\bmake the (?:\w+ ){0,2}playoffs\b|\badvance\b/i, 45],
];
/** Words of stages, which the rank takes. */
export const STAGE_WORDS = new Set(
  'win reach advance make final finals semifinal semifinals quarterfinal quarterfinals knockout stages qualify qualifiers playoffs top3 finish place podium matchup'.split(
    ' ',
  ),
);

/** How far a text says that one gets: 100 is the winner; null if it says nothing. */
export function stageRankOf(text: string): number | null {
  const top = /\btop[ -](\d{1,2})\b/i.exec(text)?.[1] ?? (/\bpodium\b/i.test(text) ? '3' : undefined);
  if (top) return 100 - Number(top) / 100;
  const stage = STAGES.find(([pattern]) => pattern.test(text));
  if (stage) return stage[1];
  if (/\btop (?:\w+ ){0,3}(?:ai model|company)\b/i.test(text)) return 100;
  return /\bwin(?:s|ner)?\b|\bbest\b|\bchampions?\b|\bfirst\b|\b1st\b|\bwon\b/i.test(text) ? 100 : null;
}

/** Words without the empty ones, joined. */
export const wordsWithout = (bag: ReadonlySet<string>, empty: ReadonlySet<string>): string =>
  [...bag].filter((word) => !empty.has(word)).join(' ');

/** The month or deadline that a title names: a second contest of the same words is another one. */
function whenOf(market: MarketTexts, statement: Statement): Facts['topic'] {
  const near = market.endsAtMs === null ? null : dayOf(market.endsAtMs);
  const mentions = datesIn(statement.text, near);
  const long = mentions.find((each) => each.unit === 'month' || each.unit === 'quarter');
  const deadline = /\b(?:by|before|until|through)\b/i.test(statement.text)
    ? mentions.find((each) => each.unit !== 'year')
    : undefined;
  const when = long ?? deadline;
  if (when) return { when: { value: `${when.from} ${when.to}`, quote: quote(statement.text) } };
  const day = mentions.find((each) => each.unit === 'day');
  return day ? { day: { value: day.from, quote: quote(statement.text) } } : {};
}

/** The facts of a contest: its words, its year and day, and who gets what. */
export function contest(
  market: MarketTexts,
  kind: Kind,
  statement: Statement,
  words: string,
  claim: Claim | null,
): Facts | null {
  if (!claim || words === '') return null;
  const { year } = statement;
  const shown = quote(statement.text);
  return {
    kind,
    topic: {
      subject: { value: words, quote: shown },
      ...whenOf(market, statement),
      ...(year ? { [year.isWeak ? 'year_of_end' : 'year']: { value: year.value, quote: quote(year.quote) } } : {}),
    },
    claim: {
      value: claim.type === 'range' ? (statement.range?.quote ?? '') : (statement.name ?? ''),
      quote: quote(statement.rule || shown),
      of: claim,
    },
    window: null,
    source: null,
    tails: tailsOf(market),
  };
}

const TAIL =
  /\b(?:tie|ties|tied|postponed|cancell?ed|no winner|if no|replacement|isn't known|not known|alphabetical)\b/i;

/** The sentences about rare cases: at most three. */
function tailsOf(market: MarketTexts): Facts['tails'] {
  return market.rules
    .slice(0, 3000)
    .split(/(?<=[.!?]) /)
    .filter((each) => TAIL.test(each))
    .slice(0, 3)
    .map((each) => ({ value: 'rare case', quote: quote(each) }));
}

const OFFICES: ReadonlySet<string> = new Set(['senate', 'governor', 'mayor', 'president']);

/** Elections and nominations: who wins which office at which stage, or a share of the vote. */
export function electionFacts(market: MarketTexts): Facts | null {
  const heading = `${market.title} ${market.eventTitle}`;
  if (!ELECTION.test(heading) || AWARD.test(heading)) return null;
  const statement = readStatement(market);
  const words = [...statement.bag].filter((word) => !EMPTY.election.has(word));
  const isTicket = /\bticket\b/i.test(heading);
  if (
    /\b(?:nominates?|announced|confirmed|approval|turnout|how many|out as|announces?|endorse|debate|poll|visit|meet|coalition|part of|when will|margin|by how)\b/i.test(
      heading,
    )
  )
    return null;
  const isShare = /\bof the vote\b|\bvote share\b/i.test(heading);
  if (isShare && statement.range) {
    const name = statement.name ?? '';
    const all = new Set(
      [...words, ...bagOf(name)].filter((word) => !/^(?:vote|share|win|get|receive|percentage)$/.test(word)),
    );
    if (name === '' && !/\b[A-Z][A-Za-z]{0,6}[A-Z]\b/.test(statement.text)) return null;
    return contest(market, 'election', statement, `share ${[...all].toSorted().join(' ')}`, {
      type: 'range',
      range: withStep(statement.range.range, 0),
    });
  }
  const name = statement.name;
  if (name === null || isTicket || MANY.test(heading) || statement.range) return null;
  const isAny = /^any(?:one|body)?\b/i.test(name);
  // "Win the Republican primary": of the office that the event or the rules name.
  const isNominee = /\bnominee|\bnomination|\bprimary\b/i.test(heading);
  const office =
    !isNominee || words.some((word) => OFFICES.has(word))
      ? []
      : [...bagOf(`${market.eventTitle} ${statement.rule}`)].filter((word) => OFFICES.has(word)).slice(0, 1);
  const marks = [
    isNominee ? 'nominee' : '',
    /\bfirst round\b|\b1st round\b/i.test(heading) ? 'round1' : '',
    // Who wins in the first round has won the election.
    /\bin the (?:first|1st) round\b/i.test(heading) ? 'outright' : '',
    /\bsecond place\b|\bsecond most\b|\b2nd\b/i.test(heading) ? 'second' : '',
    /\bmost (?:\w+ ){0,2}seats\b/i.test(`${heading} ${statement.rule}`) ? 'seats' : '',
    CHAMBER.exec(heading)?.[1]?.toLowerCase() ?? '',
    tenureOf(market, heading),
    /\badvance\b|\brunoff\b/i.test(heading) ? 'advance' : '',
    ...(isAny ? [...bagOf(name.replace(/^any(?:one|body)?/i, 'any'))].filter((word) => !EMPTY.election.has(word)) : []),
  ];
  if (/\bdefeat|\bbeat\b/i.test(statement.text)) return null;
  const bag = new Set(
    [...words, ...office, ...marks].filter(
      (word) =>
        word !== '' &&
        !/^(?:presidential|legislative|control)$/.test(word) &&
        !(marks.includes('seats') && word === 'most'),
    ),
  );
  // The next holder of an office is one person, until when a market may ever run.
  const isNext = /\bnext\b/i.test(heading) && !/\belection\b|\b20\d\d\b/i.test(heading);
  return contest(
    market,
    'election',
    isNext ? { ...statement, year: null } : statement,
    [...bag].toSorted().join(' '),
    isAny ? { type: 'act' } : { type: 'choice', name },
  );
}

/** Whether the next holder of an office is the very next one, or the one that an election brings: the rules say. */
function tenureOf({ rules }: MarketTexts, heading: string): string {
  if (!/\bnext\b/i.test(heading) || /\belection\b/i.test(heading)) return '';
  if (/\b(?:after|following|result of) the (?:\w+[ -]){0,6}elections?\b/i.test(rules)) return 'afterelection';
  return /\b(?:interim|caretaker|acting)\b/i.test(rules) ? 'interimrule' : '';
}

/** A ceremony has a year beside its number. */
const ORDINAL = /^\d{1,3}(?:st|nd|rd|th)$/;

const BODY =
  /\b(TIME|[Gg]ame [Aa]wards|BAFTA|[Gg]olden [Jj]oystick|D\.?I\.?C\.?E|FIFA|UEFA|ESPYs?|CMA|ACM|Billboard|NAACP)\b/;

/** Awards: who gets which prize of which ceremony. */
export function awardFacts(market: MarketTexts): Facts | null {
  const heading = `${market.title} ${market.eventTitle}`;
  if (!AWARD.test(heading) || MANY.test(heading)) return null;
  const statement = readStatement(market);
  if (statement.name === null || statement.range) return null;
  // "2027 Award: Name" asks who wins it.
  const isGroup = statement.text.endsWith(`: ${statement.name}`);
  const rank =
    stageRankOf(statement.text) ??
    (isGroup || /\bof the year\b/i.test(statement.text) || /\bwin|won\b/i.test(statement.rule) ? 100 : null);
  if (rank === null) return null;
  // The rules name the category where the title's one is another.
  const ruled = awardIn(statement.rule);
  const bag = new Set([...statement.bag].filter((word) => word !== 'win' && !STAGE_WORDS.has(word)));
  if (ruled && !bag.has(ruled)) for (const each of ROLES) bag.delete(each);
  if (ruled) bag.add(ruled);
  // "2026-27 MVP" is of the league that its ticker or rule names.
  const { league } = leagueIn(words(`${market.id.split('-')[0]} ${heading} ${statement.rule}`).join(' '));
  if (league) bag.add(league);
  // Several bodies name something of the year.
  const body = BODY.exec(`${heading} ${statement.rule}`)?.[1]?.toLowerCase();
  if (body !== undefined) bag.add(`by ${body}`);
  const name = statement.name.replace(/ for ".{1,80}"$/, '');
  // The work for which somebody is named is not another prize.
  const work = bagOf(/ for "(.{1,80}?)"/.exec(statement.text)?.[1] ?? '');
  const own = [...bag].filter((word) => !ORDINAL.test(word) && !work.has(word)).toSorted();
  const about = wordsWithout(new Set(own), EMPTY.award);
  const claim: Claim = rank === 100 ? { type: 'choice', name } : { type: 'stage', name, rank };
  return contest(market, 'award', statement, about, claim);
}

const ROLES = ['leadactor', 'leadactress', 'supactor', 'supactress'];
const ROLE_WORDS: readonly (readonly [RegExp, string])[] = [
  [/female actor in a leading role|best (?:leading )?actress|actress in a leading role/i, 'leadactress'],
  [/\bmale actor in a leading role|best (?:leading )?actor\b|actor in a leading role/i, 'leadactor'],
  [/female actor in a supporting role|supporting actress|actress in a supporting role/i, 'supactress'],
  [/\bmale actor in a supporting role|supporting actor\b|actor in a supporting role/i, 'supactor'],
];
const awardIn = (rule: string): string | null => ROLE_WORDS.find(([pattern]) => pattern.test(rule))?.[1] ?? null;

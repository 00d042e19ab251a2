import type { Catalog } from './catalog.ts';
import type { SimEvent, SimMarket } from './model.ts';
import { archived, fineTicks, halted, legacyRows, oddResolutions, protocolV2, thinBooks } from './odd-scenes.ts';
import { CRYPTO_FEE, GENERAL_FEE, NO, POLITICS_FEE, settled, SPORTS_FEE, YES, type Stage } from './stage.ts';
import { DAY, HOUR, MINUTE, price } from './units.ts';

/**
 * The cast of a world: one scene per kind of market the platform is known to list (about 57 markets), then ordinary ones.
 * A scene is never cut: a small world has a few markets more than asked for.
 */
export function stageScenes(stage: Stage, count: number): void {
  const scenes = [
    standalone,
    election,
    deadlines,
    settledYesAndNo,
    game,
    finishedGame,
    upDown,
    oddResolutions,
    halted,
    thinBooks,
    protocolV2,
    legacyRows,
    archived,
    esports,
    weather,
    fineTicks,
  ];
  for (const scene of scenes) if (stage.catalog.markets.length < count) scene(stage);
  for (let n = 0; stage.catalog.markets.length < count; n++) ordinary(stage, n, count - stage.catalog.markets.length);
}

function standalone({ catalog }: Stage): void {
  const tags = [catalog.tag('Culture'), catalog.tag('Music')];
  const event = catalog.addEvent({ title: 'New Aurora Finch album before winter?', tags });
  catalog.addMarket(event, { question: 'New Aurora Finch album before winter?', fee: GENERAL_FEE, mid: '0.505' });
}

/** Named candidates, two unnamed placeholders and Other; tags as they come, the promotional one included. */
function election({ catalog, nowMs }: Stage): void {
  const event = catalog.addEvent({
    title: 'Northland Presidential Election Winner',
    negRisk: true,
    negRiskAugmented: true,
    endMs: nowMs + 700 * DAY,
    tags: [
      catalog.tag('Politics', { forceShow: false, forceHide: true }),
      catalog.tag('Elections', { forceShow: false, forceHide: true }),
      catalog.tag('Earn 4%', { forceShow: false }),
      catalog.tag('Northland', { forceShow: true }),
    ],
  });
  for (const [i, name] of ['Ada Thornbury', 'Piotr Sallow', 'Maya Okonjo', 'Elias Brandt'].entries()) {
    catalog.addMarket(event, {
      question: `Will ${name} win the Northland presidential election?`,
      groupItemTitle: name,
      tick: price('0.001'),
      fee: POLITICS_FEE,
      mid: ['0.41', '0.33', '0.12', '0.0105'][i],
    });
  }
  for (const letter of ['A', 'B']) {
    catalog.addMarket(event, {
      question: `Will Person ${letter} win the Northland presidential election?`,
      groupItemTitle: `Person ${letter}`,
      tick: price('0.001'),
      state: 'unopened',
      acceptingFromMs: null,
    });
  }
  catalog.addMarket(event, {
    question: 'Will any other person win the Northland presidential election?',
    groupItemTitle: 'Other',
    negRiskOther: true,
    tick: price('0.001'),
    mid: '0.05',
  });
}

/** An open event with a market that is settled already. */
function deadlines({ catalog, nowMs }: Stage): void {
  const tags = [catalog.tag('Geopolitics', { forceShow: false }), catalog.tag('World')];
  const event = catalog.addEvent({ title: 'Strait of Merrow reopened by...?', tags });
  catalog.addMarket(event, {
    question: 'Strait of Merrow reopened by the end of last month?',
    groupItemTitle: 'Last month',
    ...settled(nowMs, 320, NO),
  });
  catalog.addMarket(event, {
    question: 'Strait of Merrow reopened by the end of this quarter?',
    groupItemTitle: 'This quarter',
    mid: '0.22',
  });
  catalog.addMarket(event, {
    question: 'Strait of Merrow reopened by the end of the year?',
    groupItemTitle: 'This year',
    mid: '0.48',
  });
}

function settledYesAndNo({ catalog, nowMs }: Stage): void {
  const tags = [catalog.tag('Economy', { forceShow: false }), catalog.tag('Fed')];
  const event = catalog.addEvent({ title: 'Central bank decision last month', tags, endMs: nowMs - 90 * HOUR });
  catalog.addMarket(event, {
    question: 'Rates unchanged last month?',
    groupItemTitle: 'No change',
    fee: GENERAL_FEE,
    ...settled(nowMs, 90, YES),
  });
  catalog.addMarket(event, {
    question: 'Rates cut by 25 bps last month?',
    groupItemTitle: '25 bps',
    fee: GENERAL_FEE,
    ...settled(nowMs, 90, NO),
  });
  catalog.addMarket(event, {
    question: 'Rates cut by 50 bps last month?',
    groupItemTitle: '50 bps',
    fee: GENERAL_FEE,
    ...settled(nowMs, 89, NO),
  });
}

/** Team names for outcomes, a spread and a total; marketable orders wait three seconds. */
function game({ catalog, nowMs }: Stage): void {
  const startMs = nowMs + 5 * HOUR;
  const event = gameEvent(catalog, 'Harbor Gulls vs. Canyon Foxes', startMs);
  const common = { gameStartMs: startMs, eventStartMs: startMs, endMs: startMs + 7 * DAY, fee: SPORTS_FEE };
  catalog.addMarket(event, {
    question: 'Gulls vs. Foxes',
    outcomes: ['Gulls', 'Foxes'],
    sportsMarketType: 'moneyline',
    secondsDelay: 3,
    ...common,
  });
  catalog.addMarket(event, {
    question: 'Spread: Gulls (-3.5)',
    outcomes: ['Gulls', 'Foxes'],
    sportsMarketType: 'spreads',
    line: '-3.5',
    ...common,
  });
  catalog.addMarket(event, {
    question: 'Gulls vs. Foxes: O/U 224.5',
    outcomes: ['Over', 'Under'],
    sportsMarketType: 'totals',
    line: '224.5',
    ...common,
  });
}

function finishedGame({ catalog, nowMs }: Stage): void {
  const startMs = nowMs - 20 * HOUR;
  const event = gameEvent(catalog, 'Summit Owls vs. Delta Herons', startMs);
  catalog.addMarket(event, {
    question: 'Owls vs. Herons',
    outcomes: ['Owls', 'Herons'],
    sportsMarketType: 'moneyline',
    gameStartMs: startMs,
    eventStartMs: startMs,
    fee: SPORTS_FEE,
    secondsDelay: 3,
    ...settled(nowMs, 17, NO),
  });
}

function gameEvent(catalog: Catalog, title: string, startMs: number): SimEvent {
  const series = catalog.seriesOf('coastal-basketball', 'Coastal Basketball League', 'daily');
  const tags = [
    catalog.tag('Sports', { forceShow: false, forceHide: true }),
    catalog.tag('Basketball'),
    catalog.tag('Games'),
  ];
  return catalog.addEvent({
    title,
    tags,
    series,
    endMs: startMs + 7 * DAY,
    startTimeMs: startMs,
    createdMs: startMs - 6 * DAY,
    gameId: 1_400_000 + catalog.events.length,
    teams: title.split(' vs. '),
    resolutionSource: 'https://league.example.org/',
    sport: { id: 34, sport: 'cbl', name: 'CBL', tags: tags.map((tag) => tag.id).join(','), series: series.id },
  });
}

/** A five-minute window: the running one, one waiting for its result, one settled. */
function upDown(stage: Stage): void {
  const window = 5 * MINUTE;
  const startMs = Math.floor(stage.nowMs / window) * window;
  const before = (windows: number): SimMarket =>
    addUpDown(stage.catalog, startMs - windows * window, startMs - windows * window - DAY);
  const settledMs = startMs - window;
  Object.assign(before(2), {
    state: 'resolved',
    closedMs: settledMs,
    resolvedMs: settledMs,
    payouts: YES,
    uma: ['resolved'],
  });
  Object.assign(before(1), { state: 'closed', closedMs: startMs, uma: ['proposed'] });
  before(0);
}

/** An Up/Down market on the window starting at `startMs`; trades until the window ends. */
export function addUpDown(catalog: Catalog, startMs: number, createdMs: number): SimMarket {
  const hour = new Date(startMs).toISOString().slice(5, 16).replace('T', ' ');
  const title = `Bitcoin Up or Down - ${hour} UTC`;
  const endMs = startMs + 5 * MINUTE;
  const event = catalog.addEvent({
    title,
    slug: `btc-updown-5m-${startMs / 1000}`,
    series: catalog.seriesOf('btc-up-or-down-5m', 'BTC Up or Down 5m', '5m'),
    tags: [
      catalog.tag('Bitcoin', { forceShow: true }),
      catalog.tag('Crypto', { forceShow: false }),
      catalog.tag('Recurring', { forceShow: false }),
      catalog.tag('Hide From New', { forceShow: false }),
    ],
    createdMs,
    endMs,
    startTimeMs: startMs,
    resolutionSource: 'https://prices.example.org/streams/btc-usd',
  });
  return catalog.addMarket(event, {
    question: title,
    slug: event.slug,
    outcomes: ['Up', 'Down'],
    endMs,
    eventStartMs: startMs,
    fee: CRYPTO_FEE,
    takerDelay: true,
    createdMs,
    acceptingFromMs: createdMs + MINUTE,
    mid: '0.505',
    autoClose: true,
  });
}

function esports({ catalog, nowMs }: Stage): void {
  const startMs = nowMs + 2 * HOUR;
  const tags = [catalog.tag('Sports', { forceShow: false, forceHide: true }), catalog.tag('Esports')];
  const event = catalog.addEvent({
    title: 'Counter Circuit: NullPtr vs Café Noir',
    tags,
    startTimeMs: startMs,
    endMs: startMs + DAY,
  });
  catalog.addMarket(event, {
    question: 'NullPtr vs Café Noir (BO3)',
    outcomes: ['NullPtr', 'Café Noir'],
    tick: price('0.0025'),
    gameStartMs: startMs,
    fee: SPORTS_FEE,
    sportsMarketType: 'moneyline',
    secondsDelay: 1,
  });
}

function weather({ catalog, nowMs }: Stage): void {
  const tags = [catalog.tag('Weather'), catalog.tag('Daily Temperature')];
  const event = catalog.addEvent({
    title: 'Highest temperature in Port Ilan tomorrow?',
    tags,
    negRisk: true,
    endMs: nowMs + 36 * HOUR,
  });
  for (const band of ['19°C or below', '20°C', '21°C', '22°C or above']) {
    catalog.addMarket(event, {
      question: `Will the highest temperature in Port Ilan be ${band} tomorrow?`,
      groupItemTitle: band,
      tick: price('0.001'),
      fee: GENERAL_FEE,
    });
  }
}

const TOPICS = [
  ['Crypto', 'Crypto Prices', 'Ether', 'above', 2000, 250],
  ['Economy', 'Inflation', 'annual inflation', 'above', 2, 1],
  ['Sports', 'Football', 'goals of the Mariners', 'over', 10, 4],
  ['Politics', 'Congress', 'bills passed this session', 'over', 20, 15],
  ['Culture', 'Movies', 'opening weekend of Glass Meadow (in millions)', 'over', 30, 10],
  ['Tech', 'AI', 'top benchmark score', 'above', 60, 5],
  ['Weather', 'Rain', 'rainfall in Port Ilan (mm)', 'over', 15, 10],
  ['Finance', 'Earnings', 'Halcyon revenue (in billions)', 'above', 12, 2],
] as const;

/** One to five strikes on one number; one event in six is settled. */
function ordinary({ catalog, rng, nowMs }: Stage, n: number, atMost: number): void {
  const [category, tag, what, word, from, step] = TOPICS[n % TOPICS.length] ?? TOPICS[0];
  const period = `week ${1 + Math.floor(n / TOPICS.length)}`;
  const event = catalog.addEvent({
    title: `${what[0]?.toUpperCase()}${what.slice(1)} in ${period}?`,
    tags: [catalog.tag(category), catalog.tag(tag)],
  });
  const over = n % 6 === 5 ? rng.int(30, 600) : null;
  const strikes = Math.min(atMost, rng.int(1, 5));
  const reached = rng.int(0, strikes);
  for (let i = 0; i < strikes; i++) {
    const strike = String(from + i * step);
    catalog.addMarket(event, {
      question: `Will ${what} be ${word} ${strike} in ${period}?`,
      groupItemTitle: strike,
      tick: price(rng.chance(0.3) ? '0.001' : '0.01'),
      fee: rng.chance(0.6) ? (category === 'Crypto' ? CRYPTO_FEE : GENERAL_FEE) : null,
      ...(over === null ? {} : settled(nowMs, over, i < reached ? YES : NO)),
    });
  }
}

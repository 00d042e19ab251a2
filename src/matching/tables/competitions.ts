import { words } from '../text.ts';

/**
 * Phrases for one competition, office or award: `token|phrase|phrase…`, one a line, longest phrases first within a set where one
 * contains another. A statement's phrases become the token, so that markets in different words have the same words. Add a line.
 */
const PHRASES = `nbawest|nba western conference finals|nba western conference champion|nba western conference|pro basketball western conference|western conference finals
  nbaeast|nba eastern conference finals|nba eastern conference champion|nba eastern conference|pro basketball eastern conference|eastern conference finals
  nbatitle|pro basketball finals|pro basketball championship|pro basketball champion|nba finals champion|nba finals|nba championship|nba champion|nba title
  nhltitle|pro hockey championship|pro hockey champion|nhl stanley cup finals|nhl stanley cup|stanley cup finals|stanley cup champion|stanley cup|nhl championship
  nfltitle|pro football championship|pro football champion|nfl championship|super bowl champion|super bowl
  mlbtitle|pro baseball championship|pro baseball champion|world series champion|world series|mlb championship
  nflafc|afc championship|afc champion|afc title
  nflnfc|nfc championship|nfc champion|nfc title
  nba|pro basketball
  nhl|pro hockey
  nfl|pro football
  mlb|pro baseball
  mlbal|american league champion|american league pennant|american league|al pennant|al champion
  mlbnl|national league champion|national league pennant|national league|nl pennant|nl champion
  wnbatitle|wnba finals|wnba championship|wnba champion|pro women s basketball championship|women s pro basketball finals
  ncaam|men s college basketball d1 championship|ncaa men s basketball tournament|men s march madness|men s college basketball championship|march madness|ncaa tournament|ncaa tournament champion|college basketball national championship
  ncaaw|women s college basketball d1 championship|ncaa women s basketball tournament|women s march madness|women s college basketball championship|ncaa women s tournament
  ncaaf|college football playoff national championship|college football national championship|cfp national championship|college football playoff champion|college football championship
  ucl|uefa champions league|champions league
  uel|uefa europa league|europa league
  uecl|uefa conference league|europa conference league|conference league
  epl|english premier league|premier league|epl
  laliga|la liga|laliga|spanish la liga
  seriea|italian serie a|serie a
  bundesliga|german bundesliga|bundesliga
  ligue1|french ligue 1|ligue 1
  worldcup|fifa world cup|world cup
  euro|uefa euro|european championship
  copa|copa america
  f1drivers|f1 drivers championship|formula 1 drivers championship|f1 drivers champion|f1 world drivers championship|f1 drivers
  f1constructors|f1 constructors championship|formula 1 constructors championship|f1 constructors champion|f1 constructors
  usopen|u s open championship|us open championship|u s open|us open
  theopen|the open championship|open championship|british open|the open
  frenchopen|french open|roland garros
  largestcompany|largest company in the world by market cap|largest company by market cap|largest company in the world|largest company
  dhssecretary|secretary of homeland security|homeland security secretary|dhs secretary
  hhssecretary|secretary of health and human services|health and human services secretary|hhs secretary
  defensesecretary|secretary of defense|defense secretary|secretary of war|war secretary
  treasurysecretary|secretary of the treasury|secretary of treasury|treasury secretary
  fbidirector|director of the fbi|director of fbi|fbi director
  masters|the masters tournament|masters tournament|the masters
  oscar|academy awards|academy award|the oscars|oscars
  grammy|grammy awards|grammy award|grammys|the grammys
  emmy|primetime emmy awards|emmy awards|emmy award|emmys
  globes|golden globe awards|golden globe award|golden globes|golden globe
  sag|screen actors guild awards|screen actors guild award|sag awards|sag award
  bafta|bafta film awards|bafta awards|bafta award|baftas
  leadactress|female actor in a leading role|best leading actress|best actress
  leadactor|male actor in a leading role|best leading actor|best actor
  supactress|female actor in a supporting role|best supporting actress|supporting actress
  supactor|male actor in a supporting role|best supporting actor|supporting actor
  bestpicture|best picture|best motion picture
  albumyear|album of the year
  songyear|song of the year
  recordyear|record of the year
  secgen|secretary general of the united nations|secretary general of un|secretary general of the un|un secretary general|united nations secretary general
  nyc|new york city
  mayor|mayorship|mayoral|mayoralty
  governor|governorship|gubernatorial
  president|us presidential|presidency|presidential
  senate|senatorial
  nominee|wins the nomination|nomination|primary winner|primary election|primary
  win|be elected|finish first|come first|finish in first place|finish 1st|be the winner|winner|wins|won|win|champion|be the champion
  top3|top 3|podium
  round1|first round|1st round
  runoff|second round|2nd round|run off|runoff
  house|house of representatives|house seat
  outas|leave office as|leaves office as|leave his position as|leave her position as|leave their position as|cease to be|ceases to be|out as|leave office
  release|release a new|releases a new|release new|releases new
  government|federal government
  tweets|posts|post|tweet|tweets
  topscorer|top goal scorer|top goalscorer|top scorer|golden boot
  btc|bitcoin
  eth|ethereum|ether
  sol|solana
  xrp|ripple
  doge|dogecoin
  ath|all time high
  hottest|hottest on record|hottest ever|warmest on record|hottest`;

const PLACES = `argentina|argentine|argentinian
  australia|australian
  austria|austrian
  belgium|belgian
  bolivia|bolivian
  brazil|brazilian
  canada|canadian
  chile|chilean
  china|chinese
  colombia|colombian
  czechia|czech
  denmark|danish
  ecuador|ecuadorian
  france|french
  germany|german
  greece|greek
  honduras|honduran
  hungary|hungarian
  india|indian
  ireland|irish
  israel|israeli
  italy|italian
  japan|japanese
  mexico|mexican
  netherlands|dutch
  norway|norwegian
  peru|peruvian
  philippines|filipino|philippine
  poland|polish
  portugal|portuguese
  romania|romanian
  russia|russian
  slovenia|slovenian
  southkorea|south korean|south korea|korean
  spain|spanish
  sweden|swedish
  switzerland|swiss
  turkey|turkish|turkiye
  ukraine|ukrainian
  uk|united kingdom|british|u k
  us|united states|american|u s|usa
  venezuela|venezuelan
  democratic|democrats|democrat|democratics|democratic party
  republican|republicans|republican party|gop
  euroarea|euro area|eurozone|euro zone
  fed|federal reserve|us federal reserve`;

interface Phrase {
  words: readonly string[];
  token: string;
}

/** Phrases by their first word, the longest first. */
const BY_FIRST_WORD = new Map<string, Phrase[]>();
for (const line of `${PHRASES}\n${PLACES}`.split('\n')) {
  const [token = '', ...phrases] = line.trim().split('|');
  for (const each of phrases) {
    const words = each.split(' ');
    const first = words[0] ?? '';
    BY_FIRST_WORD.set(first, [...(BY_FIRST_WORD.get(first) ?? []), { words, token }]);
  }
}
for (const phrases of BY_FIRST_WORD.values()) phrases.sort((a, b) => b.words.length - a.words.length);

const COUNTRIES = new Set(
  PLACES.split('\n')
    .map((line) => line.trim().split('|')[0] ?? '')
    .filter((token) => !/^(?:democratic|republican|fed)$/.test(token)),
);

/** The first country that a text names, as its token; null if it names none. */
export const placeIn = (text: string): string | null =>
  withTokens(words(text)).find((word) => COUNTRIES.has(word)) ?? null;

/** Folded words with each phrase of the tables as its token. */
export function withTokens(words: readonly string[]): string[] {
  const found: string[] = [];
  for (let at = 0; at < words.length;) {
    const phrase = BY_FIRST_WORD.get(words[at] ?? '')?.find((each) =>
      each.words.every((word, n) => words[at + n] === word),
    );
    found.push(phrase?.token ?? words[at] ?? '');
    at += phrase?.words.length ?? 1;
  }
  return found;
}

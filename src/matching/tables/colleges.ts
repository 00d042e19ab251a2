/**
 * Colleges with several names, `name|others`, one a line: the first one is used, as one word, which begins no other name. "St." at the
 * end of a name is "State" without a line. Add a line.
 */
const COLLEGES = `connecticut|uconn
  mississippi|ole miss
  southern california|usc
  miami ohio|miami oh
  miami|miami fl|miami florida
  north carolina state|nc state|n c state
  charlotte|unc charlotte|north carolina charlotte
  north carolina|unc
  pittsburgh|pitt
  brigham young|byu
  texas christian|tcu
  southern methodist|smu
  louisiana state|lsu
  central florida|ucf
  nevada las vegas|unlv
  virginia commonwealth|vcu
  massachusetts|umass
  texas el paso|utep
  texas san antonio|utsa
  alabama birmingham|uab
  california los angeles|ucla
  california irvine|uc irvine
  california san diego|uc san diego
  california santa barbara|uc santa barbara
  california davis|uc davis
  saint mary s|st mary s|saint mary s ca
  saint john s|st john s
  saint joseph s|st joseph s
  saint louis|st louis
  saint bonaventure|st bonaventure
  california|cal|cal golden bears
  hawaii|hawai i
  appalachian state|app state
  florida international|fiu
  florida atlantic|fau
  middle tennessee|mtsu|middle tennessee state
  san jose state|sjsu
  college of charleston|charleston
  loyola chicago|loyola il
  louisiana|louisiana lafayette|ul lafayette
  louisiana monroe|ul monroe|ulm`;

const NAMES = COLLEGES.split('\n')
  .flatMap((line) => {
    const [first = '', ...others] = line.trim().split('|');
    return [first, ...others].map((each) => [each, first] as const);
  })
  .toSorted(([a], [b]) => b.length - a.length);

/** Words after a name that make another college of it. */
const OF_ANOTHER = /^ (?:state|st|tech)\b/;

/** What follows the name of a place in that of another college: no name of a team. They become one word with it. */
const CAMPUS =
  / (?:a m|a t|gulf coast|christian|commonwealth|international|atlantic|martin|pine bluff|chicago|valley|city|lutheran|baptist|wesleyan|methodist|poly|upstate|greensboro|wilmington|asheville|charlotte|corpus christi|little rock|fort wayne|kansas city|edwardsville|commerce|rio grande|hilo|lowell|boston|dartmouth|greensburg|johnstown|bradford|pembroke|fullerton|bakersfield|northridge|long beach|poly pomona|riverside|merced)(?= |$)/;

const LEAGUES: ReadonlySet<string> = new Set(['ncaab', 'ncaaf']);

/** A folded name of a college in its usual words, with what follows it: "uconn huskies" is "connecticut huskies". */
export function collegeName(league: string | null, folded: string): string {
  if (league === null || !LEAGUES.has(league)) return folded;
  const open = folded.replace(/(?<=[a-z]) st$/, ' state');
  const found = NAMES.find(
    ([name]) => open === name || (open.startsWith(`${name} `) && !OF_ANOTHER.test(open.slice(name.length))),
  );
  const usual = found ? `${found[1].replaceAll(' ', '')}${open.slice(found[0].length)}` : open;
  return usual.replace(CAMPUS, (campus) => campus.replaceAll(' ', ''));
}

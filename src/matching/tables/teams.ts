/**
 * Teams by league: `code|city|name|other names`, one a line. A city that two teams of a league share stands in brackets: alone it
 * names neither of them. Add a league as a key, a team as a line.
 */
const TEAMS: Readonly<Record<string, string>> = {
  mlb: `ari az|arizona|diamondbacks|d backs
    atl|atlanta|braves
    bal|baltimore|orioles
    bos|boston|red sox
    chc|(chicago)|cubs|chicago c
    cws chw|(chicago)|white sox|chicago ws
    cin|cincinnati|reds
    cle|cleveland|guardians
    col|colorado|rockies
    det|detroit|tigers
    hou|houston|astros
    kc kcr|kansas city|royals
    laa|(los angeles)|angels|los angeles a
    lad|(los angeles)|dodgers|los angeles d
    mia|miami|marlins
    mil|milwaukee|brewers
    min|minnesota|twins
    nym|(new york)|mets|new york m
    nyy|(new york)|yankees|new york y
    ath oak|sacramento|athletics|a s|oakland athletics|oakland
    phi|philadelphia|phillies
    pit|pittsburgh|pirates
    sd sdp|san diego|padres
    sf sfg|san francisco|giants
    sea|seattle|mariners
    stl|st louis|cardinals
    tb tbr|tampa bay|rays
    tex|texas|rangers
    tor|toronto|blue jays
    wsh was|washington|nationals`,
  nba: `atl|atlanta|hawks
    bos|boston|celtics
    bkn|brooklyn|nets
    cha|charlotte|hornets
    chi|chicago|bulls
    cle|cleveland|cavaliers|cavs
    dal|dallas|mavericks|mavs
    den|denver|nuggets
    det|detroit|pistons
    gsw gs|golden state|warriors
    hou|houston|rockets
    ind|indiana|pacers
    lac|(los angeles)|clippers|la clippers|los angeles c
    lal|(los angeles)|lakers|la lakers|los angeles l
    mem|memphis|grizzlies
    mia|miami|heat
    mil|milwaukee|bucks
    min|minnesota|timberwolves|wolves
    nop no|new orleans|pelicans
    nyk ny|new york|knicks
    okc|oklahoma city|thunder
    orl|orlando|magic
    phi|philadelphia|76ers|sixers
    phx|phoenix|suns
    por|portland|trail blazers|blazers
    sac|sacramento|kings
    sas sa|san antonio|spurs
    tor|toronto|raptors
    uta|utah|jazz
    was wsh|washington|wizards`,
  nfl: `ari|arizona|cardinals
    atl|atlanta|falcons
    bal|baltimore|ravens
    buf|buffalo|bills
    car|carolina|panthers
    chi|chicago|bears
    cin|cincinnati|bengals
    cle|cleveland|browns
    dal|dallas|cowboys
    den|denver|broncos
    det|detroit|lions
    gb|green bay|packers
    hou|houston|texans
    ind|indianapolis|colts
    jax jac|jacksonville|jaguars
    kc|kansas city|chiefs
    lv|las vegas|raiders
    lac|(los angeles)|chargers|la chargers|los angeles c
    la lar|(los angeles)|rams|la rams|los angeles r
    mia|miami|dolphins
    min|minnesota|vikings
    ne|new england|patriots
    no|new orleans|saints
    nyg|(new york)|giants|ny giants|new york g
    nyj|(new york)|jets|ny jets|new york j
    phi|philadelphia|eagles
    pit|pittsburgh|steelers
    sf|san francisco|49ers
    sea|seattle|seahawks
    tb|tampa bay|buccaneers
    ten|tennessee|titans
    was wsh|washington|commanders`,
  wnba: `atl|atlanta|dream
    chi|chicago|sky
    con conn|connecticut|sun
    dal|dallas|wings
    gs gsv|golden state|valkyries
    ind|indiana|fever
    la las|los angeles|sparks
    lv lva|las vegas|aces
    min|minnesota|lynx
    ny nyl|new york|liberty
    phx|phoenix|mercury
    por|portland|fire
    sea|seattle|storm
    tor|toronto|tempo
    was wsh|washington|mystics`,
  mls: `lafc|(los angeles)|los angeles fc|los angeles football club
    lag la|la galaxy|galaxy|los angeles galaxy|los angeles g
    nycfc nyc|new york city|new york city fc|new york city football club|new york c
    nyrb rbny ny|new york red bulls|red bulls|rb new york|new york rb
    mia|miami|inter miami|inter miami cf
    sea|seattle|sounders|seattle sounders|seattle sounders fc
    por|portland|timbers|portland timbers
    atl|atlanta|atlanta united|atlanta united fc
    skc|kansas city|sporting kansas city|sporting kc
    van|vancouver|whitecaps|vancouver whitecaps|vancouver whitecaps fc
    mtl|montreal|cf montreal|montreal impact
    stl|st louis|st louis city|st louis city sc
    sj|san jose|earthquakes|san jose earthquakes
    sd|san diego|san diego fc
    dc|dc|dc united|d c united|washington
    phi|philadelphia|union|philadelphia union
    tor|toronto|toronto fc
    ne|new england|revolution|new england revolution`,
  nhl: `ana|anaheim|ducks
    bos|boston|bruins
    buf|buffalo|sabres
    cgy|calgary|flames
    car|carolina|hurricanes
    chi|chicago|blackhawks
    col|colorado|avalanche
    cbj|columbus|blue jackets
    dal|dallas|stars
    det|detroit|red wings
    edm|edmonton|oilers
    fla|florida|panthers
    la lak|los angeles|kings
    min|minnesota|wild
    mtl|montreal|canadiens
    nsh|nashville|predators
    nj njd|new jersey|devils
    nyi|(new york)|islanders|ny islanders|new york i
    nyr|(new york)|rangers|ny rangers|new york r
    ott|ottawa|senators
    phi|philadelphia|flyers
    pit|pittsburgh|penguins
    sj sjs|san jose|sharks
    sea|seattle|kraken
    stl|st louis|blues
    tb tbl|tampa bay|lightning
    tor|toronto|maple leafs
    uta|utah|mammoth|utah hockey club
    van|vancouver|canucks
    vgk|vegas|golden knights|las vegas
    wsh was|washington|capitals
    wpg|winnipeg|jets`,
};

/** Clubs and countries with two names, one set a line: the first one is used. */
const NAMESAKES = `athletic bilbao|athletic club|bilbao|athletic club bilbao
  inter|inter milan|internazionale|fc internazionale milano|inter milano
  ac milan|milan
  psg|paris saint germain|paris sg|paris
  bayern munich|bayern|fc bayern munchen|bayern munchen|fc bayern munich
  borussia monchengladbach|gladbach|m gladbach|monchengladbach
  koln|cologne|1 fc koln
  manchester united|man utd|man united|manchester utd
  manchester city|man city
  nottingham forest|nottingham|nott m forest
  tottenham|tottenham hotspur|spurs
  wolves|wolverhampton|wolverhampton wanderers
  newcastle|newcastle united
  west ham|west ham united
  leeds|leeds united
  brighton|brighton hove albion|brighton and hove albion|brighton & hove albion
  atletico madrid|atletico|atletico de madrid|club atletico de madrid
  sporting|sporting cp|sporting lisbon|sporting clube de portugal
  verona|hellas verona
  rennes|stade rennais|stade rennais fc 1901
  marseille|olympique de marseille|olympique marseille|om
  lyon|olympique lyonnais|olympique lyon
  south korea|korea republic|republic of korea|korea
  dr congo|congo dr|democratic republic of congo|democratic republic of the congo
  czechia|czech republic
  ivory coast|cote d ivoire
  turkey|turkiye
  united states|usa|us|united states of america|u s
  united kingdom|uk|great britain|u k
  iran|ir iran
  cape verde|cabo verde
  bosnia and herzegovina|bosnia herzegovina|bosnia
  democratic|democrats|democrat|democratic party|democratics
  republican|republicans|republican party|gop
  greens|greens party|grunen|the greens|die grunen|green party|the green party`;

const lines = (table: string): string[] => table.split('\n').map((line) => line.trim());

/** Every name of a team in its league, to the team. */
const BY_LEAGUE = new Map(
  Object.entries(TEAMS).map(([league, table]) => {
    const names = new Map<string, string>();
    for (const line of lines(table)) {
      const [codes = '', city = '', name = '', ...others] = line.split('|');
      const team = `${league}:${name}`;
      const isShared = city.startsWith('(');
      const place = city.replaceAll(/[()]/g, '');
      for (const each of [...codes.split(' '), name, `${place} ${name}`, ...others]) names.set(each, team);
      if (!isShared) names.set(place, team);
    }
    return [league, names] as const;
  }),
);

const SAME = new Map(
  lines(NAMESAKES).flatMap((line) => {
    const [first = '', ...others] = line.split('|');
    return [first, ...others].map((each) => [each, first] as const);
  }),
);

/** The team that a folded name or code means in a league; null if it is not one of its names. */
export const teamIn = (league: string, folded: string): string | null => BY_LEAGUE.get(league)?.get(folded) ?? null;

/** The name that stands for all names of a club, country or party; the name itself if it has no other. */
export const usualName = (folded: string): string => SAME.get(folded) ?? folded;

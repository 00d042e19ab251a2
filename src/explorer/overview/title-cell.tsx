import type { Market } from '../parts/answers.ts';
import { useKnownMarkets } from '../parts/known-markets.ts';
import { nameOf, namesApart } from '../parts/names.ts';
import { END_TEXTS } from '../parts/prefs/times.ts';
import { MarketName, PlatformName } from '../parts/show.tsx';
import { idOf, marketAddress } from '../parts/url.ts';

/** Characters of a title that fit beside the platform's name and three numeric columns. */
export const ROOM = 30;

/** What to show before the titles of a list, by unified id, where they would look alike. */
export const titlesApart = (rows: Parameters<typeof namesApart>[0]): ReadonlyMap<string, string> =>
  namesApart(rows, ROOM, END_TEXTS);

/** The markets of a list whose answer has their titles alone, by unified id, and what to show before these titles. */
export function useTitles(rows: readonly { platform: string; market_id: string; title: string }[]) {
  const marketOf = useKnownMarkets(rows.map(idOf));
  const listed = rows.map((row) => {
    const id = idOf(row);
    return { metadata: undefined, ...marketOf(id), id, title: row.title };
  });
  return { marketOf, apart: titlesApart(listed) };
}

interface Props {
  platform: string;
  id: string;
  title: string;
  metadata: Market['metadata'] | undefined;
  apart: string | undefined;
}

/** A market's platform, and its title as a link; on phones the title wraps to two lines. */
export function TitleCell({ platform, id, title, metadata, apart }: Props) {
  return (
    <td class="cut titled">
      <PlatformName platform={platform} />{' '}
      <a href={marketAddress(id)} title={nameOf({ title, metadata })}>
        <MarketName title={title} metadata={metadata} room={ROOM} apart={apart} />
      </a>
    </td>
  );
}

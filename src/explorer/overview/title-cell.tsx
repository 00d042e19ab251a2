import type { Market } from '../parts/answers.ts';
import { nameOf } from '../parts/names.ts';
import { MarketName, PlatformName } from '../parts/show.tsx';
import { marketAddress } from '../parts/url.ts';

/** Characters of a title that fit beside the platform's name and three numeric columns. */
const ROOM = 30;

interface Props {
  platform: string;
  id: string;
  title: string;
  metadata: Market['metadata'] | undefined;
}

/** A market's platform, and its title as a link; on phones the title wraps to two lines. */
export function TitleCell({ platform, id, title, metadata }: Props) {
  return (
    <td class="cut titled">
      <PlatformName platform={platform} />{' '}
      <a href={marketAddress(id)} title={nameOf({ title, metadata })}>
        <MarketName title={title} metadata={metadata} room={ROOM} />
      </a>
    </td>
  );
}

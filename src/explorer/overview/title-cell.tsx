import { PlatformName } from '../parts/show.tsx';
import { marketAddress } from '../parts/url.ts';

/** A market's platform and title, which leads to it; on a phone the title has two lines. */
export function TitleCell({ platform, id, title }: { platform: string; id: string; title: string }) {
  return (
    <td class="cut titled">
      <PlatformName platform={platform} />{' '}
      <a href={marketAddress(id)} title={title}>
        <bdi>{title}</bdi>
      </a>
    </td>
  );
}

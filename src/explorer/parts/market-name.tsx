import type { Market } from './answers.ts';
import { splitTitle } from './names.ts';

interface Props {
  title: string;
  /** Undefined while it is not known. */
  metadata: Market['metadata'] | undefined;
  /** Letters that are seen of a title at least. */
  room?: number;
}

/** The title of a market, behind what tells it from others of that title: where a title is cut, this stays. */
export function MarketName({ title, metadata, room }: Props) {
  const { own, rest } = splitTitle({ title, metadata }, room);
  return (
    <>
      {own !== '' && (
        <>
          <bdi class="own">{own}</bdi>
          <span class="muted"> · </span>
        </>
      )}
      <bdi>{rest}</bdi>
    </>
  );
}

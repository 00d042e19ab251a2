import { useState } from 'preact/hooks';

/** The picture of a market or an event, loaded from its platform without a referrer; nothing if there is none or it does not load. */
export function Picture({ address, size }: { address: string | undefined; size: number }) {
  const [broken, setBroken] = useState('');
  if (address === undefined || !address.startsWith('https://') || address === broken) return null;
  return (
    <img
      class="picture"
      src={address}
      alt=""
      width={size}
      height={size}
      loading="lazy"
      decoding="async"
      referrerpolicy="no-referrer"
      onError={() => setBroken(address)}
    />
  );
}

import type { Market } from './answers.ts';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { plain, points, rounded } from './exact.ts';
import { splitTitle, titled } from './names.ts';
import { zone, zoneName } from './prefs/prefs.ts';
import { exactPriceIn, priceIn } from './prefs/price-text.ts';
import { moveOf, priceDigitsOf, shownDecimals } from './prices.ts';

/** Shown in place of an unknown value. */
const Unknown = ({ why = 'Unknown' }: { why?: string }) => (
  <span class="unknown" title={why}>
    –
  </span>
);

const grouped = (value: number | string): string => {
  const [whole = '', fraction] = (typeof value === 'string' ? value : plain(value)).split('.');
  const groups = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? groups : `${groups}.${fraction}`;
};

/** Three significant digits, trailing zeros included, so that the figures of a column line up. */
const COMPACT = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});
/** From this value on, figures are shown in compact notation; smaller ones with two decimals. */
const LARGE = 10_000;

interface NumberProps {
  value: number | null | undefined;
  /** Text after the digits; `prefix` goes before them. */
  unit?: string;
  prefix?: string;
  /** Two decimals, or three significant digits of a large number; the title has all digits. */
  compact?: boolean;
  /** Number of decimals to show; all if absent. */
  digits?: number;
  why?: string;
}

/** A number from the API. The element has the exact value; the title shows it if the text has fewer digits. */
export function Num({ value, unit = '', prefix = '', compact = false, digits, why }: NumberProps) {
  if (value === null || value === undefined) return <Unknown {...(why === undefined ? {} : { why })} />;
  const size = Math.abs(value);
  const exact = grouped(size);
  const text = compact ? compactText(size) : digits === undefined ? exact : grouped(rounded(size, digits));
  const isNegative = value < 0 && Number(text) !== 0;
  const framed = (digitsOf: string, minus = isNegative): string => `${minus ? '−' : ''}${prefix}${digitsOf}${unit}`;
  return (
    <data
      value={plain(value)}
      {...(Number(text.replaceAll(',', '')) === size ? {} : { title: framed(exact, value < 0) })}
    >
      {framed(text)}
    </data>
  );
}

const compactText = (size: number): string => (size >= LARGE ? COMPACT.format(size) : grouped(rounded(size, 2)));

interface PriceProps {
  value: number | null | undefined;
  strong?: boolean;
  /** Decimals of the market's prices. */
  digits?: number | undefined;
  /** No highlight: a different value belongs to another time or level, and is not a price move. */
  still?: boolean;
}

/** A price from 0 to 1, highlighted for a moment when it changes. */
export function Price({ value, strong = false, digits, still = false }: PriceProps) {
  const last = useRef(value);
  const [moved, setMoved] = useState<'' | 'up' | 'down'>('');
  useEffect(() => {
    const move = still ? '' : moveOf(last.current, value);
    last.current = value;
    // Also without a move: this change has cancelled the end of the last highlight.
    setMoved(move);
    if (move === '') return;
    const timer = setTimeout(() => setMoved(''), 1200);
    return () => clearTimeout(timer);
  }, [value]);
  if (value === null || value === undefined) return <Unknown />;
  const places = priceDigitsOf(value, digits);
  return (
    <data
      class={`price ${strong ? 'strong' : ''} ${moved === '' ? '' : `moved ${moved}`}`}
      value={plain(value)}
      {...(Number(rounded(value, places)) === value ? {} : { title: exactPriceIn(value) })}
    >
      {priceIn(value, places)}
    </data>
  );
}

/** A price change in points (hundredths of a USD), with a sign so that its direction does not depend on colour alone. */
export function Change({ value, digits }: { value: number | null | undefined; digits?: number | undefined }) {
  if (value === null || value === undefined) return <Unknown />;
  const direction = value > 0 ? 'up' : value < 0 ? 'down' : 'flat';
  const size = Math.abs(value);
  const places = digits ?? shownDecimals(size);
  const text = rounded(points(size), places - 2);
  return (
    <data class={direction} value={plain(value)} {...(Number(text) === points(size) ? {} : { title: plain(value) })}>
      {Number(text) === 0 ? '' : value < 0 ? '−' : '+'}
      {text} pt
    </data>
  );
}

const CONTRACTS = 'contracts';
/** Whether volume is counted in contracts, according to `metadata.volume_basis`. */
export const countsContracts = (metadata: Record<string, unknown>): boolean =>
  String(metadata['volume_basis'] ?? '').includes(CONTRACTS);

interface VolumeProps {
  value: number | null;
  /** Undefined while the market, and with it the unit, is not known. */
  metadata: Record<string, unknown> | undefined;
  why?: string;
}

/** A volume in its platform's unit: USD or contracts; without a unit where the market's collateral is another token. */
export function Volume({ value, metadata, why }: VolumeProps) {
  const known = why === undefined ? {} : { why };
  if (metadata === undefined) return <Unknown why="Its unit is not known yet" />;
  const unit = countsContracts(metadata) ? { unit: ' ct' } : metadata['volume_basis'] === 'raw' ? {} : { prefix: '$' };
  return <Num value={value} {...unit} compact {...known} />;
}

export const Usd = ({ value, why }: { value: number | null | undefined; why?: string }) => (
  <Num value={value} prefix="$" compact {...(why === undefined ? {} : { why })} />
);

/** A platform's name in its colour, which is derived from the name. */
export function PlatformName({ platform }: { platform: string }) {
  return <span class={`platform hue${hueOf(platform)}`}>{titled(platform)}</span>;
}
const hueOf = (name: string): number =>
  [...name].reduce((all, letter) => (all * 2 + (letter.codePointAt(0) ?? 0)) % 7, 0) % 5;

export function Status({ status }: { status: string }) {
  return <span class={`status ${status}`}>{status}</span>;
}

const UNITS: readonly [seconds: number, letter: string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
  [1, 's'],
];

/** A duration in its two largest units: `3d 4h`. */
export function spanText(seconds: number): string {
  const whole = Math.floor(Math.abs(seconds));
  const at = UNITS.findIndex(([size]) => whole >= size);
  const [size, letter] = UNITS[at === -1 ? UNITS.length - 1 : at] ?? [1, 's'];
  const next = UNITS[at + 1];
  const rest = next && at !== -1 ? Math.floor((whole % size) / next[0]) : 0;
  const first = `${Math.floor(whole / size)}${letter}`;
  // Hours are left out from ten days on.
  return next && rest > 0 && whole < 10 * 86_400 ? `${first} ${rest}${next[1]}` : first;
}

/** Times farther away than this are named by their month. */
const NEAR_SECONDS = 60 * 86_400;

/** A time in the zone that the user prefers. In a table, the column head names the zone. */
export function Time({ at, relative = false }: { at: string | number | null | undefined; relative?: boolean }) {
  if (at === null || at === undefined || at === '') return <Unknown />;
  const date = new Date(typeof at === 'number' ? at * 1000 : at);
  const iso = date.toISOString();
  const seconds = (date.getTime() - Date.now()) / 1000;
  const near = seconds >= 0 ? `in ${spanText(seconds)}` : `${spanText(seconds)} ago`;
  const text = Math.abs(seconds) < NEAR_SECONDS ? near : inZone().month.format(date);
  return (
    <time dateTime={iso} title={iso}>
      {relative ? (
        text
      ) : (
        <>
          {clockText(date)}
          <span class="zone"> {zoneName()}</span>
        </>
      )}
    </time>
  );
}

/** When trading ends or has ended. */
export function Ends({ at }: { at: string | null }) {
  return (
    <>
      {at !== null && Date.parse(at) < Date.now() ? 'Ended' : 'Ends'} <Time at={at} relative />
    </>
  );
}

interface CompleteProps {
  to: string | null | undefined;
  /** null if trades are not complete for every market; undefined if not loaded. */
  since?: string | null | undefined;
}

/** A sentence about the period in which stored trades are complete; nothing while `to` is undefined. */
export function TradesComplete({ to, since }: CompleteProps) {
  if (to === undefined) return null;
  if (to === null) return <>Trade completeness is not known yet: the first sync is running.</>;
  if (since === null || since === undefined)
    return (
      <>
        Trades complete to <Time at={to} />
        {since === null ? '; the start is unknown.' : '.'}
      </>
    );
  return (
    <>
      Trades complete since <Time at={since} />, to <Time at={to} />.
    </>
  );
}

const formats = () => ({
  day: new Intl.DateTimeFormat(undefined, { month: 'short', day: '2-digit', ...zone() }),
  yearDay: new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: '2-digit', ...zone() }),
  month: new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', ...zone() }),
  // Its days sort as text.
  date: new Intl.DateTimeFormat('sv', { dateStyle: 'short', ...zone() }),
  clock: new Intl.DateTimeFormat(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    ...zone(),
  }),
});
let made: { of: string; formats: ReturnType<typeof formats> } | null = null;
function inZone(): ReturnType<typeof formats> {
  if (made?.of !== zoneName()) made = { of: zoneName(), formats: formats() };
  return made.formats;
}

function clockText(date: Date): string {
  const { day, yearDay, date: iso, clock } = inZone();
  const [now, then] = [iso.format(new Date()), iso.format(date)];
  if (then === now) return clock.format(date);
  return `${(then.slice(0, 4) === now.slice(0, 4) ? day : yearDay).format(date)} ${clock.format(date).slice(0, 5)}`;
}

/** A link to another site; nothing if the address is not an HTTP URL. */
export function Outside({ address, children }: { address: string; children: ComponentChildren }) {
  if (!/^https?:\/\//.test(address)) return null;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

interface MarketNameProps {
  title: string;
  /** undefined while loading. */
  metadata: Market['metadata'] | undefined;
  /** Characters of a title that are always visible. */
  room?: number;
  /** A name that differs from those of the other markets in the list; by default it is made from the metadata. */
  apart?: string | undefined;
}

/** A market's own name before the title it shares with others, so that a truncated title still shows it. */
export function MarketName({ title, metadata, room, apart }: MarketNameProps) {
  const { own, rest } = apart === undefined ? splitTitle({ title, metadata }, room) : { own: apart, rest: title };
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

import type { Market } from './answers.ts';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { decimals, plain } from './exact.ts';
import { splitTitle } from './names.ts';

/** Stands where a value is unknown. */
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

/** Three digits, also where they are zeros: figures of one column line up. */
const COMPACT = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});
/** From here on figures are shown in short; below with two decimals. */
const LARGE = 10_000;

interface NumberProps {
  value: number | null | undefined;
  /** Before and behind the digits. */
  unit?: string;
  prefix?: string;
  /** Two decimals, or three digits of a large number; the title has all of them. */
  compact?: boolean;
  /** Decimals shown, of a number that has no unit to round by; without them all are. */
  digits?: number;
  why?: string;
}

/** A number as the API gave it: the element carries the exact value, the title says it where fewer digits are shown. */
export function Num({ value, unit = '', prefix = '', compact = false, digits, why }: NumberProps) {
  if (value === null || value === undefined) return <Unknown {...(why === undefined ? {} : { why })} />;
  const size = Math.abs(value);
  const exact = grouped(size);
  const text = compact ? compactText(size) : digits === undefined ? exact : rounded(size, digits);
  const framed = (digitsOf: string): string => `${value < 0 ? '−' : ''}${prefix}${digitsOf}${unit}`;
  return (
    <data value={plain(value)} {...(Number(text.replaceAll(',', '')) === size ? {} : { title: framed(exact) })}>
      {framed(text)}
    </data>
  );
}

const compactText = (size: number): string => (size >= LARGE ? COMPACT.format(size) : rounded(size, 2));
const rounded = (size: number, digits: number): string => grouped(size.toFixed(digits));

/** Prices of more decimals are shown to these, with all in the title. */
const SHOWN_DECIMALS = 4;

/** A price to `digits` decimals, so that a column lines up; without them to two or more. What is not 0 or 1 is not shown as such. */
function priceText(size: number, digits?: number): string {
  const own = Math.min(decimals(size), SHOWN_DECIMALS);
  const text = size.toFixed(digits ?? Math.max(2, own));
  return Number.isInteger(Number(text)) && !Number.isInteger(size) ? size.toFixed(Math.max(2, own)) : text;
}

interface PriceProps {
  value: number | null | undefined;
  strong?: boolean;
  /** Decimals of its market's prices. */
  digits?: number | undefined;
  /** Not lit: another value is of another time, not a move. */
  still?: boolean;
}

/** A price of 0 to 1, lit for a moment when it changes. */
export function Price({ value, strong = false, digits, still = false }: PriceProps) {
  const last = useRef(value);
  const [moved, setMoved] = useState<'' | 'up' | 'down'>('');
  useEffect(() => {
    const before = last.current;
    last.current = value;
    if (still || typeof before !== 'number' || typeof value !== 'number' || before === value) return;
    setMoved(value > before ? 'up' : 'down');
    const timer = setTimeout(() => setMoved(''), 1200);
    return () => clearTimeout(timer);
  }, [value]);
  if (value === null || value === undefined) return <Unknown />;
  const text = priceText(value, digits);
  return (
    <data
      class={`price ${strong ? 'strong' : ''} ${moved === '' ? '' : `moved ${moved}`}`}
      value={plain(value)}
      {...(Number(text) === value ? {} : { title: plain(value) })}
    >
      {text.replace('-', '−')}
    </data>
  );
}

/** A change of price with its direction in a sign, not in colour alone. */
export function Change({ value, digits }: { value: number | null | undefined; digits?: number | undefined }) {
  if (value === null || value === undefined) return <Unknown />;
  const direction = value > 0 ? 'up' : value < 0 ? 'down' : 'flat';
  const size = Math.abs(value);
  const text = priceText(size, digits);
  return (
    <data class={direction} value={plain(value)} {...(Number(text) === size ? {} : { title: plain(value) })}>
      {value < 0 ? '−' : value > 0 ? '+' : ''}
      {text}
    </data>
  );
}

/** A percentage the API gives to six decimals, shown to one; a manifold growth as how many times it is. */
export function Percent({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <Unknown />;
  const direction = value > 0 ? 'up' : value < 0 ? 'down' : 'flat';
  const size = Math.abs(value);
  const times = 1 + value / 100;
  const grown = times >= LARGE ? COMPACT.format(times) : rounded(times, 0);
  return (
    <data class={direction} value={plain(value)} title={`${plain(value)} %`}>
      {value >= 1000 ? `×${grown}` : `${value < 0 ? '−' : value > 0 ? '+' : ''}${size.toFixed(1)} %`}
    </data>
  );
}

const CONTRACTS = 'contracts';
/** What a platform counts volume in, as its markets say in `metadata.volume_basis`. */
export const countsContracts = (metadata: Record<string, unknown>): boolean =>
  String(metadata['volume_basis'] ?? '').includes(CONTRACTS);

interface VolumeProps {
  value: number | null;
  metadata: Record<string, unknown>;
  why?: string;
}

/** A volume in its platform's unit: dollars, or contracts. */
export function Volume({ value, metadata, why }: VolumeProps) {
  const known = why === undefined ? {} : { why };
  return countsContracts(metadata) ? (
    <Num value={value} unit=" ct" compact {...known} />
  ) : (
    <Num value={value} prefix="$" compact {...known} />
  );
}

export const Usd = ({ value, why }: { value: number | null | undefined; why?: string }) => (
  <Num value={value} prefix="$" compact {...(why === undefined ? {} : { why })} />
);

/** The platform's name in its colour, which follows from the name. */
export function PlatformName({ platform }: { platform: string }) {
  return <span class={`platform hue${hueOf(platform)}`}>{platform.charAt(0).toUpperCase() + platform.slice(1)}</span>;
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

/** Two of the largest units: `3d 4h`. */
export function spanText(seconds: number): string {
  const whole = Math.floor(Math.abs(seconds));
  const at = UNITS.findIndex(([size]) => whole >= size);
  const [size, letter] = UNITS[at === -1 ? UNITS.length - 1 : at] ?? [1, 's'];
  const next = UNITS[at + 1];
  const rest = next && at !== -1 ? Math.floor((whole % size) / next[0]) : 0;
  const first = `${Math.floor(whole / size)}${letter}`;
  // Of many days the hours say nothing.
  return next && rest > 0 && whole < 10 * 86_400 ? `${first} ${rest}${next[1]}` : first;
}

/** A time in UTC, as charts have it and statements compare it. In a table the head names the zone. */
export function Time({ at, relative = false }: { at: string | number | null | undefined; relative?: boolean }) {
  if (at === null || at === undefined || at === '') return <Unknown />;
  const date = new Date(typeof at === 'number' ? at * 1000 : at);
  const iso = date.toISOString();
  const seconds = (date.getTime() - Date.now()) / 1000;
  const text = seconds >= 0 ? `in ${spanText(seconds)}` : `${spanText(seconds)} ago`;
  return (
    <time dateTime={iso} title={iso}>
      {relative ? (
        text
      ) : (
        <>
          {clockText(date)}
          <span class="zone"> UTC</span>
        </>
      )}
    </time>
  );
}

/** When trading ends, or ended. */
export function Ends({ at }: { at: string | null }) {
  return (
    <>
      {at !== null && Date.parse(at) < Date.now() ? 'Ended' : 'Ends'} <Time at={at} relative />
    </>
  );
}

interface CompleteProps {
  to: string | null | undefined;
  /** Null where trades are not complete for every market; undefined while it is not asked. */
  since?: string | null | undefined;
}

/** Between when stored trades are complete, in a sentence; undefined while no answer is there. */
export function TradesComplete({ to, since }: CompleteProps) {
  if (to === undefined) return null;
  if (to === null) return <>Not known yet up to when trades are complete: the first reading is under way.</>;
  if (since === null || since === undefined)
    return (
      <>
        Trades complete to <Time at={to} />
        {since === null ? ', since when is not known.' : '.'}
      </>
    );
  return (
    <>
      Trades complete since <Time at={since} />, to <Time at={to} />.
    </>
  );
}

const UTC = { timeZone: 'UTC' } as const;
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: '2-digit', ...UTC });
const YEAR_DAY = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: '2-digit', ...UTC });
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  ...UTC,
});
function clockText(date: Date): string {
  const now = new Date().toISOString();
  const then = date.toISOString();
  if (then.slice(0, 10) === now.slice(0, 10)) return CLOCK.format(date);
  const day = then.slice(0, 4) === now.slice(0, 4) ? DAY : YEAR_DAY;
  return `${day.format(date)} ${CLOCK.format(date).slice(0, 5)}`;
}

/** A page of another site, when its address is one. */
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
  /** Undefined while it is not known. */
  metadata: Market['metadata'] | undefined;
  /** Letters that are seen of a title at least. */
  room?: number;
}

/** A market's own name before the title it shares with others, so that a cut title still shows it. */
export function MarketName({ title, metadata, room }: MarketNameProps) {
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

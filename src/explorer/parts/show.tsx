import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { plain } from './exact.ts';

/** Stands where a value is unknown. */
const Unknown = ({ why = 'Unknown' }: { why?: string }) => (
  <span class="unknown" title={why}>
    –
  </span>
);

const grouped = (value: number): string => {
  const [whole = '', fraction] = plain(value).split('.');
  const groups = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? groups : `${groups}.${fraction}`;
};

export const decimals = (value: number): number => plain(value).split('.')[1]?.length ?? 0;

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });

interface NumberProps {
  value: number | null | undefined;
  /** Before and behind the digits. */
  unit?: string;
  prefix?: string;
  /** Three digits are shown; the title has all of them. */
  compact?: boolean;
  why?: string;
}

/** A number as the API gave it: the element carries the exact value, the title says it where fewer digits are shown. */
export function Num({ value, unit = '', prefix = '', compact = false, why }: NumberProps) {
  if (value === null || value === undefined) return <Unknown {...(why === undefined ? {} : { why })} />;
  const size = Math.abs(value);
  const short = compact && (size >= 1000 || decimals(size) > 2);
  const sign = value < 0 ? '−' : '';
  const exact = `${sign}${prefix}${grouped(size)}${unit}`;
  return (
    <data value={plain(value)} {...(short ? { title: exact } : {})}>
      {short ? `${sign}${prefix}${size >= 1000 ? COMPACT.format(size) : size.toFixed(2)}${unit}` : exact}
    </data>
  );
}

/** Prices of more decimals are shown to these, with all in the title. */
const SHOWN_DECIMALS = 4;

interface PriceProps {
  value: number | null | undefined;
  strong?: boolean;
  /** Decimals at least, so that a column of prices lines up. */
  digits?: number;
  /** Not lit: another value is of another time, not a move. */
  still?: boolean;
}

/** A price of 0 to 1, lit for a moment when it changes. */
export function Price({ value, strong = false, digits = 2, still = false }: PriceProps) {
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
  const own = decimals(value);
  return (
    <data
      class={`price ${strong ? 'strong' : ''} ${moved === '' ? '' : `moved ${moved}`}`}
      value={plain(value)}
      {...(own > SHOWN_DECIMALS ? { title: plain(value) } : {})}
    >
      {value.toFixed(Math.max(digits, Math.min(own, SHOWN_DECIMALS)))}
    </data>
  );
}

/** A change of price with its direction in a sign, not in colour alone. */
export function Change({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <Unknown />;
  const direction = value > 0 ? 'up' : value < 0 ? 'down' : 'flat';
  const size = Math.abs(value);
  const own = decimals(size);
  return (
    <data class={direction} value={plain(value)} {...(own > SHOWN_DECIMALS ? { title: plain(value) } : {})}>
      {value < 0 ? '−' : value > 0 ? '+' : ''}
      {size.toFixed(Math.max(2, Math.min(own, SHOWN_DECIMALS)))}
    </data>
  );
}

/** A percentage the API gives to six decimals, shown to one. */
export function Percent({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <Unknown />;
  const direction = value > 0 ? 'up' : value < 0 ? 'down' : 'flat';
  const size = Math.abs(value);
  const shown = size >= 1000 ? COMPACT.format(size) : size.toFixed(1);
  return (
    <data class={direction} value={plain(value)} title={`${plain(value)} %`}>
      {value < 0 ? '−' : value > 0 ? '+' : ''}
      {shown} %
    </data>
  );
}

const CONTRACTS = 'contracts';
/** What a platform counts volume in, as its markets say in `metadata.volume_basis`. */
export const countsContracts = (metadata: Record<string, unknown>): boolean =>
  String(metadata['volume_basis'] ?? '').includes(CONTRACTS);

/** A volume in its platform's unit: dollars, or contracts. */
export function Volume({ value, metadata }: { value: number | null; metadata: Record<string, unknown> }) {
  return countsContracts(metadata) ? (
    <Num value={value} unit=" ct" compact />
  ) : (
    <Num value={value} prefix="$" compact />
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

/** A time as the reader's clock shows it; the title has it in UTC. */
export function Time({ at, relative = false }: { at: string | number | null | undefined; relative?: boolean }) {
  if (at === null || at === undefined || at === '') return <Unknown />;
  const date = new Date(typeof at === 'number' ? at * 1000 : at);
  const iso = date.toISOString();
  const seconds = (date.getTime() - Date.now()) / 1000;
  const text = seconds >= 0 ? `in ${spanText(seconds)}` : `${spanText(seconds)} ago`;
  return (
    <time dateTime={iso} title={iso}>
      {relative ? text : clockText(date)}
    </time>
  );
}

/** Up to when stored trades are complete, in a sentence; undefined while no answer is there. */
export function TradesComplete({ to }: { to: string | null | undefined }) {
  if (to === undefined) return null;
  if (to === null) return <>Not known yet up to when trades are complete: the first reading is under way.</>;
  return (
    <>
      Trades complete to <Time at={to} />.
    </>
  );
}

const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: '2-digit' });
const YEAR_DAY = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: '2-digit' });
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
function clockText(date: Date): string {
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return CLOCK.format(date);
  const day = date.getFullYear() === now.getFullYear() ? DAY : YEAR_DAY;
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

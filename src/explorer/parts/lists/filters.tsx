import { useEffect, useRef, useState } from 'preact/hooks';
import type { Params } from '../api.ts';
import { useKeys } from '../keys.ts';
import { setQuery } from '../url.ts';

/** The call that lists markets and events, over all platforms. */
export const SEARCH = '/v1/api/search';

/** Parameters of GET search for the filters of a list. */
export const searchParams = (
  types: 'markets' | 'events',
  { query, ...filters }: Params,
  platforms: readonly string[],
): Params => ({ q: query, types, platform: platforms.length === 1 ? platforms[0] : '', ...filters });

/** Choices of the status of markets and events. */
export const STATUSES = [
  ['open', 'Open'],
  ['closed', 'Closed'],
  ['settled', 'Settled'],
  ['any', 'Any status'],
] as const;

const TYPING_MS = 200;

interface SearchProps {
  what: string;
  value: string;
  onEnter: () => void;
}

/** `/` focuses the field; the search runs TYPING_MS after the last input, and at Enter, which opens the first row. */
export function Search({ what, value, onEnter }: SearchProps) {
  const [typed, setTyped] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  /** The value this field last wrote to the address: any other value there comes from a link or from Back. */
  const sent = useRef(value);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = typed;
      setQuery({ q: typed });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useKeys((event) => {
    if (event.key !== '/') return;
    event.preventDefault();
    field.current?.focus();
    field.current?.select();
  });
  return (
    <input
      ref={field}
      type="search"
      class="search"
      aria-label={`Search ${what}`}
      aria-keyshortcuts="/"
      placeholder={`Search ${what} by words, id or address  /`}
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          setTyped('');
          event.currentTarget.blur();
        }
        if (event.key !== 'Enter') return;
        event.currentTarget.blur();
        sent.current = typed;
        setQuery({ q: typed });
        if (typed.trim() !== '') onEnter();
      }}
    />
  );
}

interface PickProps {
  label: string;
  name: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  /** The default, which is left out of the address. */
  initial?: string;
}

/** A filter or an order of a list, kept in the address. */
export function Pick({ label, name, value, options, initial = '' }: PickProps) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ currentTarget: { value: chosen } }) => setQuery({ [name]: chosen === initial ? '' : chosen })}
    >
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

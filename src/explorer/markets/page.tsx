import { useEffect, useRef, useState } from 'preact/hooks';
import { useApi } from '../parts/api.ts';
import { Choice, Panel, quoted, Waiting } from '../parts/panel.tsx';
import { useKeys } from '../parts/keys.ts';
import { usePlatforms } from '../parts/platforms.ts';
import { Num } from '../parts/show.tsx';
import { setQuery, usePlace } from '../parts/url.ts';
import { SORTS, useMarketList, type Sort } from './listing.ts';
import { MarketTable } from './table.tsx';

const STATUSES = [
  ['open', 'Open'],
  ['closed', 'Closed'],
  ['settled', 'Settled'],
  ['any', 'Any status'],
] as const;
const LIQUIDITY = [
  ['', 'Any liquidity'],
  ['1000', 'over $1,000'],
  ['10000', 'over $10,000'],
  ['100000', 'over $100,000'],
] as const;
const ENDS = [
  ['', 'Ends any time'],
  ['1', 'within a day'],
  ['7', 'within a week'],
  ['30', 'within a month'],
] as const;
const DAY_MS = 86_400_000;
const TYPING_MS = 200;

export function MarketsPage() {
  const { query } = usePlace();
  const text = (name: string): string => query.get(name) ?? '';
  const platform = text('platform');
  const status = text('status') || 'open';
  const sort = SORTS.find(([name]) => name === text('sort'))?.[0] ?? 'volume_24h';
  const all = usePlatforms();
  const platforms = all === null ? null : all.includes(platform) ? [platform] : all;
  const days = Number(text('ends'));
  const filters = {
    status: status === 'any' ? '' : status,
    query: text('q'),
    category: text('category'),
    min_liquidity: text('liquidity'),
    // To the hour: the list is asked for anew when its filters change.
    ends_before:
      days > 0 ? new Date(Math.ceil((Date.now() + days * DAY_MS) / 3_600_000) * 3_600_000).toISOString() : '',
  };
  const list = useMarketList(platforms, filters, sort);
  const categories = useApi('/v1/api/analytics/categories', {});
  const provider = platforms?.[0] ?? '';
  const sql = sqlOf({ platform, status, text: text('q'), category: text('category'), sort });
  return (
    <>
      <h1 class="hidden">Markets</h1>
      <Panel
        title="Markets"
        class="markets"
        query={{ path: '/v1/api/markets', params: { provider, ...filters, sort, limit: 50 }, sql }}
        aside={
          <span class="muted" role="status">
            {list.loading && list.rows.length === 0 ? 'Loading …' : <Num value={list.total} />} markets
          </span>
        }
      >
        <div class="filters" role="search">
          <Search value={text('q')} />
          <Choice
            label="Platform"
            value={platform}
            options={[['', 'All'], ...(all ?? []).map((name) => [name, titled(name)] as const)]}
            onChange={(value) => setQuery({ platform: value })}
          />
          <Pick label="Status" value={status} options={STATUSES} name="status" initial="open" />
          <Pick
            label="Category"
            value={text('category')}
            name="category"
            options={[
              ['', 'Any category'],
              ...(categories.data?.categories ?? []).map(({ slug, name }) => [slug, name] as const),
            ]}
          />
          <Pick label="Liquidity" value={text('liquidity')} options={LIQUIDITY} name="liquidity" />
          <Pick label="Ends" value={text('ends')} options={ENDS} name="ends" />
          <Pick label="Sort" value={sort} options={SORTS} name="sort" initial="volume_24h" />
        </div>
        {list.failure && <Waiting of={{ failure: list.failure, loading: false, reload: list.reload }} />}
        <MarketTable list={list} sort={sort} />
      </Panel>
    </>
  );
}

const titled = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** `/` puts the cursor here; what is typed is searched for after a moment. */
function Search({ value }: { value: string }) {
  const [typed, setTyped] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  /** What this field put into the address last: any other value there comes from a link or from Back. */
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
      aria-label="Search markets"
      aria-keyshortcuts="/"
      placeholder="Search titles and descriptions  /"
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          setTyped('');
          event.currentTarget.blur();
        }
        if (event.key === 'Enter') event.currentTarget.blur();
      }}
    />
  );
}

interface PickProps {
  label: string;
  name: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  /** Left out of the address. */
  initial?: string;
}

function Pick({ label, name, value, options, initial = '' }: PickProps) {
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

const ORDERS: Record<Sort, string> = {
  volume_24h: 'volume_24h DESC NULLS LAST',
  volume_total: 'volume_total DESC NULLS LAST',
  liquidity: 'liquidity DESC NULLS LAST',
  end_date: 'trading_end_at ASC NULLS LAST',
  created: 'created_at DESC',
};

interface Asked {
  platform: string;
  status: string;
  text: string;
  category: string;
  sort: Sort;
}

function sqlOf({ platform, status, text, category, sort }: Asked): string {
  const conditions = [
    ...(platform === '' ? [] : [`platform = ${quoted(platform)}`]),
    ...(status === 'any' ? [] : [`status = ${quoted(status)}`]),
    ...(category === '' ? [] : [`category = ${quoted(category)}`]),
    ...text.split(/\s+/).flatMap((word) => (word === '' ? [] : [`title ILIKE ${quoted(`%${word}%`)}`])),
  ];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}\n`;
  return `SELECT id, title, price, bid, ask, volume_24h, liquidity\nFROM v_markets\n${where}ORDER BY ${ORDERS[sort]}\nLIMIT 50`;
}

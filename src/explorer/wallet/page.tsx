import { useEffect } from 'preact/hooks';
import type { Answers } from '../parts/answers.ts';
import { type Loaded, SLOW_MS, useApi } from '../parts/api.ts';
import { ROOM, useTitles } from '../overview/title-cell.tsx';
import { Columns } from '../parts/columns.tsx';
import { Panel, quoted, Waiting } from '../parts/panel.tsx';
import { MarketName, Num, PlatformName, Price, Time, Usd } from '../parts/show.tsx';
import { idOf, marketAddress } from '../parts/url.ts';
import { WatchStar } from '../parts/wallets/watched.tsx';

const LIMIT = 50;
const WALLET = '/v1/api/wallets/{address}';
const paramsOf = (address: string) => ({ address, top_markets: LIMIT });

/** One wallet: what it traded and holds. */
export function WalletPage({ id: given }: { id: string }) {
  const address = given.toLowerCase();
  const asked = useApi(WALLET, paramsOf(address), SLOW_MS);
  const wallet = asked.data?.wallet;
  const name = wallet?.names[0];
  useEffect(() => {
    document.title = `${name ?? address} · Forecastle`;
  }, [name, address]);
  return (
    <div class="market">
      <header class="market-head">
        <div class="market-name">
          <p class="sub muted">Wallet</p>
          <h1>
            <bdi>{name ?? address}</bdi> <WatchStar address={address} />
          </h1>
          {name !== undefined && (
            <p class="sub muted">
              <bdi>{[...(wallet?.names.slice(1) ?? []), address].join(', ')}</bdi>
            </p>
          )}
        </div>
        {wallet ? (
          <ul class="outcomes" aria-label="Stored trades of this wallet">
            <li>
              <span class="name">Trades</span>
              <Num value={wallet.trades} />
            </li>
            <li>
              <span class="name">Traded</span>
              <Usd value={wallet.volume_usd} />
            </li>
            <li>
              <span class="name">Markets</span>
              <Num value={wallet.markets} />
            </li>
            <li>
              <span class="name">Last trade</span>
              <Time at={wallet.last_trade_at} relative />
            </li>
          </ul>
        ) : (
          <Waiting of={asked} />
        )}
      </header>
      <div class="wallet-main">
        <Trades address={address} />
        <Positions address={address} />
      </div>
      <Traded address={address} asked={asked} />
    </div>
  );
}

function Trades({ address }: { address: string }) {
  const params = { address, limit: LIMIT };
  const asked = useApi('/v1/api/wallets/{address}/trades', params, SLOW_MS);
  const trades = asked.data?.trades ?? [];
  const titles = useTitles(trades);
  const sql = `SELECT executed_at, platform, market_key, outcome, side, price, size, notional\nFROM v_trades\nWHERE trader = ${quoted(address)}\nORDER BY executed_at DESC\nLIMIT ${LIMIT}`;
  return (
    <Panel title="Trades" query={{ path: '/v1/api/wallets/{address}/trades', params, sql }} of={asked}>
      {trades.length === 0 ? (
        <Waiting of={asked} empty="The platforms show no trade of this wallet." />
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Trades of this wallet">
          <table>
            <Columns of={['When', 'Market', 'Trade', ['Price', 'number'], ['Size', 'number wide']]} />
            <tbody>
              {trades.map((trade) => (
                <tr key={`${trade.platform} ${trade.trade_id}`}>
                  <td class="muted nowrap">
                    <Time at={trade.timestamp} relative />
                  </td>
                  <td class="cut lines-2">
                    <PlatformName platform={trade.platform} />{' '}
                    <a href={marketAddress(`${trade.platform}:${trade.market_id}`)}>
                      <Title of={trade} titles={titles} />
                    </a>
                  </td>
                  <td class={`nowrap ${trade.side === 'buy' ? 'up' : 'down'}`}>
                    {trade.side} <bdi>{trade.label || trade.outcome}</bdi>
                  </td>
                  <td class="number">
                    <Price value={trade.price} still />
                  </td>
                  <td class="number wide">
                    <Num value={trade.size} compact />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="foot muted">As the platforms show them now, at most {LIMIT}.</p>
    </Panel>
  );
}

interface TitleProps {
  of: { platform: string; market_id: string; title: string };
  titles: ReturnType<typeof useTitles>;
}

/** A market's title, after the text that distinguishes it from other markets of its list. */
function Title({ of, titles: { marketOf, apart } }: TitleProps) {
  const id = idOf(of);
  const title = of.title || of.market_id;
  return <MarketName title={title} metadata={marketOf(id)?.metadata} room={ROOM} apart={apart.get(id)} />;
}

const UNSTATED = 'The platform does not state it';

function Positions({ address }: { address: string }) {
  const params = { address, limit: LIMIT };
  const asked = useApi('/v1/api/wallets/{address}/positions', params, SLOW_MS);
  const positions = asked.data?.positions ?? [];
  const titles = useTitles(positions);
  return (
    <Panel title="Positions" query={{ path: '/v1/api/wallets/{address}/positions', params }} of={asked}>
      {positions.length === 0 ? (
        <Waiting of={asked} empty="The platforms show no position of this wallet." />
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Positions of this wallet">
          <table>
            <Columns
              of={[
                'Market',
                ['Shares', 'number wide'],
                ['Paid', 'number wide'],
                ['Now', 'number wide'],
                ['Value', 'number'],
                ['Profit', 'number'],
              ]}
            />
            <tbody>
              {positions.map((one) => (
                <tr key={`${one.platform} ${one.token_id}`}>
                  <td class="cut lines-2">
                    <PlatformName platform={one.platform} />{' '}
                    <a href={marketAddress(`${one.platform}:${one.market_id}`)}>
                      <bdi class="own">{one.label}</bdi>
                      <span class="muted"> · </span>
                      <Title of={one} titles={titles} />
                    </a>
                  </td>
                  <td class="number wide">
                    <Num value={one.shares_normalized} compact />
                  </td>
                  <td class="number wide">
                    <Price value={one.average_price} still />
                  </td>
                  <td class="number wide">
                    <Price value={one.current_price} />
                  </td>
                  <td class="number">
                    <Usd value={one.value_usd} why={UNSTATED} />
                  </td>
                  <td class={`number ${(one.pnl_usd ?? 0) < 0 ? 'down' : 'up'}`}>
                    <Usd value={one.pnl_usd} why={UNSTATED} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {asked.data?.meta.errors.map(({ platform, message }) => (
        <p key={platform} class="foot warn">
          <PlatformName platform={platform} /> could not be read: {message}
        </p>
      ))}
    </Panel>
  );
}

/** The markets in which a wallet traded most, from stored trades. */
function Traded({ address, asked }: { address: string; asked: Loaded<Answers[typeof WALLET]> }) {
  const rows = asked.data?.top_markets ?? [];
  const titles = useTitles(rows);
  const sql = `SELECT id, any(title) AS name, count() AS trades, sum(notional) AS usd, max(executed_at) AS last_trade_at
FROM v_trades
INNER JOIN v_markets USING (market_key)
WHERE trader = ${quoted(address)}
GROUP BY id
ORDER BY usd DESC, id
LIMIT ${LIMIT}`;
  return (
    <Panel title="Markets" query={{ path: WALLET, params: paramsOf(address), sql }} of={asked}>
      {rows.length === 0 ? (
        <Waiting of={asked} empty="No trade of this wallet is stored." />
      ) : (
        <table>
          <Columns of={['Market', ['Trades', 'number'], ['Traded', 'number'], ['Last trade', 'number']]} />
          <tbody>
            {rows.map(({ trades, volume_usd: usd, last_trade_at: last, ...market }) => (
              <tr key={market.id}>
                <td class="cut lines-2">
                  <PlatformName platform={market.platform} />{' '}
                  <a href={marketAddress(market.id)}>
                    <Title of={market} titles={titles} />
                  </a>
                </td>
                <td class="number">
                  <Num value={trades} />
                </td>
                <td class="number">
                  <Usd value={usd} />
                </td>
                <td class="number muted">
                  <Time at={last} relative />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

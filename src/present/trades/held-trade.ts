import { storeKey } from '../rows.ts';

/** A trade as pages show it. */
export interface HeldTrade {
  trade_id: string;
  side: 'buy' | 'sell';
  outcome: string;
  outcome_index: number;
  transaction_hash: string;
  price: string;
  size: string;
  quote_usd: string | null;
  series_price: string;
  executed_at_us: number;
  /** `trade_order` of ClickHouse. */
  trade_order: string;
  is_block: boolean;
  wallet: string;
  /** null if the wallet has no stored name. */
  trader: { name: string; pseudonym: string; profile_image: string } | null;
}

/** The columns of a trade in the statement of `heldTape`. */
export type TradeColumns = [
  idTx: string,
  id: string,
  tx: string | null,
  side: 'buy' | 'sell',
  outcome: string,
  outcomeIndex: number,
  price: string,
  size: string,
  quoteUsd: string | null,
  seriesPrice: string,
  executedUs: number,
  order: string,
  isBlock: boolean,
  wallet: string | null,
  name: string | null,
  pseudonym: string | null,
  profileImage: string | null,
];

/** `\x…`, PostgreSQL's text of bytes, as 0x…; '' for none. */
const hexText = (bytes: string | null): string => (bytes === null || bytes === '\\x' ? '' : `0x${bytes.slice(2)}`);

export function toTrade(columns: TradeColumns): HeldTrade {
  const [
    idTx,
    id,
    tx,
    side,
    outcome,
    index,
    price,
    size,
    quote,
    series,
    us,
    order,
    isBlock,
    wallet,
    name,
    pseudonym,
    image,
  ] = columns;
  const hash = hexText(idTx);
  return {
    trade_id: hash === '' ? id : `${hash}-${id}`,
    side,
    outcome,
    outcome_index: index,
    transaction_hash: hash === '' ? hexText(tx) : hash,
    price,
    size,
    quote_usd: quote,
    series_price: series,
    executed_at_us: us,
    trade_order: storeKey(order),
    is_block: isBlock,
    wallet: hexText(wallet),
    trader: name === null ? null : { name, pseudonym: pseudonym ?? '', profile_image: image ?? '' },
  };
}

import type { JsonObject } from '../../core/model.ts';
import type { LimitlessMarket } from './wire.ts';

/** A price of an asset as the platform writes it; null for "---" and other texts. */
const assetPrice = (text: string | null | undefined): number | null =>
  text?.trim() && Number.isFinite(Number(text)) ? Number(text) : null;

/** What the asset's price is compared with: its price at the start, as the row states it, else the strike in the list of slugs. */
export function strikeOf({ metadata }: LimitlessMarket, listedStrike: string | undefined): { strike?: JsonObject } {
  const [open, price] = [assetPrice(metadata?.openPrice), assetPrice(listedStrike)];
  if (open !== null) return { strike: { open_price: open } };
  return price === null ? {} : { strike: { price } };
}

/** The asset whose oracle price settles the market; '' if its row names none. */
export const oracleSymbol = ({ priceOracleMetadata: oracle, metadata }: LimitlessMarket): string =>
  oracle?.chainlinkPair || metadata?.chainlinkDataStream?.pair || '';

/** Whether a price settles the market, and its row does not state which. */
export const lacksStrike = (market: LimitlessMarket): boolean =>
  oracleSymbol(market) !== '' && assetPrice(market.metadata?.openPrice) === null;

import { crc32 } from 'node:zlib';
import { priceText, sizeText } from '../core/decimal.ts';
import type { BookLevel, BookSide } from '../core/model.ts';

const CHECKED_LEVELS = 10;

const text = (levels: readonly BookLevel[]): string =>
  levels
    .slice(0, CHECKED_LEVELS)
    .map(({ price, size }) => `${priceText(price)}:${sizeText(size)}`)
    .join(',');

/**
 * CRC32 of the ten best levels of each side, best first: `price:size` joined by commas, bids and asks joined by `|`, numbers as
 * decimals without exponent or trailing zeros, such as `0.41:20,0.4:3|0.43:7.5`.
 */
export const bookChecksum = ({ bids, asks }: BookSide): number => crc32(`${text(bids)}|${text(asks)}`);

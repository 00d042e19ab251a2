import { dirtyOf } from '../contract/dirty.ts';
import { polymarketDirt } from './dirt.ts';

dirtyOf('polymarket', polymarketDirt);

import { systemClock } from '../../../src/core/time.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';
import { dirtyOf } from '../contract/dirty.ts';
import { polymarketDirt } from './dirt.ts';

waitsInRealTime('ingestion runs every second beside the requests');

dirtyOf('polymarket', polymarketDirt, systemClock);

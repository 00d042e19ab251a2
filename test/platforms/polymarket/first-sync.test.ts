import { waitsInRealTime } from '../../helpers/real-time.ts';
import { firstSyncOf } from '../contract/first-sync.ts';

waitsInRealTime('ingestion runs every second beside the requests');

firstSyncOf('polymarket');

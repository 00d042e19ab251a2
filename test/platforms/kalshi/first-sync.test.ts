import { firstSyncOf } from '../contract/first-sync.ts';

firstSyncOf('kalshi');

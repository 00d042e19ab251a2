import type { TradeCopier } from '../../src/present/trades/copier.ts';
import { TradeInserts } from '../../ingest/spool/trade-inserts.ts';
import { TradeWriter, type TradeWriterDeps } from '../../ingest/trade-writer.ts';

const nothing = async (): Promise<void> => {};

/** Copies nothing. */
export const noCopier: Pick<TradeCopier, 'stored' | 'missed' | 'named' | 'moved' | 'gapsMoved'> = {
  stored: nothing,
  missed: () => {},
  named: nothing,
  moved: nothing,
  gapsMoved: nothing,
};

/** For reads of trades of which nobody is informed. */
export const noListeners = { onTradesStored: nothing, onAllStored: nothing };

type Needed = 'clock' | 'clickhouse' | 'spool' | 'log' | 'platform';

/** A writer with inserts of its own. Without the other parts it logs no events, copies nothing and informs nobody. */
export const tradeWriter = (deps: Pick<TradeWriterDeps, Needed> & Partial<TradeWriterDeps>): TradeWriter =>
  new TradeWriter({
    inserts: new TradeInserts({ ...deps, isUrgent: () => false }),
    events: { open: nothing, eventsOf: async () => [], append: nothing, reconcile: nothing },
    onStored: () => {},
    copier: noCopier,
    ...deps,
  });

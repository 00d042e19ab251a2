import { refuse } from './wire.ts';

/** normal | post_only (only postOnly creates) | cancel_only | disabled (even cancelling is blocked). */
export type TradingMode = 'normal' | 'post_only' | 'cancel_only' | 'disabled';

/** The platform's announced state of trading; a test sets it. */
export class Maintenance {
  mode: TradingMode = 'normal';
  /** The documentation names both answers for a blocked order. */
  status: 425 | 503 = 425;

  /** GET /maintenance/status. */
  body() {
    if (this.mode === 'normal') return { active: [], scheduled: [] };
    const window = {
      startsAt: '2026-10-01T00:00:00.000Z',
      endsAt: null,
      publicMessage: 'Trading is limited while the matching engine is upgraded.',
      effects: [{ target: 'trading', mode: this.mode }],
    };
    return { active: [window], scheduled: [] };
  }

  refuseCreate(isPostOnly: boolean): void {
    this.refuseCancel();
    if (this.mode === 'cancel_only')
      throw refuse(this.status, 'Only cancellations are accepted', { code: 'cancel_only_mode' });
    if (this.mode === 'post_only' && !isPostOnly) {
      throw refuse(this.status, 'Only post-only orders are accepted', { code: 'post_only_mode' });
    }
  }

  refuseCancel(): void {
    if (this.mode === 'disabled') throw refuse(this.status, 'Trading is disabled', { code: 'trading_disabled' });
  }
}

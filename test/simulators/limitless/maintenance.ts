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
}

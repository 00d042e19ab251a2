import type { z } from 'zod';
import type { Platform } from '../core/model.ts';
import { KalshiFields } from './kalshi/credential.ts';
import { LimitlessFields } from './limitless/credential.ts';
import { PolymarketFields } from './polymarket/credential.ts';

/** The signing credentials of each platform, as given by users; errors name what to fix. */
export const CredentialFields = {
  kalshi: KalshiFields,
  polymarket: PolymarketFields,
  limitless: LimitlessFields,
} satisfies Record<Platform, z.ZodType>;

/** The fields of a platform's credential after validation, as stored. */
export type CredentialOf<P extends Platform> = z.output<(typeof CredentialFields)[P]>;

import { z } from 'zod';
import { PLATFORM_NAMES, PLATFORMS, VOLUME_BASIS } from '../core/model.ts';
import { listText } from '../core/text.ts';

const counting = PLATFORMS.filter((platform) => VOLUME_BASIS[platform] === 'contracts');

/** The unit of volumes, for descriptions. */
export const VOLUME_UNIT =
  counting.length === 0
    ? 'USD'
    : `contracts on ${listText(
        counting.map((platform) => PLATFORM_NAMES[platform]),
        'and',
      )}, USD elsewhere`;

/** A volume in USD. */
export const usdVolume = (window: string) =>
  z
    .number()
    .nullable()
    .describe(
      `USD traded ${window}: Σ price × size of the stored trades where all are stored, else the USD that the platform reports; null when neither is known`,
    );
/** What a volume in USD is made of. */
export const usdBasis = z
  .enum(['traded', 'reported'])
  .nullable()
  .describe('traded: the stored trades add up to it. reported: the platform states it. null: not known');

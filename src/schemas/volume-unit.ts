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

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Platform } from '../core/model.ts';
import type { BadRow, PlatformData, ReadContext } from '../platforms/contract.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** An event without an image is asked for again after this. */
const KEPT_MS = 86_400_000;
/** How long a market that was just listed may wait in the store for its event's image. */
const WRITE_MS = 60_000;
/** How long a caller waits for an image. */
const WAIT_MS = 1000;

const Row = z.object({ image_url: z.string() });

/**
 * The image of an event's markets where the listing brings none, '' where the platform has none: read once, then kept
 * with each of them. Callers in any process share one request.
 */
export async function eventImage(
  { clickhouse, shared }: { clickhouse: ClickHouse; shared: Shared },
  data: PlatformData,
  eventId: string,
  context: ReadContext,
): Promise<string> {
  const { platform } = data;
  if (!data.eventImage || eventId === '') return '';
  const read = data.eventImage.bind(data);
  const { value } = await shared.cached(`event-image:${platform}:${eventId}`, KEPT_MS, async () => {
    const [stored] = await clickhouse.query('event_image', Row, { platform, event_id: eventId });
    return stored?.image_url || read(eventId, context);
  });
  // A market that was listed since has none yet; a minute of requests for one event writes once.
  if (value !== '') {
    await shared.cached(`event-image-kept:${platform}:${eventId}`, WRITE_MS, async () => {
      for (const table of ['markets', 'events']) {
        await clickhouse.run('keep_event_image', { table, platform, event_id: eventId, image_url: value });
      }
      return true;
    });
  }
  return value;
}

interface Services {
  clickhouse: ClickHouse;
  shared: Shared;
  platforms: Partial<Record<Platform, PlatformData>>;
  onBadRow: (row: BadRow) => void;
  log: { warn(details: object, message: string): void };
}

/** The image of an event whose listing has none, if it comes in time; a later answer has it. `user` asked for it. */
export async function eventImageInTime(
  services: Services,
  platform: Platform,
  eventId: string,
  user: string,
): Promise<string> {
  const data = services.platforms[platform];
  if (!data?.eventImage) return '';
  const context = { priority: 'live', user, onBadRow: services.onBadRow } as const;
  const image = eventImage(services, data, eventId, context).catch((error: unknown) => {
    services.log.warn({ err: error, platform, eventId }, 'Failed to read the image of an event');
    return '';
  });
  return Promise.race([image, sleep(WAIT_MS, '', { ref: false })]);
}

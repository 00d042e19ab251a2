import { z } from 'zod';
import { type Clock, DAY_MS } from '../core/time.ts';
import type { Platform } from '../core/model.ts';
import { type BadRow, type PlatformData, type ReadContext, liveRead } from '../platforms/contract.ts';
import type { Projector } from '../present/projector.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { refsOf } from '../stores/clickhouse/refs.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** After this an event without an image is requested again. */
const KEPT_MS = DAY_MS;
/** How long a newly listed market may wait in the store for its event's image. */
const WRITE_MS = 60_000;
/** How long a caller waits for an image. */
const WAIT_MS = 1000;

const Row = z.object({ image_url: z.string() });

/** The image of an event whose listing has none, '' if there is none: read once for all processes, and stored with its markets. */
export async function eventImage(
  { clickhouse, shared, present }: { clickhouse: ClickHouse; shared: Shared; present: Pick<Projector, 'copyNow'> },
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
  // Markets listed since then have none yet; concurrent requests within a minute write once.
  if (value !== '') {
    await shared.cached(`event-image-kept:${platform}:${eventId}`, WRITE_MS, async () => {
      for (const table of ['markets', 'events']) {
        await clickhouse.run('keep_event_image', { table, platform, event_id: eventId, image_url: value });
      }
      // Lists show it from now on.
      await present.copyNow(platform, await refsOf(clickhouse, 'event_refs', { platform, event_id: eventId }));
      return true;
    });
  }
  return value;
}

interface Services {
  clickhouse: ClickHouse;
  shared: Shared;
  present: Pick<Projector, 'copyNow'>;
  platforms: Partial<Record<Platform, PlatformData>>;
  onBadRow: (row: BadRow) => void;
  clock: Clock;
  log: { warn(details: object, message: string): void };
}

/** The image of an event whose listing has none, if it arrives in time; a later call gets it. `user` is the requester. */
export async function eventImageInTime(
  services: Services,
  platform: Platform,
  eventId: string,
  user: string,
): Promise<string> {
  const data = services.platforms[platform];
  if (!data?.eventImage) return '';
  const context = liveRead(services, user);
  const image = eventImage(services, data, eventId, context).catch((error: unknown) => {
    services.log.warn({ err: error, platform, eventId }, 'Failed to read the image of an event');
    return '';
  });
  return Promise.race([image, services.clock.late(WAIT_MS).then(() => '')]);
}

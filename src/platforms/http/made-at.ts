import type { PlatformReply } from './request.ts';

/** How old an answer was when it was received, as a cache before the platform states it, ms; 0 if none does. */
export function statedAgeMs({ headers }: Pick<PlatformReply, 'headers'>): number {
  const { age = '' } = headers;
  return typeof age === 'string' && /^\d{1,8}$/.test(age) ? Number(age) * 1000 : 0;
}

/** When the platform made an answer, ISO time: earlier than its receipt if a cache kept it. */
export const madeAt = ({ receivedAt, ageMs }: { receivedAt: string; ageMs: number }): string =>
  ageMs === 0 ? receivedAt : new Date(Date.parse(receivedAt) - ageMs).toISOString();

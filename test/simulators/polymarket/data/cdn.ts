import type { SimReply } from '../../lib/index.ts';

/** Seconds that the CDN keeps a reply of a /v2 route; the others are not kept. */
const MAX_AGE_SEC: Record<string, number> = { trades: 300, oi: 300, holders: 120, activity: 15, positions: 5 };
const LONGEST_MS = 1000 * Math.max(...Object.values(MAX_AGE_SEC));
/** The oldest replies are dropped beyond these: a reader that makes each URL unique fills the CDN with replies that nobody asks again. */
const MOST_REPLIES = 5000;
const MOST_CHARS = 16 * 1024 * 1024;

/** The CDN in front of the Data API: replies by their whole URL, whatever the request's headers ask for. */
export class Cdn {
  private readonly kept = new Map<string, { reply: SimReply; atMs: number }>();
  private chars = 0;

  /** Characters of the bodies that are kept. */
  get size(): number {
    return this.chars;
  }

  /** The kept reply with its age and its old trace id, else a new one. */
  serve(target: string, nowMs: number, answer: () => SimReply): SimReply {
    const maxAge = MAX_AGE_SEC[/\/v2\/([\w-]+)(\?|$)/.exec(target)?.[1] ?? ''];
    if (maxAge === undefined) return answer();
    const known = this.kept.get(target);
    if (known && nowMs - known.atMs < maxAge * 1000) {
      const age = String(Math.floor((nowMs - known.atMs) / 1000));
      return withHeaders(known.reply, { age, 'x-cache': 'Hit from cloudfront' });
    }
    const reply = withHeaders(answer(), { 'cache-control': `public, max-age=${maxAge}` });
    this.forget(target);
    this.kept.set(target, { reply, atMs: nowMs });
    this.chars += reply.body.length;
    for (const [oldest, { atMs }] of this.kept) {
      const isOver = nowMs - atMs >= LONGEST_MS;
      if (!isOver && this.kept.size <= MOST_REPLIES && this.chars <= MOST_CHARS) break;
      this.forget(oldest);
    }
    return withHeaders(reply, { 'x-cache': 'Miss from cloudfront' });
  }

  private forget(target: string): void {
    this.chars -= this.kept.get(target)?.reply.body.length ?? 0;
    this.kept.delete(target);
  }
}

const withHeaders = (reply: SimReply, headers: Record<string, string>): SimReply => ({
  ...reply,
  headers: { ...reply.headers, ...headers },
});

import { createBucket, json, type SimReply, type SimRequest } from '../lib/index.ts';

export interface LimitRules {
  /** Requests of one caller under way at once. */
  concurrent: number;
  /** Least time between the starts of two calls of one caller. */
  spacingMs: number;
  /** A call may come this much early as long as the average keeps the spacing: a busy machine bunches them. */
  slackMs: number;
  /** Look-ups of profiles by anybody; more of them are taken for scraping. */
  profilesPerMinute: number;
}

export const DOCUMENTED_LIMITS: LimitRules = { concurrent: 2, spacingMs: 300, slackMs: 200, profilesPerMinute: 10 };

const CLOUDFLARE_PAGE =
  '<!doctype html><html><head><title>Access denied | api.limitless.exchange used Cloudflare to restrict access</title></head>' +
  '<body><h1>Error 1015</h1><p>You are being rate limited</p><p>error code: 1015</p></body></html>';

/** Counts a token's calls, and those without a token together. Real time, whatever the world's clock says. */
export class CallLimits {
  enforced = true;
  private readonly rules: LimitRules;
  private readonly callers = new Map<string, { underWay: number; nextStart: number }>();

  private readonly profiles;

  constructor(rules: LimitRules) {
    this.rules = rules;
    this.profiles = createBucket({ capacity: rules.profilesPerMinute, refillPerSecond: rules.profilesPerMinute / 60 });
  }

  /** Runs the call, or answers 429: JSON to a token, Cloudflare's page to everybody else. */
  async admit(request: SimRequest, run: () => SimReply | Promise<SimReply>): Promise<SimReply> {
    if (!this.enforced) return run();
    if (request.path.startsWith('/profiles/') && !this.profiles.take(1)) return tooMany(false);
    const token = request.headers['lmts-api-key'] ?? '';
    const caller = this.callers.get(token) ?? { underWay: 0, nextStart: 0 };
    this.callers.set(token, caller);
    const now = performance.now();
    const { concurrent, spacingMs, slackMs } = this.rules;
    if (caller.underWay >= concurrent || now < caller.nextStart - slackMs) return tooMany(token !== '');
    caller.nextStart = Math.max(now, caller.nextStart) + spacingMs;
    caller.underWay += 1;
    try {
      return await run();
    } finally {
      caller.underWay -= 1;
    }
  }
}

const tooMany = (hasToken: boolean): SimReply =>
  hasToken
    ? json(429, { message: 'Too many requests', statusCode: 429 })
    : { status: 429, body: CLOUDFLARE_PAGE, headers: { 'content-type': 'text/html; charset=UTF-8' } };

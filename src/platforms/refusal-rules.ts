import type { ApiError, PlatformError } from '../core/errors.ts';
import { codeOf } from './http/errors.ts';
import { orderRefused } from './failed-placement.ts';

/** A refusal before an order is signed, because the platform would reject it or cannot express it. */
export interface CheckRule {
  message: string;
  /** What to do; accepted values are added if they depend on the order. */
  resolution: string;
}

/** What a platform says when it rejects an order, and what the caller can do. */
interface RejectionRule {
  /** The platform's words, as docs/orders.md lists them. */
  says: string;
  /** Found in the platform's code or text. */
  pattern: RegExp;
  /** What the caller can do. `{name}` stands for the pattern's group of that name. */
  resolution: string;
}

/** key: the credential or the clock was rejected. order: the order was. The most specific rules come first, and the last match any text. */
export type RejectionRules = Readonly<Record<'key' | 'order', readonly RejectionRule[]>>;

/** The 422 of a rule; `values` lists what is accepted. */
export const refusedBy = ({ message, resolution }: CheckRule, errorText = '', values = ''): ApiError =>
  orderRefused(message, values === '' ? `${resolution}.` : `${resolution}: ${values}.`, errorText);

/** Advice on a rejection: by what was rejected, then by the first rule whose words the platform uses. */
export function adviceOf(rules: RejectionRules, { kind, body, detail }: PlatformError): string {
  const said = `${codeOf(body)} ${detail}`;
  const rule = rules[kind === 'unauthorized' ? 'key' : 'order'].find(({ pattern }) => pattern.test(said));
  return rule ? withFacts(rule.resolution, rule.pattern.exec(said)?.groups ?? {}) : '';
}

/** `{name}` in a text becomes the fact of that name. */
export const withFacts = (text: string, facts: Record<string, string | undefined>): string =>
  text.replaceAll(/\{(\w+)\}/g, (all, name: string) => facts[name] ?? all);

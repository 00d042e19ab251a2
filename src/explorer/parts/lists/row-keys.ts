import type { RefObject } from 'preact';
import { useKeys } from '../keys.ts';

const STEPS: Partial<Record<string, number>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

/** `j`, `k` and the arrows move the focus over the links of class `row-link` in a list, so that Enter opens one. */
export function useRowKeys(box: RefObject<HTMLElement | null>): void {
  useKeys((event) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const links = [...(box.current?.querySelectorAll<HTMLElement>('a.row-link') ?? [])];
    const at = links.findIndex((link) => link === document.activeElement);
    links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
  });
}

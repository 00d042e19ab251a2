import { useEffect, useRef } from 'preact/hooks';

/** If no heading appears within this time, the focus stays where it is. */
const PATIENCE_MS = 10_000;

/**
 * Moves the focus to the heading of the page at `path` once it is rendered: screen readers announce it, and Tab continues from there.
 * The first page keeps the focus, and so does a page on which the user or the page itself has moved it since.
 */
export function useFocusOnHeading(path: string): void {
  const last = useRef(path);
  const focused = useRef<Element | null>(null);
  // Recorded before the page renders, so that a focus set by the page itself is kept.
  if (last.current !== path) focused.current = document.activeElement;
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    const main = document.querySelector('main');
    if (!main) return;
    const isElsewhere = (): boolean => ![document.body, main, focused.current].includes(document.activeElement);
    const seen = new MutationObserver(() => take());
    const end = setTimeout(() => seen.disconnect(), PATIENCE_MS);
    const take = (): void => {
      const heading = main.querySelector('h1');
      if (!heading && !isElsewhere()) return;
      seen.disconnect();
      clearTimeout(end);
      if (!heading || isElsewhere()) return;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    };
    seen.observe(main, { childList: true, subtree: true });
    take();
    return () => {
      seen.disconnect();
      clearTimeout(end);
    };
  }, [path]);
}

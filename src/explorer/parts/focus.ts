import { useEffect, useRef } from 'preact/hooks';

/** A page that has no heading by then leaves the focus where it is. */
const PATIENCE_MS = 10_000;

/**
 * Puts the focus on the heading of the page at `path` once it is drawn: it is read aloud, and Tab goes on from there. Not on the first
 * page, nor where the page, or the reader, put the focus elsewhere meanwhile.
 */
export function useFocusOnHeading(path: string): void {
  const last = useRef(path);
  const focused = useRef<Element | null>(null);
  // Before the page is drawn: what it puts the focus on is its own choice.
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

import { useLayoutEffect, useRef } from 'preact/hooks';

/** Whether a key goes into a field: then it is no command. */
const isTyping = ({ target }: Event): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Calls `press` with each key pressed on the page, except in a field or with Control, Alt or Meta. */
export function useKeys(press: (event: KeyboardEvent) => void): void {
  const latest = useRef(press);
  latest.current = press;
  // Before the page is painted: who sees it may press a key at once.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (!isTyping(event) && !event.metaKey && !event.ctrlKey && !event.altKey) latest.current(event);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

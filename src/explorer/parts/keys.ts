import { useLayoutEffect, useRef } from 'preact/hooks';

/** Whether a key goes to an input field and so is not a shortcut. A field of one line has no use for arrows up and down. */
function isTyping({ target, key }: KeyboardEvent): boolean {
  if (target instanceof HTMLInputElement && target.type === 'search') return !/^Arrow(Up|Down)$/.test(key);
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Calls `press` for each key pressed on the page, except in a field, behind an open dialog, or with Control, Alt or Meta. */
export function useKeys(press: (event: KeyboardEvent) => void): void {
  const latest = useRef(press);
  latest.current = press;
  // A layout effect listens before the page is painted, so that no key pressed on a visible page is missed.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      if (!document.querySelector('dialog[open]')) latest.current(event);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

/** The user's choice of theme, else the system's. */
type Theme = 'light' | 'dark';
const KEPT = 'explorer-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

export const theme = (): Theme => {
  const { theme: chosen } = document.documentElement.dataset;
  return chosen === 'light' || chosen === 'dark' ? chosen : system.matches ? 'dark' : 'light';
};

/** Applies a choice, and stores one that differs from the system's for first-theme.ts to restore; else follows the system again. */
export function chooseTheme(chosen: Theme): void {
  const isSystems = chosen === (system.matches ? 'dark' : 'light');
  if (isSystems) delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
  try {
    if (isSystems) localStorage.removeItem(KEPT);
    else localStorage.setItem(KEPT, chosen);
  } catch {
    // Storage is blocked or full: the choice holds until the page is loaded again.
  }
  dispatchEvent(new Event('explorer:theme'));
}

/** Calls `changed` when the colours change, because canvases do not follow style sheets. Returns a function that stops it. */
export function onTheme(changed: () => void): () => void {
  addEventListener('explorer:theme', changed);
  system.addEventListener('change', changed);
  return () => {
    removeEventListener('explorer:theme', changed);
    system.removeEventListener('change', changed);
  };
}

/** A colour of the style sheet, by its custom property without `--`. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** The reader's choice of light or dark; without one, the system's. */
type Theme = 'light' | 'dark';
const KEPT = 'explorer-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

export const theme = (): Theme => {
  const { theme: chosen } = document.documentElement.dataset;
  return chosen === 'light' || chosen === 'dark' ? chosen : system.matches ? 'dark' : 'light';
};

/** Keeps a choice that differs from the system's; the other one follows the system again. first-theme.ts restores it. */
export function chooseTheme(chosen: Theme): void {
  if (chosen === (system.matches ? 'dark' : 'light')) {
    delete document.documentElement.dataset['theme'];
    localStorage.removeItem(KEPT);
  } else {
    document.documentElement.dataset['theme'] = chosen;
    localStorage.setItem(KEPT, chosen);
  }
  dispatchEvent(new Event('explorer:theme'));
}

/** Calls back when colours change: canvases do not follow style sheets. Returns how to stop. */
export function onTheme(changed: () => void): () => void {
  addEventListener('explorer:theme', changed);
  system.addEventListener('change', changed);
  return () => {
    removeEventListener('explorer:theme', changed);
    system.removeEventListener('change', changed);
  };
}

/** A colour of the style sheet, by its name there. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

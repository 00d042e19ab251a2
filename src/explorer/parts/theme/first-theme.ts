// Restores the theme chosen through theme.ts. Runs before the modules and the first paint, so that no page flashes in the other colours.
// No imports: this is a classic script.
try {
  const kept = localStorage.getItem('explorer-theme');
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset['theme'] = kept;
} catch {
  // The browser blocks storage: the page follows the system.
}

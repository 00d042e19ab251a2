// Runs before the first paint, ahead of the modules: the reader's choice of theme.ts, so that no page flashes in the other colours. It
// imports nothing, because it is no module.
const kept = localStorage.getItem('explorer-theme');
if (kept === 'light' || kept === 'dark') document.documentElement.dataset['theme'] = kept;

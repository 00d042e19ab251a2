import { useEffect, useReducer } from 'preact/hooks';
import { Choice } from '../panel.tsx';
import { choosePrefs, prefs, PREFS_CHANGED, PRICES, TIMES } from './prefs.ts';

/** A text that changes with the preferences. */
export function usePrefsKey(): string {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const hear = (): void => redraw(0);
    addEventListener(PREFS_CHANGED, hear);
    return () => removeEventListener(PREFS_CHANGED, hear);
  }, []);
  return Object.values(prefs()).join(' ');
}

/** How prices and times are shown. */
export function PrefsMenu() {
  usePrefsKey();
  const { prices, times } = prefs();
  return (
    <details class="prefs">
      <summary title="How prices and times are shown">Aa</summary>
      <div class="panel panel-body">
        <Choice label="Prices" value={prices} options={PRICES} onChange={(value) => choosePrefs({ prices: value })} />
        <Choice label="Times" value={times} options={TIMES} onChange={(value) => choosePrefs({ times: value })} />
      </div>
    </details>
  );
}

/** The service with budgets that never run out, as one program: what `unmetered.ts` changes is in its bundle. */
import './unmetered.ts';
import '../../src/main.ts';

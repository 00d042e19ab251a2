import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { filled, rowsOf, startWholeService } from '../helpers/whole-service.ts';
import { shareQuestions } from '../simulators/shared-questions.ts';
import { accountExamples } from './account.ts';
import { dataExamples, healthExample, tradedMarket } from './data.ts';
import { createCaller, FOLDER } from './service.ts';

const HELP = `npm run examples
Writes the examples of the API's description, src/http/openapi/examples, from the answers of a service over simulated platforms.
Bodies of requests are written by hand, and so are the answers that need a mail, Google, or a platform or store that fails:
resetPassword.200, finishGoogleLogin.200, placeOrder.202, getHealth.503.
`;

const [argument] = process.argv.slice(2);
if (argument !== undefined) {
  process.stdout.write(HELP);
  process.exitCode = argument === '--help' || argument === '-h' ? 0 : 1;
} else {
  const whole = await startWholeService({ SWEEP_SECONDS: '2', BACKFILL_DAYS: '3' });
  try {
    const [kalshi, polymarket, limitless] = whole.simulators;
    shareQuestions({ kalshi, polymarket, limitless });
    await filled(whole);
    await rowsOf(whole, `SELECT 1 FROM v_matches WHERE relation = 'identical'`);
    const caller = await createCaller(whole);
    const id = await tradedMarket(caller);
    await dataExamples(caller, whole, id);
    await healthExample(caller);
    await accountExamples(caller, whole, id);
    const prettier = fileURLToPath(import.meta.resolve('prettier/bin/prettier.cjs'));
    execFileSync(process.execPath, [prettier, '--write', '--log-level', 'warn', fileURLToPath(FOLDER)]);
  } finally {
    await whole.close();
  }
  process.exit();
}

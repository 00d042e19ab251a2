import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.ts';

const HELP = `npm run fuzz -- [--requests 100000] [--seed 1] [--hang-ms 2000]
Sends random requests on raw sockets to a service over simulated platforms. Fails on any 5xx beyond 502, 503 and 504 with the
error envelope, on an answer that takes longer than --hang-ms, and on growth of the heap. The same seed sends the same requests.
`;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    'hang-ms': { type: 'string', default: '2000' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else {
  const report = await fuzz({
    requests: Number(values.requests),
    seed: Number(values.seed),
    hangMs: Number(values['hang-ms']),
    onProgress: (done) => process.stderr.write(`\r${done} requests`),
  });
  process.stdout.write(`\n${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.faults.length > 0 ? 1 : 0;
}

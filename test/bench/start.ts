import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface StartResult {
  /** From the command to data of every platform, each time on an empty store. */
  demoMs: number[];
  /** A process of the same runtime that compiles and runs nothing of ours. */
  nodeMs: number;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Starts `npm run demo` again and again, as a user would; the first run may have to fill the cache of compiled TypeScript. */
export async function benchStart(times: number): Promise<StartResult> {
  const demoMs: number[] = [];
  for (let i = 0; i < times; i += 1) demoMs.push(await until('npm', ['run', 'demo'], /Forecastle is ready/));
  return { demoMs, nodeMs: await until(process.execPath, ['--import', 'tsx', '-e', 'console.log("up")'], /up/) };
}

/** Milliseconds until the command writes what is awaited; then it is ended. */
function until(command: string, args: string[], awaited: RegExp): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', SQL_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let tookMs: number | null = null;
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (tookMs !== null || !awaited.test(text)) return;
      tookMs = performance.now() - startedMs;
      child.kill('SIGINT');
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (tookMs === null) reject(new Error(`${command} ${args.join(' ')} ended (${code}) before it was ready`));
      else resolve(tookMs);
    });
  });
}

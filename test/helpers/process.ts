import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const sourceOf = (name: string): string => fileURLToPath(new URL(`../../src/${name}`, import.meta.url));
/** Runs a program as one module, which starts two seconds sooner than its files one by one. */
export const LAUNCHER = sourceOf('launch/run.mjs');
/** Instead of the service's own program: it may send faster than the platforms would allow. */
export const UNMETERED = fileURLToPath(new URL('../simulators/unmetered-service.ts', import.meta.url));

/** A service or a command in a process of its own, as an operator would start it. */
export interface ServiceProcess {
  pid: number;
  /** Resolves with the service's address ('' without one), or a command's URL, once it is ready; rejects when it ends before. */
  ready: Promise<string>;
  /** Everything it wrote. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code, or the signal's name. */
  ended: Promise<number | string>;
}

/** Starts `npm start`, `npm run api` or `npm run ingest` with these settings and no others; `preload` names modules by where they are from here. */
export function startProcess(
  role: 'all' | 'api' | 'ingest',
  env: Record<string, string>,
  { program = sourceOf('main.ts'), preload = [] }: { program?: string; preload?: readonly string[] } = {},
): ServiceProcess {
  // What is preloaded changes the modules of the sources, which a bundle has apart.
  const imports = preload.flatMap((name) => ['--import', new URL(name, import.meta.url).href]);
  const loader = preload.length > 0 ? ['--import', 'tsx', ...imports] : [LAUNCHER];
  // Flags and allocator as in package.json.
  return start(
    ['--max-semi-space-size=8', ...loader, program, role],
    { LOG_LEVEL: 'info', PORT: '0', SQL_PORT: 'off', MALLOC_ARENA_MAX: '2', ...env },
    (text) => {
      const line = /\{[^\n]*"msg":"ready"\}/.exec(text);
      return line && String((JSON.parse(line[0]) as { url: string }).url);
    },
  );
}

/** Starts `npm run clickhouse` or `npm run postgres` with these settings and no others. */
export function startStore(name: 'clickhouse' | 'postgres', env: Record<string, string>): ServiceProcess {
  return start(
    [LAUNCHER, sourceOf(`cli/${name}.ts`)],
    env,
    (text) => /^(?:CLICKHOUSE|DATABASE)_URL=(\S+)$/m.exec(text)?.[1] ?? null,
  );
}

/** Starts a command of src/cli that ends by itself, with these arguments and settings and no others. */
export const startCommand = (name: string, args: readonly string[], env: Record<string, string>): ServiceProcess =>
  start([LAUNCHER, sourceOf(`cli/${name}.ts`), ...args], env, () => null);

function start(
  args: string[],
  env: Record<string, string>,
  readyIn: (output: string) => string | null,
): ServiceProcess {
  const child: ChildProcess = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const ended = new Promise<number | string>((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  const ready = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      const url = readyIn(text);
      if (url !== null) resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    void ended.then((how) => reject(new Error(`it ended (${how}) before it was ready:\n${text.slice(-2000)}`)));
  });
  ready.catch(() => {});
  return { pid: child.pid ?? 0, ready, output: () => text, kill: (signal) => child.kill(signal), ended };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** A service in a process of its own, as an operator would start it. */
export interface ServiceProcess {
  /** Resolves with the API's address ('' without one) once the service says that it is ready; rejects when it ends before. */
  ready: Promise<string>;
  /** Everything it wrote. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code, or the signal's name. */
  ended: Promise<number | string>;
}

/** Starts `npm start`, `npm run api` or `npm run ingest` with these settings and no others; `preload` names modules beside this one. */
export function startProcess(
  role: 'all' | 'api' | 'ingest',
  env: Record<string, string>,
  preload: readonly string[] = [],
): ServiceProcess {
  const imports = preload.flatMap((name) => ['--import', new URL(name, import.meta.url).href]);
  const child: ChildProcess = spawn(
    process.execPath,
    ['--max-semi-space-size=64', '--initial-old-space-size=256', '--import', 'tsx', ...imports, MAIN, role],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        LOG_LEVEL: 'info',
        PORT: '0',
        SQL_PORT: 'off',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  const ended = new Promise<number | string>((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  const ready = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      const line = /\{[^\n]*"msg":"ready"\}/.exec(text);
      if (line) resolve(String((JSON.parse(line[0]) as { url: string }).url));
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    void ended.then((how) =>
      reject(new Error(`the service ended (${how}) before it was ready:\n${text.slice(-2000)}`)),
    );
  });
  ready.catch(() => {});
  return { ready, output: () => text, kill: (signal) => child.kill(signal), ended };
}

import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

let code: string | undefined;

/** The engine's program as one module with external packages: without the TypeScript loader the child saves 33 MB and 0.6 s. */
export function childCode(): string {
  code ??= compile();
  return code;
}

function compile(): string {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL('child.ts', import.meta.url))],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

let code: string | undefined;

/**
 * The program of the engine's process as one JavaScript module with external packages. Bundling saves the child the TypeScript
 * loader: 33 MB and 0.6 s.
 */
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

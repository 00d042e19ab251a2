import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { programName } from './program.mjs';

/** import.meta.url stays that of the source, so that files beside a source are found. */
const sourceUrls: Plugin = {
  name: 'source-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const url = JSON.stringify(pathToFileURL(path).href);
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', url) };
    });
  },
};

/**
 * Packages that stay outside a bundle: they need files beside their own, or are loaded by few installations. All others are part of it, as
 * far as they are used: the service then takes a second of processor time less until it serves.
 */
const OUTSIDE = [
  '@fastify/oauth2',
  '@fastify/swagger',
  '@fastify/swagger-ui',
  '@node-rs/argon2',
  'esbuild',
  'ioredis',
  'node-cron',
  'nodemailer',
  'pino',
  'pino-pretty',
  // Looked for by packages, and not installed.
  '@opentelemetry/api',
  'bufferutil',
  'pg-native',
  'utf-8-validate',
];

/**
 * Bundles the program at `entry` into `file`, with its source map, and removes older bundles there.
 * Rejects if the sources do not compile; esbuild prints the reason.
 */
export async function bundleProgram(entry: string, file: string): Promise<void> {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  // Another process may start at the same time: each writes its own files, then renames them.
  const written = join(folder, `${process.pid}-${basename(file)}`);
  await build({
    entryPoints: [entry],
    outfile: written,
    bundle: true,
    external: OUTSIDE,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'external',
    sourcesContent: false,
    // Packages in CommonJS need a `require`.
    banner: {
      js: `//# sourceMappingURL=${basename(file)}.map\nimport { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`,
    },
    logLevel: 'error',
    plugins: [sourceUrls],
  });
  renameSync(`${written}.map`, `${file}.map`);
  renameSync(written, file);
  for (const name of readdirSync(folder)) {
    const older = name.startsWith(`${programName(entry)}-`) && !name.startsWith(basename(file));
    if (older) rmSync(join(folder, name), { force: true });
  }
}

const [, self = '', entry, file] = process.argv;
if (self === fileURLToPath(import.meta.url) && entry && file)
  await bundleProgram(entry, file).catch(() => process.exit(1));

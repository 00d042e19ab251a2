import { ConfigError } from './config-error.ts';

/** Adds the settings of `.env` in the working directory, where there is one; what the environment has stays. */
export function readEnvFile(path = '.env'): void {
  try {
    process.loadEnvFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new ConfigError(`${path}: must be a file that can be read, received ${code}`);
  }
}

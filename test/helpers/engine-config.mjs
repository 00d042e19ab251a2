import { isMainThread } from 'node:worker_threads';

// Preloaded into the engine's process: chDB takes its configuration from the first connection, which has to stay open.
const { ENGINE_DIRECTORY = '', ENGINE_CONFIG = '' } = process.env;
if (isMainThread) {
  const { Session } = await import('chdb');
  globalThis.configured = new Session(ENGINE_DIRECTORY, { connectionArgs: [`--config-file=${ENGINE_CONFIG}`] });
}

export { createBucket, type Bucket } from './bucket.ts';
export { createClient, type WireClient, type WireReply, type WireRow } from './client.ts';
export { atRate, manualClock, pause, realClock, repeat, type ManualClock } from './clock.ts';
export { divideCeil, divideHalfUp, fixedText, scaledInteger, trimmedText } from './decimal.ts';
export { KEPT_AFTER_END_MS, KEPT_TRADES, keptStates, Queue } from './kept.ts';
export { createRng, type Rng } from './rng.ts';
export { Column, Rows, type Thinned } from './rows.ts';
export {
  createSimServer,
  json,
  type ReplyEdit,
  type SimHandler,
  type SimReply,
  type SimRequest,
  type SimServer,
} from './server.ts';
export { simulatorOf } from './simulator-of.ts';
export { createSimSockets, type SimClient, type SimSocketRoute, type SimSockets } from './sockets.ts';

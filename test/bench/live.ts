import { benchBookAt, type BookAtResult } from './live/book-at.ts';
import { benchIdle, type IdleResult } from './live/idle.ts';
import { benchLatency, type LatencyResult } from './live/latency.ts';
import { benchRecording, type RecordingResult } from './live/recording.ts';
import { benchResume, type ResumeResult } from './live/resume.ts';

export interface LiveResult {
  latency: LatencyResult[];
  idle: IdleResult;
  resume: ResumeResult;
  recording: RecordingResult;
  bookAt: BookAtResult;
}

/** Sockets in, streams out and books kept, over a simulated Kalshi: each figure beside a peer of the same run. */
export async function benchLive(quick: boolean): Promise<LiveResult> {
  return {
    latency: await benchLatency(quick ? 8 : 30),
    idle: await benchIdle(quick ? 10 : 60),
    resume: await benchResume(quick ? 100_000 : 1_000_000),
    recording: await benchRecording(quick ? 200_000 : 2_000_000),
    bookAt: await benchBookAt(quick ? 1_000_000 : 100_000_000, quick ? 100 : 10_000),
  };
}

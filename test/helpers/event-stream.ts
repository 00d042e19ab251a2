import { setTimeout as sleep } from 'node:timers/promises';

/** One frame of a stream of server-sent events. */
export interface StreamFrame {
  id: string | null;
  event: string;
  data: Record<string, unknown>;
}

/** Reads server-sent events as a client would; a frame is passed on once it is whole. */
export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  readonly frames: StreamFrame[];
  /** The body of an answer that is no stream. */
  readonly text: string;
  /** Resolves once `count` frames of an event have come, or the stream has ended. */
  until(event: string, count: number, seconds?: number): Promise<StreamFrame[]>;
  /** Resolves when the service ended the stream. */
  readonly ended: Promise<void>;
  cut(): void;
}

export async function openEventStream(
  url: string,
  headers: Record<string, string>,
  onFrame: (frame: StreamFrame) => void = () => {},
): Promise<EventStream> {
  const abort = new AbortController();
  const reply = await fetch(url, { headers, signal: abort.signal });
  const frames: StreamFrame[] = [];
  const isStream = reply.headers.get('content-type') === 'text/event-stream';
  const text = isStream ? '' : await reply.text();
  const read = async (): Promise<void> => {
    let buffer = '';
    const decoder = new TextDecoder();
    for await (const part of reply.body ?? []) {
      buffer += decoder.decode(part as Uint8Array, { stream: true });
      const whole = buffer.split('\n\n');
      buffer = whole.pop() ?? '';
      for (const frame of whole.flatMap(frameOf)) {
        frames.push(frame);
        onFrame(frame);
      }
    }
  };
  const ended = isStream ? read().catch(() => {}) : Promise.resolve();
  return {
    status: reply.status,
    headers: reply.headers,
    frames,
    text,
    ended,
    async until(event, count, seconds = 30) {
      const found = (): StreamFrame[] => frames.filter((frame) => frame.event === event);
      for (const end = Date.now() + seconds * 1000; found().length < count && Date.now() < end;) await sleep(20);
      return found();
    },
    cut: () => abort.abort(),
  };
}

function frameOf(text: string): StreamFrame[] {
  const fields = new Map(
    text.split('\n').map((line) => [line.split(':', 1)[0] ?? '', line.slice(line.indexOf(':') + 2)]),
  );
  const data = fields.get('data');
  if (data === undefined) return [];
  return [
    {
      id: fields.get('id') ?? null,
      event: fields.get('event') ?? 'message',
      data: JSON.parse(data) as StreamFrame['data'],
    },
  ];
}

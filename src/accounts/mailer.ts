import type { FastifyBaseLogger } from 'fastify';
import PQueue from 'p-queue';
import type { Config } from '../core/config.ts';
import { reasonOf } from '../core/errors.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** Composes and sends in the background: response times must not show whether a mail was sent. null sends nothing. Failures are logged. */
  send(compose: () => Promise<Mail | null>): void;
  /** Waits for mails that are being sent. */
  close(): Promise<void>;
}

const AT_ONCE = 2;
const WAITING = 100;
const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;

/** Mail through SMTP_URL; null if it is not set. */
export async function openMailer(config: Config, log: FastifyBaseLogger): Promise<Mailer | null> {
  const { SMTP_URL: url, MAIL_FROM: from } = config;
  if (url === undefined || from === undefined) return null;
  // Loaded on demand: it would slow down every start without mail.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(
    { url, connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
    { from, disableFileAccess: true, disableUrlAccess: true },
  );
  const queue = new PQueue({ concurrency: AT_ONCE });
  const failed = (reason: string): void => log.error({ reason }, 'Failed to send mail');
  return {
    send(compose) {
      if (queue.size >= WAITING) return failed(`${WAITING} mails are waiting`);
      const send = async (): Promise<void> => {
        const mail = await compose();
        if (mail) await transport.sendMail(mail);
      };
      void queue.add(() => send().catch((error: unknown) => failed(reasonOf(error))));
    },
    async close() {
      queue.clear();
      await queue.onIdle();
      transport.close();
    },
  };
}

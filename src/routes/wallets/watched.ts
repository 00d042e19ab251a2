import type { FastifyInstance, FastifyReply } from 'fastify';
import { listWatched, MOST_WATCHED, unwatchWallet, watchWallet } from '../../accounts/watched-wallets.ts';
import { ApiError } from '../../core/errors.ts';
import { requestTimeMs } from '../../http/cursors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { WatchedWalletsAnswer, walletParam } from '../../schemas/wallets.ts';
import type { Services } from '../services.ts';

/** The wallets that a user watches. */
export function watchedWalletRoutes(app: FastifyInstance, { postgres: { db } }: Services): void {
  const url = '/v1/api/auth/watched-wallets';
  const common = { auth: 'session', tag: 'Account', answer: WatchedWalletsAnswer } as const;
  const answerOf = async (userId: string, reply: FastifyReply) => ({
    wallets: (await listWatched(db, userId)).map(({ address, createdAt }) => ({
      address,
      created_at: createdAt.toISOString(),
    })),
    meta: { request_time: requestTimeMs(reply) },
  });

  endpoint(
    app,
    { ...common, method: 'GET', url, operation: 'listWatchedWallets', summary: 'Wallets that the user watches' },
    async ({ caller, reply }) => answerOf(caller.userId, reply),
  );

  endpoint(
    app,
    {
      ...common,
      method: 'POST',
      url,
      operation: 'watchWallet',
      summary: 'Watch a wallet',
      description: `Answers all that the user watches, at most ${MOST_WATCHED}: as many as a stream takes in \`addresses\`. A repeat changes nothing.`,
      body: { address: walletParam() },
      errors: [409],
    },
    async ({ body, caller, reply }) => {
      if (!(await watchWallet(db, caller.userId, body.address)))
        throw new ApiError(409, `${MOST_WATCHED} wallets are watched already`, {
          resolution: 'Stop watching one of them first.',
        });
      return answerOf(caller.userId, reply);
    },
  );

  endpoint(
    app,
    {
      ...common,
      method: 'DELETE',
      url: `${url}/:address`,
      operation: 'unwatchWallet',
      summary: 'Stop watching a wallet',
      params: { address: walletParam() },
    },
    async ({ params, caller, reply }) => {
      await unwatchWallet(db, caller.userId, params.address);
      return answerOf(caller.userId, reply);
    },
  );
}

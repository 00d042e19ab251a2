import { randomUUID } from 'node:crypto';
import { and, eq, gt } from 'drizzle-orm';
import { z } from 'zod';
import { clientNetwork } from '../core/client-address.ts';
import type { Database } from '../stores/postgres/client.ts';
import { verifiedClaims, type TokenSigner } from './sessions.ts';
import { knownNetworks, users } from './tables.ts';
import type { User } from './users.ts';

/** How long a device or a network stays known after its last login. */
export const KNOWN_SECONDS = 180 * 86_400;

/** A browser that logged in to this account before. */
export interface Device {
  id: string;
  userId: string;
}

const Claims = z.object({ sub: z.uuid(), did: z.uuid() });

export type KnownDevices = ReturnType<typeof createKnownDevices>;

/** Devices (by signed cookie) and networks with an earlier login: wrong passwords from elsewhere do not lock them out. */
export function createKnownDevices(db: Database, signer: TokenSigner, now: () => number) {
  return {
    /** The device of a cookie; null if it is forged or expired. */
    read(token: string | undefined): Device | null {
      const claims = token === undefined ? null : Claims.safeParse(verifiedClaims(signer, token));
      return claims?.success ? { id: claims.data.did, userId: claims.data.sub } : null;
    },

    /** Records the device and network of a login; returns the text of the device's cookie. */
    async remember(userId: string, address: string, device: Device | null): Promise<string> {
      const seen = { userId, network: clientNetwork(address), seenAt: new Date(now()) };
      await db
        .insert(knownNetworks)
        .values(seen)
        .onConflictDoUpdate({ target: [knownNetworks.userId, knownNetworks.network], set: { seenAt: seen.seenAt } });
      const did = device?.userId === userId ? device.id : randomUUID();
      return signer.sign({ sub: userId, did }, { expiresIn: KNOWN_SECONDS });
    },

    /** The account of an e-mail, and whether it logged in from this network: one statement, whether or not the account exists. */
    async account(email: string, address: string): Promise<{ user: User | null; knownNetwork: boolean }> {
      const since = new Date(now() - KNOWN_SECONDS * 1000);
      const [row] = await db
        .select({ user: users, network: knownNetworks.network })
        .from(users)
        .leftJoin(
          knownNetworks,
          and(
            eq(knownNetworks.userId, users.id),
            eq(knownNetworks.network, clientNetwork(address)),
            gt(knownNetworks.seenAt, since),
          ),
        )
        .where(eq(users.email, email));
      return { user: row?.user ?? null, knownNetwork: row ? row.network !== null : false };
    },
  };
}

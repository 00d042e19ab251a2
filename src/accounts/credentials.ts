import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { and, asc, desc, eq, gt, inArray, ne, type SQL, sql } from 'drizzle-orm';
import type { Config } from '../core/config.ts';
import type { CredentialOf } from '../platforms/manifests.ts';
import { Cache } from '../core/cache.ts';
import { ApiError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Database } from '../stores/postgres/client.ts';
import type { Platform } from '../core/model.ts';
import { credentials } from './tables.ts';
import { holdSession } from './sessions.ts';
import { lockUser } from './users.ts';

type SealingKeys = Config['credentialKeys'];
export type CredentialRecord = Pick<
  typeof credentials.$inferSelect,
  'id' | 'platform' | 'label' | 'isDefault' | 'createdAt'
>;

/** A decrypted credential; orders refer to it by `id`. */
interface OpenedCredential<P extends Platform> {
  id: number;
  fields: CredentialOf<P>;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_PER_USER = 50;

const PUBLIC = {
  id: credentials.id,
  platform: credentials.platform,
  label: credentials.label,
  isDefault: credentials.isDefault,
  createdAt: credentials.createdAt,
};

export type Credentials = ReturnType<typeof createCredentials>;

type FaultLog = Pick<Log, 'error'>;
/** Credentials whose fault is known to be logged: they are opened again every few seconds. */
const MOST_LOGGED = 10_000;

interface Vault {
  db: Database;
  keys: SealingKeys;
}

/** The queries that open a credential; prepared once, because every order opens one. */
function prepareOpening(db: Database) {
  const toOpen = (chosen: SQL) =>
    db
      .select()
      .from(credentials)
      .where(
        and(
          eq(credentials.userId, sql.placeholder('userId')),
          eq(credentials.platform, sql.placeholder('platform')),
          chosen,
        ),
      )
      .prepare('');
  return {
    ofDefault: toOpen(eq(credentials.isDefault, true)),
    byId: toOpen(eq(credentials.id, sql.placeholder('id'))),
  };
}

/** Users' platform credentials, encrypted at rest with AES-256-GCM under CREDENTIALS_KEY. `log` gets once each that cannot be opened. */
export function createCredentials(db: Database, keys: SealingKeys, log?: FaultLog) {
  const vault: Vault = { db, keys };
  const logged = new Cache<number, true>({ limit: MOST_LOGGED });
  const onFault = ({ id, keyId }: Sealed, error: Error): void => {
    if (logged.get(id)) return;
    logged.set(id, true);
    log?.error({ err: error, credential: id, sealedWith: keyId }, 'A stored credential cannot be opened');
  };
  const opening = prepareOpening(db);

  return {
    /**
     * Stores validated fields, if a session is given only while it lives. A platform's first credential becomes the default; a new default
     * replaces the old one.
     */
    store: <P extends Platform>(
      userId: string,
      platform: P,
      label: string,
      fields: CredentialOf<P>,
      isDefault: boolean,
      sessionId?: string,
    ) => storeCredential(vault, { userId, platform, label, isDefault }, JSON.stringify(fields), sessionId),

    list: (userId: string): Promise<CredentialRecord[]> =>
      db.select(PUBLIC).from(credentials).where(eq(credentials.userId, userId)).orderBy(asc(credentials.id)),

    /** The credentials of several users, defaults first, then the newest, for callers that notice which were stored or removed. */
    ofUsers: (userIds: readonly string[]): Promise<{ id: number; userId: string; platform: Platform }[]> =>
      db
        .select({ id: credentials.id, userId: credentials.userId, platform: credentials.platform })
        .from(credentials)
        .where(inArray(credentials.userId, [...userIds]))
        .orderBy(desc(credentials.isDefault), desc(credentials.id)),

    /** false if the user has no such credential. After a default is deleted, the platform's newest credential is the default. */
    remove: (userId: string, id: number): Promise<boolean> => removeCredential(vault, userId, id),

    /** Decrypts a credential of this user, the platform's default if no id is given; null if there is none, 422 if it cannot be opened. */
    async open<P extends Platform>(userId: string, platform: P, id?: number): Promise<OpenedCredential<P> | null> {
      const [row] = await (id === undefined ? opening.ofDefault : opening.byId).execute({ userId, platform, id });
      // Not validated again: the fields were validated when stored, GCM authenticates them, and checking keys takes longer than signing.
      return row ? { id: row.id, fields: JSON.parse(openSealed(keys, row, onFault)) as CredentialOf<P> } : null;
    },

    /** Re-encrypts all credentials that are under an older key. Safe to repeat and to interrupt. */
    rotate: (): Promise<Rotation> => rotateCredentials(vault),
  };
}

async function storeCredential(
  { db, keys }: Vault,
  given: Pick<typeof credentials.$inferInsert, 'userId' | 'platform' | 'label'> & { isDefault: boolean },
  fields: string,
  sessionId: string | undefined,
): Promise<CredentialRecord> {
  const { userId, platform, isDefault } = given;
  const sealed = seal(keys, { userId, platform }, fields);
  return db.transaction(async (tx) => {
    // Serialized per user, so that two parallel calls cannot both become the default.
    await lockUser(tx, userId);
    if (sessionId !== undefined) await holdSession(tx, sessionId);
    const held = await tx
      .select({ platform: credentials.platform })
      .from(credentials)
      .where(eq(credentials.userId, userId));
    if (held.length >= MAX_PER_USER) {
      throw new ApiError(409, `At most ${MAX_PER_USER} credentials`, { resolution: 'Delete one first.' });
    }
    const first = !held.some((row) => row.platform === platform);
    if (isDefault) await tx.update(credentials).set({ isDefault: false }).where(ofUser(userId, platform));
    const row = { ...given, isDefault: isDefault || first, ...sealed };
    const [made] = await tx.insert(credentials).values(row).returning(PUBLIC);
    if (!made) throw new Error('INSERT … RETURNING gave no row');
    return made;
  });
}

async function removeCredential({ db }: Vault, userId: string, id: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockUser(tx, userId);
    const [gone] = await tx
      .delete(credentials)
      .where(and(eq(credentials.id, id), eq(credentials.userId, userId)))
      .returning(PUBLIC);
    if (!gone) return false;
    if (!gone.isDefault) return true;
    const [next] = await tx
      .select({ id: credentials.id })
      .from(credentials)
      .where(ofUser(userId, gone.platform))
      .orderBy(desc(credentials.id))
      .limit(1);
    if (next) await tx.update(credentials).set({ isDefault: true }).where(eq(credentials.id, next.id));
    return true;
  });
}

interface Rotation {
  /** Number of credentials that are now under the newest key and were not before. */
  sealed: number;
  /** Why each of the others cannot be opened. */
  failed: string[];
}

async function rotateCredentials({ db, keys }: Vault): Promise<Rotation> {
  const newest = keys[0]?.id ?? '';
  const result: Rotation = { sealed: 0, failed: [] };
  for (let last = 0; ;) {
    const older = and(ne(credentials.keyId, newest), gt(credentials.id, last));
    const batch = await db.select().from(credentials).where(older).orderBy(asc(credentials.id)).limit(100);
    if (batch.length === 0) return result;
    for (const row of batch) {
      last = row.id;
      try {
        const again = seal(keys, row, unseal(keys, row));
        const sameRow = and(eq(credentials.id, row.id), eq(credentials.keyId, row.keyId));
        await db.update(credentials).set(again).where(sameRow);
        result.sealed += 1;
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        result.failed.push(error.message);
      }
    }
  }
}

const ofUser = (userId: string, platform: Platform) =>
  and(eq(credentials.userId, userId), eq(credentials.platform, platform));

/** A credential's owner, authenticated with it, so that a row copied to another user or platform cannot be decrypted. */
interface Owner {
  userId: string;
  platform: Platform;
}

const associated = ({ userId, platform }: Owner): Buffer => Buffer.from(`${userId}\n${platform}`);

function seal(keys: SealingKeys, owner: Owner, text: string): { keyId: string; sealed: string } {
  const [newest] = keys;
  if (!newest) throw new Error('CREDENTIALS_KEY holds no key');
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', newest.key, nonce).setAAD(associated(owner));
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return { keyId: newest.id, sealed: Buffer.concat(parts).toString('base64') };
}

interface Sealed extends Owner {
  id: number;
  keyId: string;
  sealed: string;
}

/** The text of a credential that its user asks for. */
function openSealed(keys: SealingKeys, row: Sealed, onFault: (row: Sealed, error: Error) => void): string {
  try {
    return unseal(keys, row);
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    onFault(row, error);
    throw new ApiError(422, 'The stored credential cannot be opened', {
      resolution: 'Delete it and store it again at POST /v1/api/auth/credentials.',
      errorText: `credential ${row.id} was sealed with a key that this service does not have, or was damaged`,
      cause: error,
    });
  }
}

class UnsealError extends Error {}

function unseal(keys: SealingKeys, row: Sealed): string {
  const found = keys.find(({ id }) => id === row.keyId);
  if (!found) throw new UnsealError(`CREDENTIALS_KEY lacks the key ${row.keyId}, which sealed credential ${row.id}`);
  try {
    return decipher(found.key, row);
  } catch (error) {
    throw new UnsealError(`credential ${row.id} does not open with the key ${row.keyId}`, { cause: error });
  }
}

function decipher(key: Buffer, row: Sealed): string {
  const bytes = Buffer.from(row.sealed, 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(associated(row))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + cipher.final('utf8');
}

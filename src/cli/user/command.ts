import { findByEmail, type User } from '../../accounts/users.ts';
import { ConfigError } from '../../core/config-error.ts';
import type { Config } from '../../core/config.ts';
import type { Database } from '../../stores/postgres/client.ts';
import type { Shared } from '../../stores/shared/shared.ts';

/** What the commands of `npm run user` work with. */
export interface Operator {
  config: Config;
  db: Database;
  /**
   * Opened when first asked for; a command that changes what running services remember asks before it changes anything.
   */
  shared(): Promise<Shared>;
}

/** One command of `npm run user`. A new one is an entry in src/cli/user.ts. */
export interface UserCommand {
  /** Its arguments, as the usage shows them. */
  takes: string;
  does: string;
  /** Whether these arguments can be meant; anything else prints the usage. */
  accepts(words: string[]): boolean;
  run(operator: Operator, words: string[]): Promise<void>;
}

export const isEmail = (word = ''): boolean => word.includes('@');

/** The e-mail as accounts keep it. */
export const emailOf = (word = ''): string => word.trim().toLowerCase();

/** The account of an e-mail; an unknown one ends the command. */
export async function accountOf(db: Database, word = ''): Promise<User> {
  const user = await findByEmail(db, emailOf(word));
  if (!user) throw new ConfigError(`EMAIL: must be of an account, received ${emailOf(word)}`);
  return user;
}

export const print = (...columns: string[]): void => void process.stdout.write(`${columns.join('  ')}\n`);

export const timeText = (time: Date | null): string => time?.toISOString() ?? 'never';

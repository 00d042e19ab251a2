import { findByEmail, type User } from '../../accounts/users.ts';
import { ConfigError } from '../../core/config-error.ts';
import type { Config } from '../../core/config.ts';
import { accountEmail } from '../../core/fields.ts';
import type { Database } from '../../stores/postgres/client.ts';

/** Dependencies of the commands of `npm run user`. */
interface Operator {
  config: Config;
  db: Database;
}

/** One command of `npm run user`. A new one is an entry in src/cli/user.ts. */
export interface UserCommand {
  /** Its arguments, as the usage shows them. */
  takes: string;
  does: string;
  /** Whether the arguments are valid; otherwise the usage is printed. */
  accepts(words: string[]): boolean;
  run(operator: Operator, words: string[]): Promise<void>;
}

const email = accountEmail({ error: 'an e-mail address' });
export const isEmail = (word = ''): boolean => email.safeParse(word).success;

/** An e-mail as it is stored. */
export const emailOf = (word = ''): string => word.trim().toLowerCase();

/** The account of an e-mail; the command fails if there is none. */
export async function accountOf(db: Database, word = ''): Promise<User> {
  const user = await findByEmail(db, emailOf(word));
  if (!user) throw new ConfigError(`EMAIL: must be the e-mail of an account, received ${emailOf(word)}`);
  return user;
}

export const print = (...columns: string[]): void => void process.stdout.write(`${columns.join('  ')}\n`);

export const timeText = (time: Date | null): string => time?.toISOString() ?? 'never';

import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import PQueue from 'p-queue';
import { ApiError } from '../core/errors.ts';

/** argon2id with the parameters of OWASP's password storage guide: 19 MiB, 2 passes, 1 lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Hashing occupies a core; while this many requests wait, further ones are rejected. */
const WAITING = 100;
const queue = new PQueue({ concurrency: 2 });

const work = <T>(task: () => Promise<T>): Promise<T> => {
  if (queue.size < WAITING) return queue.add(task);
  throw new ApiError(503, 'Too many sign-ins at once', { resolution: 'Retry in a few seconds.', retryAfter: 5 });
};

/** The same characters typed on another keyboard or system are the same password (NIST SP 800-63B §5.1.1.2). */
const normalized = (password: string): string => password.normalize('NFKC');

export const hashPassword = async (password: string): Promise<string> => work(() => hash(normalized(password), COST));

/** Verified for accounts that do not exist or have no password, so that the check takes the same time. */
const absent = hash(randomBytes(32), COST);

/** Whether the password matches the hash; false, after the same work, without a hash. */
export async function verifyPassword(stored: string | null | undefined, password: string): Promise<boolean> {
  const against = stored ?? (await absent);
  const matches = await work(() => verify(against, normalized(password)));
  return matches && stored !== null && stored !== undefined;
}

/** Bases of the most common passwords; rejected alone, or with only digits and signs around them. */
const COMMON_BASES = new Set(
  `password passwort passw0rd pass passcode motdepasse contrasena senha parola qwerty qwertyuiop qwertyui qwertz azerty
  asdf asdfgh asdfghjkl zxcvbn zxcvbnm qazwsx qazwsxedc wsxedc abc abcd abcdef abcdefg welcome letmein login admin
  administrator root master hello helloworld iloveyou loveyou lovely love princess sunshine monkey dragon football
  baseball basketball soccer superman batman spiderman pokemon starwars trustno shadow killer whatever freedom computer
  internet secret test tester testing user guest default changeme access summer winter spring autumn january february
  march april june july august september october november december monday friday sunday google facebook samsung
  microsoft apple michael jennifer jessica charlie jordan ashley daniel thomas michelle andrew robert liverpool chelsea
  arsenal mustang ferrari harley cheese cookie chocolate butterfly flower purple orange hunter ninja mypassword
  passwordpassword adminadmin testtest iloveyouiloveyou welcomewelcome qwertyqwerty correcthorsebatterystaple`
    .split(/\s+/)
    .filter(Boolean),
);

/** Keyboard and alphabet sequences; a password that is part of one, forwards or backwards, is rejected. */
const RUNS = [
  '01234567890123456789',
  'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnmqwertyuiop',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  '1234qwerasdfzxcv',
  'qwer1234asdf5678',
  'q1w2e3r4t5y6u7i8o9p0',
];

const LEET: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** The rule that makes a password too easy to guess; null if it is accepted. `email` may be '' when unknown. */
export function passwordWeakness(password: string, email: string): string | null {
  const text = normalized(password).toLowerCase();
  // One character repeated is not on the list; a word or a sequence repeated is as common as itself.
  const unit = /^(.{2,64}?)\1+$/s.exec(text)?.[1] ?? text;
  const plain = unit.replaceAll(/[\s._-]/g, '');
  const backwards = [...plain].toReversed().join('');
  if (RUNS.some((run) => run.includes(plain) || run.includes(backwards)))
    return 'a password that is not a keyboard sequence';
  if (isCommon(text) || isCommon(unit)) {
    return 'a password that is not among the most common ones';
  }
  const own = email.toLowerCase().split('@', 1)[0] ?? '';
  if (email !== '' && (text === email.toLowerCase() || (own.length > 3 && letters(text) === letters(own)))) {
    return 'a password that is not made from the e-mail address';
  }
  return null;
}

/** A common base with nothing but digits and signs before or after it. */
function isCommon(text: string): boolean {
  const base = text.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  return COMMON_BASES.has(base) || COMMON_BASES.has(base.replaceAll(/[013457@$!]/g, (sign) => LEET[sign] ?? sign));
}
const letters = (text: string): string => text.replaceAll(/[^\p{L}]/gu, '');

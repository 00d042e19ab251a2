import { titled } from '../names.ts';
/** An error of the API, as in its envelope. */
interface Envelope {
  message: string;
  resolution: string;
  error_text: string;
}

const ISSUE = /^([\w.[\]]+): (.+), received (.+)$/s;
/** Sentences for programs: paths, headers and fields of the API. */
const FOR_PROGRAMS = /\/v1\/api\/|error_text|current_password|X-API-Key|\bcookie\b|\bcursor\b/i;

/** A text about a field of the API. */
const OF_FIELD = /^[a-z]+(?:_[a-z]+)+: /;

const named = (field: string): string => {
  const words = field.replace(/^.*\./, '').replaceAll('_', ' ');
  return words === 'email' ? 'E-mail' : titled(words);
};

const TOO_OLD = 'This list was opened too long ago to be continued.';

function sentenceOf(issue: string): string | null {
  const [, field, expected, received] = ISSUE.exec(issue) ?? [];
  if (field === undefined || expected === undefined) return null;
  // Pages make no cursor of their own: only its age can be wrong.
  if (field === 'cursor') return TOO_OLD;
  return received === 'nothing' ? `${named(field)} is missing: ${expected}.` : `${named(field)} must be ${expected}.`;
}

/** What a page says of an error: the failing fields as sentences, and of the resolution what a person can do. */
export function failureText({ message, resolution, error_text: text }: Envelope): { message: string; advice: string } {
  const issues = text === '' ? [] : text.split(/; (?=[\w.[\]]+: )/).map(sentenceOf);
  const advice = resolution
    .split(/(?<=\.) (?=[A-Z])/)
    .filter((sentence) => !FOR_PROGRAMS.test(sentence))
    .join(' ');
  const sentences = issues.filter((one) => one !== null);
  if (message.startsWith('Invalid request') && issues.length > 0 && sentences.length === issues.length)
    return { message: sentences.join(' '), advice };
  const details = OF_FIELD.test(text) ? '' : text;
  return { message: [message, details].filter((part) => part !== '').join(': '), advice };
}

import { useState } from 'preact/hooks';
import { ApiFailure } from '../api.ts';

interface Attempt {
  busy: boolean;
  failure: ApiFailure | null;
  /** From a 403, which demands the current password, until a change succeeds: a mistyped password is answered 400. */
  asksPassword: boolean;
  /** Runs a change and keeps its error in `failure`. */
  attempt: (work: () => Promise<void>) => Promise<void>;
}

export function useAttempt(): Attempt {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [asksPassword, setAsksPassword] = useState(false);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      await work();
      setAsksPassword(false);
    } catch (error) {
      const own = error instanceof ApiFailure ? error : new ApiFailure(0, String(error), '');
      setFailure(own);
      if (own.status === 403) setAsksPassword(true);
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, asksPassword, attempt };
}

/** The text of a form field; '' if the form does not have it. */
export const textOf = (form: HTMLFormElement, name: string): string => String(new FormData(form).get(name) ?? '');

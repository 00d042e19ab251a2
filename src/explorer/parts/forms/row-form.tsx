import type { ComponentChildren } from 'preact';
import type { ApiFailure } from '../api.ts';

interface RowFormProps {
  submit: (form: HTMLFormElement) => Promise<void>;
  onInput?: () => void;
  children: ComponentChildren;
}

/** A form whose fields and button are in one row. */
export const RowForm = ({ submit, onInput, children }: RowFormProps) => (
  <form
    class="row-form"
    {...(onInput && { onInput })}
    onSubmit={(event) => {
      event.preventDefault();
      void submit(event.currentTarget);
    }}
  >
    {children}
  </form>
);

/** The current password, for changes that demand it. */
export const ConfirmPassword = () => (
  <label>
    Confirm your password
    <input name="password" type="password" autocomplete="current-password" />
  </label>
);

/** Why a change failed, and what can be done. */
export const FailureNotice = ({ of: failure }: { of: ApiFailure | null }) =>
  failure && (
    <p class="notice failed" role="alert">
      {failure.message} {failure.resolution}
    </p>
  );

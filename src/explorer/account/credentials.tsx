import { useMemo, useState } from 'preact/hooks';
import { send, useApi } from '../parts/api.ts';
import { Columns } from '../parts/columns.tsx';
import { Panel, Waiting } from '../parts/panel.tsx';
import { useListOfPlatforms } from '../parts/platforms.ts';
import { PlatformName, Time } from '../parts/show.tsx';
import { textOf, useAttempt } from '../parts/forms/attempt.ts';
import { ConfirmPassword, FailureNotice, RowForm } from '../parts/forms/row-form.tsx';
import { titled } from '../parts/names.ts';

/** Platform keys that sign orders: stored, never read back. */
export function Credentials() {
  const asked = useApi('/v1/api/auth/credentials', {});
  const listed = useListOfPlatforms();
  const platforms = listed.data ?? [];
  const [open, setOpen] = useState(false);
  const [selected, setChosen] = useState('');
  const chosen = platforms.includes(selected) ? selected : (platforms[0] ?? '');
  const described = useApi('/v1/api/openapi.json', open ? {} : null);
  const named = useMemo(() => fieldsIn(described.data, chosen), [described.data, chosen]);
  const { busy, failure, asksPassword, attempt } = useAttempt();
  const store = (form: HTMLFormElement): Promise<void> =>
    attempt(async () => {
      const password = textOf(form, 'password');
      await send('POST', '/v1/api/auth/credentials', {
        platform: textOf(form, 'platform'),
        label: textOf(form, 'label'),
        fields: fieldsOf(form, named),
        ...(password === '' ? {} : { current_password: password }),
      });
      form.reset();
      setOpen(false);
      asked.reload();
    });
  const remove = (id: number, label: string): Promise<void> =>
    attempt(async () => {
      if (!confirm(`Delete the credential “${label}”?`)) return;
      await send('DELETE', `/v1/api/auth/credentials/${id}`);
      asked.reload();
    });
  const stored = asked.data?.credentials ?? [];
  return (
    <Panel
      title="Platform credentials"
      of={asked}
      aside={
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Cancel' : 'Add credentials'}
        </button>
      }
    >
      {stored.length === 0 ? (
        <Waiting
          of={asked}
          empty="No credentials are stored: orders go through the operator’s default client, if there is one."
        />
      ) : (
        <table>
          <Columns of={['Platform', 'Label', ['Stored', 'wide'], ['Delete', 'hidden']]} />
          <tbody>
            {stored.map(({ id, platform, label, is_default: isDefault, created_at: at }) => (
              <tr key={id}>
                <td>
                  <PlatformName platform={platform} />
                </td>
                <td class="name">
                  <bdi>{label}</bdi> {isDefault && <span class="status">default</span>}
                </td>
                <td class="muted nowrap wide">
                  <span class="zoned">
                    <Time at={at} />
                  </span>
                </td>
                <td class="number">
                  <button type="button" disabled={busy} onClick={() => void remove(id, label)}>
                    Delete<span class="hidden"> {label}</span>
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {open && platforms.length === 0 && <Waiting of={listed} />}
      {open && named.length === 0 && <Waiting of={described} />}
      {open && (
        <RowForm submit={store}>
          <label>
            Platform
            <select name="platform" value={chosen} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
              {platforms.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            Label
            <input name="label" required maxLength={100} />
          </label>
          {named.map((field) => (
            <Field key={`${chosen} ${field.name}`} {...field} />
          ))}
          {asksPassword && <ConfirmPassword />}
          <button type="submit" class="main" disabled={busy}>
            Store
          </button>
        </RowForm>
      )}
      <FailureNotice of={failure} />
    </Panel>
  );
}

interface Form {
  platform: string;
  fields: { name: string; required: boolean }[];
}

/** The fields of a platform's credentials, from the OpenAPI description. */
function fieldsIn(described: object | undefined, platform: string): Form['fields'] {
  const { paths } = (described ?? {}) as { paths?: Record<string, { post?: { requestBody?: Body } }> };
  const body = paths?.['/v1/api/auth/credentials']?.post?.requestBody;
  const forms = body?.content['application/json'].schema.properties.fields['x-forms'];
  return forms?.find((form) => form.platform === platform)?.fields ?? [];
}

interface Body {
  content: { 'application/json': { schema: { properties: { fields: { 'x-forms': Form[] } } } } };
}

/** Names of fields whose value is shown to nobody, not even while it is typed. */
const SECRET = /private_key|secret|passphrase|^api_key$/;
/** A key may be PEM text of many lines. */
const LONG = /private_key/;

function Field({ name, required }: Form['fields'][number]) {
  const words = name.replaceAll('_', ' ');
  const text = titled(words);
  const options = { name: `field.${name}`, required, autocomplete: 'off', spellcheck: false } as const;
  return (
    <label class={LONG.test(name) ? 'whole' : ''}>
      <span>
        {text}
        {!required && ' (optional)'}
      </span>
      {LONG.test(name) ? (
        <textarea rows={2} class="masked" {...options} />
      ) : SECRET.test(name) ? (
        <input {...options} type="password" />
      ) : (
        <input {...options} />
      )}
    </label>
  );
}

/** The values of the fields that are filled in. */
const fieldsOf = (form: HTMLFormElement, named: Form['fields']): Record<string, string> =>
  Object.fromEntries(
    named.flatMap(({ name }) => {
      const value = textOf(form, `field.${name}`).trim();
      return value === '' ? [] : [[name, value] as const];
    }),
  );

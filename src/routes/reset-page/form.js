// The token stands behind the #: it is sent in the body of one request, and never in an address.
const form = document.querySelector('form');
const status = document.querySelector('[role=status]');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  const body = { token, new_password: form.password.value, revoke_keys: form.revokeKeys.checked };
  try {
    const answer = await fetch('/v1/api/auth/password/reset', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { error } = await answer.json();
    if (answer.ok) form.remove();
    status.textContent = answer.ok
      ? 'The password is set. Every session has ended: log in again.'
      : `${error.error_text || error.message}. ${error.resolution}`;
  } catch {
    status.textContent = 'The service did not answer. Try again.';
  }
});

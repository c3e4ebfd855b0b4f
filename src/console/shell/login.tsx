/** Login by an API key, after a one-time link was not given or is used up. */
import { useState } from 'preact/hooks'
import { Icon, Logo } from '../parts/icons.tsx'
import { loginNote, logIn } from '../session.ts'

export function Login() {
  const [problem, setProblem] = useState<string | undefined>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget as HTMLFormElement)
    setBusy(true)
    const [key, secret] = [fields.get('key'), fields.get('secret')]
    if (typeof key === 'string' && typeof secret === 'string') setProblem(await logIn(key, secret))
    setBusy(false)
  }
  return (
    <main class="login">
      <form onSubmit={(event) => void submit(event)}>
        <h1 class="brand">
          <Logo /> Reflexarc
        </h1>
        {loginNote.value !== '' && <p class="note">{loginNote.value}</p>}
        <label>
          API key
          <input name="key" autoComplete="username" required autoFocus />
        </label>
        <label>
          Secret
          <input name="secret" type="password" autoComplete="current-password" required />
        </label>
        {problem !== undefined && (
          <p class="failed" role="alert">
            <Icon name="problem" /> {problem}
          </p>
        )}
        <button class="primary" disabled={isBusy}>
          Log in
        </button>
        <p class="hint">
          The host prints a key, and a link that logs in once, when it starts. <code>reflexarc keys</code> makes more
          keys.
        </p>
      </form>
    </main>
  )
}

/** Tries a plug, webscript, model or converter with a body, and shows its answer and its log. */
import { useState } from 'preact/hooks'
import { API } from '../base.ts'
import { useLoad } from '../loading.ts'
import { CopyRequest } from '../parts/copy.tsx'
import { Panel, Problem, Time } from '../parts/layout.tsx'
import { done } from '../parts/undo.tsx'
import { errorText, may, sessionFetch } from '../session.ts'
import { messageOf } from '../words/errors.ts'
import type { Trial } from './trials.ts'

interface Answered {
  readonly ms: number
  readonly text?: string
  readonly error?: string
}

export function TryForm({ trial, name }: { readonly trial: Trial; readonly name: string }) {
  const { data, error, reload } = useLoad(() => trial.request(name), [name])
  const log = useLoad(async () => trial.log?.(name), [name], 10_000)
  const [typed, setTyped] = useState<string | undefined>()
  const [answer, setAnswer] = useState<Answered | undefined>()
  const [isBusy, setBusy] = useState(false)
  const text = typed ?? (data === undefined ? '' : JSON.stringify(data.body, null, 2))
  const problem = jsonProblem(text)
  const run = async (): Promise<void> => {
    if (data === undefined || problem !== undefined) return
    setBusy(true)
    setAnswer(await asked(data.path, text))
    setBusy(false)
    log.reload()
  }
  return (
    <Panel
      as="aside"
      title={
        <>
          Try <code>{name}</code>
        </>
      }
    >
      <div class="pad stack">
        <p class="second">{trial.does}</p>
        <Problem text={error} retry={reload} />
        {data !== undefined && (
          <>
            <label>
              Body, JSON
              <textarea
                rows={8}
                spellcheck={false}
                value={text}
                aria-invalid={problem !== undefined}
                onInput={({ currentTarget }) => setTyped(currentTarget.value)}
              />
            </label>
            {problem !== undefined && <p class="bad">{problem}</p>}
            <div class="row">
              <button
                type="button"
                class="primary"
                aria-disabled={problem !== undefined || isBusy || !may(trial.scope)}
                title={may(trial.scope) ? undefined : `Needs the scope ${trial.scope}`}
                onClick={() => may(trial.scope) && !isBusy && void run()}
              >
                Run
              </button>
              {problem === undefined && (
                <CopyRequest method="POST" path={data.path} body={JSON.parse(text) as unknown} done={done} />
              )}
            </div>
          </>
        )}
        {isBusy && <p class="dim">Running …</p>}
        {answer !== undefined && !isBusy && (
          <div role="status" class="stack">
            <Problem text={answer.error} />
            {answer.text !== undefined && (
              <>
                <p class="second">Answered in {answer.ms} ms</p>
                <pre class="answer-text">{answer.text}</pre>
              </>
            )}
          </div>
        )}
        {log.data !== undefined && (
          <>
            <h3>Log</h3>
            {log.data.length === 0 ? (
              <p class="second">No line yet. What it writes, and why it fails, appears here.</p>
            ) : (
              <ul class="history">
                {log.data.map(({ time, level, text: line }, index) => (
                  <li key={index}>
                    <Time at={new Date(time).getTime()} withSeconds />
                    <span>
                      <b>{level}</b> {line}
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
        <Problem text={log.error} retry={log.reload} />
      </div>
    </Panel>
  )
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `The body is not valid JSON: ${messageOf(error)}`
  }
}

async function asked(path: string, body: string): Promise<Answered> {
  const begun = performance.now()
  const ms = (): number => Math.round(performance.now() - begun)
  try {
    const headers = { 'content-type': 'application/json' }
    const answer = await sessionFetch(`${API}${path}`, { method: 'POST', headers, body })
    if (!answer.ok) return { ms: ms(), error: await errorText(answer) }
    return { ms: ms(), text: readable(await answer.text()) }
  } catch (error) {
    return { ms: ms(), error: messageOf(error) }
  }
}

function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

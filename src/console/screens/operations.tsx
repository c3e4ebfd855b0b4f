/** Operations: whether the host can be left alone, lists of what it runs, and forms that try it. */
import { API } from '../base.ts'
import { useLoad } from '../loading.ts'
import { Answer, Empty, Heads, Panel, Problem, Scroll } from '../parts/layout.tsx'
import { path, to } from '../router.ts'
import { may, session, sessionFetch } from '../session.ts'
import { countText } from '../words/numbers.ts'
import { KINDS, when } from './operations-lists.tsx'
import { TryForm } from './try-form.tsx'

interface Health {
  readonly status: string
  readonly troubles?: readonly string[]
  readonly warnings?: readonly string[]
}

export function operationsAnswer(health: Health | undefined): string {
  if (health === undefined) return 'Operations'
  if (health.status !== 'ok') return `The host is ${health.status}`
  const warnings = health.warnings?.length ?? 0
  return warnings === 0
    ? 'The host is well and can be left alone'
    : `The host works, with ${countText(warnings, 'warning')}`
}

export function Operations() {
  const health = useLoad(async () => (await (await sessionFetch(`${API}/health`)).json()) as Health, [], 10_000)
  const kinds = KINDS.filter(({ scope }) => may(scope))
  const kind = kinds.find((one) => one.path === path.value[1]) ?? kinds[0]
  const { data, error, reload } = useLoad(async () => kind?.load(() => reload()), [kind?.path], 10_000)
  const name = path.value[2]
  const { user = '', tenant = '', scopes = [], expires } = session.value ?? {}
  return (
    <>
      <Answer
        title={operationsAnswer(health.data)}
        more={[...(health.data?.troubles ?? []), ...(health.data?.warnings ?? [])].join('. ')}
      >
        <a class="button" href={to('connectors')}>
          Connectors
        </a>
        <a class="button" href={`${API}/docs/`} target="_blank" rel="noreferrer">
          API
        </a>
      </Answer>
      <Problem text={health.error} retry={health.reload} />
      <div class="split">
        <section class="panel" aria-label="Lists">
          <nav class="tabs" aria-label="What to list">
            {kinds.map((one) => (
              <a key={one.path} href={to('operations', one.path)} aria-current={one === kind ? 'page' : undefined}>
                {one.name}
              </a>
            ))}
          </nav>
          {error !== undefined && (
            <div class="pad">
              <Problem text={error} retry={reload} />
            </div>
          )}
          {data !== undefined && data.rows.length === 0 && (
            <Empty title="Nothing to list">
              <p>{data.empty}</p>
            </Empty>
          )}
          {data !== undefined && data.rows.length > 0 && (
            <Scroll label={kind?.name ?? ''}>
              <table class="tight">
                <Heads columns={data.head} />
                <tbody>
                  {data.rows.map((row, at) => (
                    <tr key={at}>
                      {row.map((cell, index) => (
                        <td key={index}>{cell}</td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
          {data?.more !== undefined && <p class="pad second">{data.more}</p>}
        </section>
        <div class="stack">
          {kind?.trial !== undefined && name !== undefined && (
            <TryForm key={`${kind.path} ${name}`} trial={kind.trial} name={name} />
          )}
          <Panel as="aside" title="This session">
            <dl class="facts pad">
              <dt>User</dt>
              <dd>{user}</dd>
              <dt>Tenant</dt>
              <dd>{tenant}</dd>
              <dt>Scopes</dt>
              <dd>{scopes.join(', ')}</dd>
              <dt>Ends</dt>
              <dd>{when(expires)}</dd>
            </dl>
          </Panel>
        </div>
      </div>
    </>
  )
}

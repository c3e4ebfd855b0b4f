/** Connectors: whether sources and sinks keep up with their brokers, and what to do when one does not. */
import { useState } from 'preact/hooks'
import type { RejectedList, Sink, Source } from '#services/connectors/contract'
import { useLoad } from '../loading.ts'
import { Age, Answer, Empty, Heads, Panel, Problem, Scroll, Waiting } from '../parts/layout.tsx'
import { done } from '../parts/undo.tsx'
import { go, path, to } from '../router.ts'
import { api, may } from '../session.ts'
import { messageOf } from '../words/errors.ts'
import { connectorAnswer, lagText, stateText } from '../words/connectors.ts'
import { countText } from '../words/numbers.ts'

type Kind = 'sources' | 'sinks'
type Connector = Source | Sink

const HEADS = [
  'Connector',
  'Broker',
  'State',
  ['Lag', 'number'],
  ['Accepted', 'number'],
  ['Rejected', 'number'],
] as const
const EVERY_MS = 5_000
const SHOWN = 50

export function Connectors() {
  const { data, error, reload } = useLoad(
    async () => ({ sources: await api.connectors.sources.list(), sinks: await api.connectors.sinks.list() }),
    [],
    EVERY_MS,
  )
  const [, kind, name] = path.value
  if (data === undefined) return <Waiting error={error} retry={reload} title="Connectors" />
  const all = [...data.sources, ...data.sinks]
  const of = kind === 'sinks' ? 'sinks' : 'sources'
  const chosen = data[of].find((one) => one.name === name)
  return (
    <>
      <Answer
        title={connectorAnswer(all.map(({ status }) => status))}
        more="Sources read messages from Kafka and MQTT brokers; sinks write messages, alarms and firings to them."
      />
      <Problem text={error} retry={reload} />
      {all.length === 0 && (
        <section class="panel" aria-label="Connectors">
          <Empty title="No connector is stored">
            <p>Store one with PUT /api/sources/NAME or PUT /api/sinks/NAME, and it appears here with its lag.</p>
          </Empty>
        </section>
      )}
      {all.length > 0 && (
        <div class="split">
          <div>
            <List kind="sources" title="Sources" connectors={data.sources} />
            <List kind="sinks" title="Sinks" connectors={data.sinks} />
          </div>
          {chosen === undefined ? (
            <Panel as="aside" title="Details">
              <p class="pad dim">Choose a connector to see its last error, and to pause or test it.</p>
            </Panel>
          ) : (
            <Details key={`${of} ${chosen.name}`} kind={of} connector={chosen} reload={reload} />
          )}
        </div>
      )}
    </>
  )
}

function List({
  kind,
  title,
  connectors,
}: {
  readonly kind: Kind
  readonly title: string
  readonly connectors: readonly Connector[]
}) {
  if (connectors.length === 0) return null
  return (
    <Panel title={title}>
      <Scroll label={title}>
        <table class="tight">
          <Heads columns={HEADS} />
          <tbody>
            {connectors.map(({ name, type, connection, status }) => (
              <tr key={name} aria-current={path.value[1] === kind && path.value[2] === name ? 'true' : undefined}>
                <td>
                  <a href={to('connectors', kind, name)}>{name}</a>
                </td>
                <td>
                  {type} <span class="dim">{connection.url ?? connection.brokers?.[0] ?? ''}</span>
                </td>
                <td>{stateText(status)}</td>
                <td class="number">{lagText(status.lag)}</td>
                <td class="number">{status.accepted.toLocaleString('en')}</td>
                <td class="number">{status.rejected.toLocaleString('en')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  )
}

function Details({
  kind,
  connector: { name, status },
  reload,
}: {
  readonly kind: Kind
  readonly connector: Connector
  reload(): void
}) {
  const [tested, setTested] = useState('')
  const of = api.connectors[kind]
  const isPaused = status.state === 'paused'
  const act = async (work: () => Promise<string>): Promise<void> => {
    try {
      done(await work())
    } catch (error) {
      done(messageOf(error))
    }
    reload()
  }
  const toggle = (pause: boolean): Promise<void> =>
    act(async () => {
      await (pause ? of.pause(name) : of.resume(name))
      return pause ? `${name} is paused` : `${name} continues`
    })
  const test = async (): Promise<void> => {
    setTested('Connecting')
    try {
      const { ok, problem = '', found = [] } = await of.test(name)
      setTested(ok ? `The broker accepts the connection, and has ${countText(found.length, 'topic')}` : problem)
    } catch (error) {
      setTested(messageOf(error))
    }
  }
  return (
    <Panel
      as="aside"
      title={name}
      aside={
        <button type="button" class="small" onClick={() => go(to('connectors'))}>
          Close
        </button>
      }
    >
      <div class="pad">
        <dl class="facts">
          <dt>State</dt>
          <dd>{stateText(status)}</dd>
          <dt>Lag</dt>
          <dd>{lagText(status.lag)}</dd>
          <dt>Retries</dt>
          <dd>{status.retried.toLocaleString('en')}</dd>
          <dt>Last error</dt>
          <dd>
            {status.lastError === undefined ? (
              'none'
            ) : (
              <>
                {status.lastError.message} (<Age at={Date.parse(status.lastError.time)} /> ago)
              </>
            )}
          </dd>
        </dl>
        {may('operate') && (
          <div class="actions">
            <button type="button" onClick={() => void toggle(!isPaused)}>
              {isPaused ? 'Resume' : 'Pause'}
            </button>
            <button type="button" onClick={() => void test()}>
              Test
            </button>
          </div>
        )}
        <p role="status">{tested}</p>
      </div>
      {kind === 'sources' && <Rejected name={name} act={act} total={status.rejected} />}
    </Panel>
  )
}

function Rejected({
  name,
  act,
  total,
}: {
  readonly name: string
  act(work: () => Promise<string>): Promise<void>
  readonly total: number
}) {
  const { sources } = api.connectors
  const { data, error, reload } = useLoad<RejectedList>(() => sources.rejected(name, { limit: SHOWN }), [name, total])
  const retry = (ids?: readonly string[]): Promise<void> =>
    act(async () => {
      const { accepted, failed } = await sources.retry(name, ids)
      reload()
      const again = failed.length === 0 ? '' : `, ${failed.length} rejected again: ${failed[0]?.error ?? ''}`
      return `${countText(accepted.length, 'record')} accepted${again}`
    })
  const forget = (id: string): Promise<void> =>
    act(async () => {
      await sources.forget(name, id)
      reload()
      return 'The record is forgotten'
    })
  if (error !== undefined) return <Problem text={error} retry={reload} />
  if (data === undefined || data.total === 0) return null
  return (
    <section aria-label="Rejected records">
      <header class="pad actions">
        <h3>{countText(data.total, 'rejected record')}</h3>
        {may('operate') && (
          <button type="button" class="small" onClick={() => void retry()}>
            Try all again
          </button>
        )}
      </header>
      <ul class="items">
        {data.values.map(({ id, record, error: why, payload }) => (
          <li key={id} class="pad">
            <div>
              <code>{record}</code> {why}
            </div>
            <pre class="dim">{payload.slice(0, 200)}</pre>
            {may('operate') && (
              <div class="actions">
                <button type="button" class="small" onClick={() => void retry([id])}>
                  Try again
                </button>
                <button type="button" class="small" onClick={() => void forget(id)}>
                  Forget
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Operations: whether the host can be left alone, and lists of what it runs: keys, jobs, functions, models, secrets. */
import type { ComponentChildren } from 'preact'
import { API } from '../base.ts'
import { useLoad } from '../loading.ts'
import { Answer, Empty, Heads, Panel, Problem, Scroll, Time } from '../parts/layout.tsx'
import { path, to } from '../router.ts'
import { done } from '../parts/undo.tsx'
import { api, errorText, getJson, may, session, sessionFetch } from '../session.ts'
import { countText } from '../words/numbers.ts'

interface Health {
  readonly status: string
  readonly troubles?: readonly string[]
  readonly warnings?: readonly string[]
}

interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly ComponentChildren[])[]
  readonly empty: string
}

interface Kind {
  readonly name: string
  readonly path: string
  readonly scope: 'read' | 'admin'
  load(reload: () => void): Promise<Table>
}

interface SessionEntry {
  readonly id: string
  readonly user: string
  readonly scopes: readonly string[]
  readonly createTime: string
  readonly expires: string
}

interface AuditEntries {
  readonly values: readonly {
    readonly time: string
    readonly user: string
    readonly method: string
    readonly path: string
    readonly changes: readonly { readonly collection: string; readonly id: string; readonly change: string }[]
  }[]
}

const byBeginning = (a: SessionEntry, b: SessionEntry): number => b.createTime.localeCompare(a.createTime)

async function endSession(id: string, user: string): Promise<void> {
  const answer = await sessionFetch(`${API}/auth/v1/sessions/${id}`, { method: 'DELETE' })
  done(answer.ok ? `The session of ${user} has ended` : `Not ended: ${await errorText(answer)}`)
}

const when = (time: unknown): ComponentChildren => {
  const at = typeof time === 'number' ? time : typeof time === 'string' ? Date.parse(time) : Number.NaN
  return Number.isFinite(at) ? <Time at={at} /> : ''
}

async function functions(type: 'plugs' | 'webscripts', name: string): Promise<Table> {
  const { entities } = await api.functions[type].list({ limit: 100 })
  return {
    head: ['Name', 'Version', 'Status', 'Kind'],
    rows: entities.map((one) => [
      <code>{one.name}</code>,
      one.version,
      one.status,
      one.draft ? 'draft' : one.deprecated ? 'deprecated' : 'published',
    ]),
    empty: `No ${name} is uploaded. Upload one with reflexarc functions, and it appears here with its builds and logs.`,
  }
}

const KINDS: readonly Kind[] = [
  {
    name: 'Keys',
    path: 'keys',
    scope: 'admin',
    load: async () => {
      const answer = await getJson<{ readonly keys?: readonly Readonly<Record<string, unknown>>[] }>('/auth/v1/keys')
      return {
        head: ['Key', 'Scopes', 'Created', 'Expires'],
        rows: (answer.keys ?? []).map(({ key, scopes, createTime, expires }) => [
          <code>{String(key)}</code>,
          Array.isArray(scopes) ? scopes.join(', ') : '',
          when(createTime),
          expires === undefined ? 'never' : when(expires),
        ]),
        empty: 'No key is stored.',
      }
    },
  },
  {
    name: 'Sessions',
    path: 'sessions',
    scope: 'admin',
    load: async (reload) => {
      const answer = await getJson<{ readonly sessions?: readonly SessionEntry[] }>('/auth/v1/sessions')
      return {
        head: ['User', 'Scopes', 'Begun', 'Ends', 'Action'],
        rows: (answer.sessions ?? []).toSorted(byBeginning).map(({ id, user, scopes, createTime, expires }) => [
          <code>{user}</code>,
          scopes.join(', '),
          when(createTime),
          when(expires),
          <button type="button" class="small" onClick={() => void endSession(id, user).then(reload)}>
            End
          </button>,
        ]),
        empty: 'No user is logged in.',
      }
    },
  },
  {
    name: 'Audit',
    path: 'audit',
    scope: 'admin',
    load: async () => {
      const { values } = await getJson<AuditEntries>('/audit/v1/entries?limit=100')
      return {
        head: ['Time', 'User', 'Request', 'Changed'],
        rows: values.map(({ time, user, method, path: of, changes }) => [
          when(time),
          <code>{user}</code>,
          `${method} ${of}`,
          changes.map(({ collection, id, change }) => `${collection} ${id} ${change}`).join(', '),
        ]),
        empty: 'No user has changed anything yet. Each change of a task, template, resource or key appears here.',
      }
    },
  },
  {
    name: 'Jobs',
    path: 'jobs',
    scope: 'read',
    load: async () => {
      const jobs = await api.functions.plugs.jobs.list({ limit: 100 })
      return {
        head: ['Job', 'State', 'Begun', 'Result'],
        rows: jobs.map((job) => {
          const { id, type, status, createdAt, error } = job as unknown as Readonly<Record<string, unknown>>
          return [
            <code>
              {String(type)} {String(id).slice(0, 8)}
            </code>,
            typeof status === 'string' ? status : '',
            when(createdAt),
            error === undefined ? '' : JSON.stringify(error),
          ]
        }),
        empty: 'No job ran lately. Builds and checks of functions run as jobs.',
      }
    },
  },
  { name: 'Plugs', path: 'plugs', scope: 'read', load: () => functions('plugs', 'plug') },
  { name: 'Webscripts', path: 'webscripts', scope: 'read', load: () => functions('webscripts', 'webscript') },
  {
    name: 'Models',
    path: 'models',
    scope: 'read',
    load: async () => {
      const models = await api.models.list()
      return {
        head: ['Model', 'Details'],
        rows: models.map((model) => {
          const { name, ...rest } = model as unknown as Readonly<Record<string, unknown>>
          return [<code>{String(name)}</code>, <span class="dim">{JSON.stringify(rest).slice(0, 160)}</span>]
        }),
        empty: 'No model is uploaded. Upload one with reflexarc models, and rules can predict with it.',
      }
    },
  },
  {
    name: 'Converters',
    path: 'converters',
    scope: 'read',
    load: async () => {
      const converters = await api.converter.list()
      return {
        head: ['Converter', 'Configuration'],
        rows: Object.entries(converters).map(([name, one]) => [
          <code>{name}</code>,
          <span class="dim">{JSON.stringify(one).slice(0, 160)}</span>,
        ]),
        empty: 'No converter is stored. A converter turns payloads of devices into readings.',
      }
    },
  },
  {
    name: 'Secrets',
    path: 'secrets',
    scope: 'read',
    load: async () => {
      const secrets = await api.vault.list()
      return {
        head: ['Secret', 'Changed'],
        rows: secrets.map((secret) => {
          const { name, updatedAt, createdAt } = secret as unknown as Readonly<Record<string, unknown>>
          return [<code>{String(name)}</code>, when(updatedAt ?? createdAt)]
        }),
        empty: 'No secret is stored. Rules and functions use secrets by name; their values are never shown.',
      }
    },
  },
]

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
        </section>
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
    </>
  )
}

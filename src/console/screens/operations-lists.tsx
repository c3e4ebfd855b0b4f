/** What a host runs, as lists: deliveries, keys, sessions, changes, jobs, functions, models, converters, secrets. */
import type { ComponentChildren } from 'preact'
import { API } from '../base.ts'
import { Time } from '../parts/layout.tsx'
import { to, withQuery } from '../router.ts'
import { done } from '../parts/undo.tsx'
import { api, errorText, getJson, may, sessionFetch } from '../session.ts'
import { messageOf } from '../words/errors.ts'
import { CONVERTER, MODEL, PLUG, type Trial, WEBSCRIPT } from './trials.ts'

export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly ComponentChildren[])[]
  readonly empty: string
  /** what is not listed */
  readonly more?: string
}

export interface Kind {
  readonly name: string
  readonly path: string
  readonly scope: 'read' | 'admin'
  /** how a thing of the list is tried */
  readonly trial?: Trial
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

export const when = (time: unknown): ComponentChildren => {
  const at = typeof time === 'number' ? time : typeof time === 'string' ? Date.parse(time) : Number.NaN
  return Number.isFinite(at) ? <Time at={at} /> : ''
}

/** A thing that can be tried: its name leads to its form. */
function named(kind: string, name: string): ComponentChildren {
  return (
    <a href={to('operations', kind, name)}>
      <code>{name}</code>
    </a>
  )
}

const detail = (value: unknown): ComponentChildren => <span class="dim">{JSON.stringify(value).slice(0, 160)}</span>

async function retry(task: string, delivery: string): Promise<void> {
  try {
    const { status, error = '' } = await api.rules.inspection.retry(task, delivery)
    done(status === 'delivered' ? 'The call is delivered' : `The call failed again: ${error}`)
  } catch (thrown) {
    done(`Not retried: ${messageOf(thrown)}`)
  }
}

async function deliveries(reload: () => void): Promise<Table> {
  const { values, next } = await api.rules.inspection.allDeliveries({ limit: 100 })
  return {
    head: ['Fired', 'Node', 'Status', 'Reason', ...(may('operate') ? ['Action'] : [])],
    rows: values.map(({ id, task, node, createTime, status, attempts, message, error }) => [
      when(createTime),
      <a href={withQuery(to('tasks', task), { node, at: String(createTime) })}>
        <code>{node}</code>
      </a>,
      attempts > 1 ? `${status}, attempt ${attempts}` : status,
      <span class={error === undefined ? 'second' : 'bad'}>{error ?? message ?? ''}</span>,
      ...(may('operate')
        ? [
            status === 'dead' && (
              <button type="button" class="small" onClick={() => void retry(task, id).then(reload)}>
                Retry
              </button>
            ),
          ]
        : []),
    ]),
    ...(next !== undefined && { more: 'The newest 100. GET /api/deliveries returns all, in pages.' }),
    empty: 'No actuator has been called. Each call of an alarm, a webhook or a command appears here, with its result.',
  }
}

async function functions(type: 'plugs' | 'webscripts', name: string): Promise<Table> {
  const { entities } = await api.functions[type].list({ limit: 100 })
  return {
    head: ['Name', 'Version', 'Status', 'Kind'],
    rows: entities.map((one) => [
      named(type, one.name),
      one.version,
      one.status,
      one.draft ? 'draft' : one.deprecated ? 'deprecated' : 'published',
    ]),
    empty: `No ${name} is uploaded. Upload one with reflexarc functions, and it appears here with its builds and logs.`,
  }
}

export const KINDS: readonly Kind[] = [
  { name: 'Deliveries', path: 'deliveries', scope: 'read', load: deliveries },
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
        head: ['Job', 'Operation', 'State', 'Begun', 'Failure'],
        rows: jobs.map(({ type, operation, job: { id, state, queueTime, failedReason = '' } }) => [
          <code>
            {type} {id.slice(0, 8)}
          </code>,
          operation,
          state,
          when(queueTime),
          failedReason,
        ]),
        empty: 'No job ran lately. Builds of functions and changes of many tasks, alarms or resources run as jobs.',
      }
    },
  },
  { name: 'Plugs', path: 'plugs', scope: 'read', trial: PLUG, load: () => functions('plugs', 'plug') },
  {
    name: 'Webscripts',
    path: 'webscripts',
    scope: 'read',
    trial: WEBSCRIPT,
    load: () => functions('webscripts', 'webscript'),
  },
  {
    name: 'Models',
    path: 'models',
    scope: 'read',
    trial: MODEL,
    load: async () => {
      const models = await api.models.list()
      return {
        head: ['Model', 'Framework', 'Version', 'State'],
        rows: models.map((model) => {
          const { name, framework, version, ready, failure } = model
          return [named('models', name), framework, version, ready ? 'ready' : (failure ?? 'loading')]
        }),
        empty: 'No model is uploaded. Upload one with reflexarc models, and rules can predict with it.',
      }
    },
  },
  {
    name: 'Converters',
    path: 'converters',
    scope: 'read',
    trial: CONVERTER,
    load: async () => {
      const converters = await api.converter.list()
      return {
        head: ['Converter', 'Configuration'],
        rows: Object.entries(converters).map(([name, one]) => [named('converters', name), detail(one)]),
        empty: 'No converter is stored. A converter turns payloads of devices into readings.',
      }
    },
  },
  {
    name: 'Secrets',
    path: 'secrets',
    scope: 'admin',
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
